#pragma once

#include "verb.h"

/// Every verb, one file each under verbs/. main.cpp lists them in the order of `dgat --help`.
namespace dgat::app {

void add_inspect(CLI::App& app);
void add_spectrum(CLI::App& app);
void add_rewire(CLI::App& app);
void add_generate(CLI::App& app);
void add_convert(CLI::App& app);
void add_partition(CLI::App& app);
void add_train(CLI::App& app);
void add_predict(CLI::App& app);
void add_compare(CLI::App& app);
void add_ablate(CLI::App& app);
void add_reproduce(CLI::App& app);
void add_tune(CLI::App& app);
void add_advise(CLI::App& app);
void add_explore(CLI::App& app);
void add_report(CLI::App& app);
void add_verify(CLI::App& app);
void add_datasets(CLI::App& app);
void add_models(CLI::App& app);
void add_help(CLI::App& app);
void add_completion(CLI::App& app);
void add_man(CLI::App& app);
void add_reference(CLI::App& app);

}  // namespace dgat::app
