#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "dgat/study/comparison.h"
#include "dgat/study/study.h"
#include "training_options.h"
#include "verb.h"

namespace dgat::app {

/// What the verbs that train many networks have in common.
struct StudyFlags {
  CommonOptions common;
  TrainingOptions training;
  std::string data, out, budget;
  size_t choose_on = 0;
};

/// Adds --out, --budget, --choose-on, the options of training except `left_out`, and the common
/// flags.
void add_study_options(CLI::App& verb, StudyFlags& flags, const std::string& default_out,
                       const std::vector<std::string>& left_out = {});

/// Reads the data set with the splits that the settings ask for.
study::TrialData load_trial_data(const std::string& data, const train::Settings& settings);

/// Jobs, budget (counted from now) and checkpoints below `out`.
study::EngineOptions engine_options(const StudyFlags& flags, const train::Settings& settings,
                                    const std::string& label, const std::filesystem::path& out);

/// A study must not write over the files of a run. Throws: InputError.
void refuse_run_folder(const std::filesystem::path& out);

/// --out, or runs/VERB-DATASET.
std::filesystem::path study_folder(const StudyFlags& flags, const std::string& verb,
                                   const std::string& dataset);

/// Trains what is not in the ledger of the folder yet.
study::StudyResult run_plan(const study::Study& plan, const StudyFlags& flags,
                            const train::Settings& settings, const std::string& verb,
                            const std::filesystem::path& out);

/// Writes the tables and the page of a comparison into the folder, and prints it.
/// Throws: ComputeError when no row could be trained.
void publish(const study::Comparison& comparison, const StudyFlags& flags, const std::string& verb,
             const std::filesystem::path& out);

/// Runs `work`; on an interruption, prints how to continue.
void resumable(const std::function<void()>& work);

}  // namespace dgat::app
