#pragma once

#include <string>

#include "option_flags.h"

namespace dgat::app {

/// The options of training as flags, made from the one table in train/config.h, and --config. Used
/// by every verb that trains.
struct TrainingOptions {
  std::string config;     ///< YAML file
  train::Settings flags;  ///< what was given on the command line, by key
};

/// Adds a flag for every option of the table except those in `left_out` (keys).
void add_training_options(CLI::App& verb, TrainingOptions& options, const CommonOptions& common,
                          const std::vector<std::string>& left_out = {});

/// Adds --resume to a verb that keeps a ledger and goes on from it anyway.
void add_resume(CLI::App& verb);

/// The --config file with the flags on top.
train::Settings given_settings(const TrainingOptions& options);

/// The same for the rows of a study, which name their models themselves.
train::Settings settings_for_any_model(const TrainingOptions& options);

/// Files named by `data` and `split_file` by their full path, so that config.yaml works from any
/// folder; names of data sets stay names.
void make_paths_absolute(train::Settings& settings);

}  // namespace dgat::app
