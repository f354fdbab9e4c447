#pragma once

#include <string>

#include "dgat/train/grid.h"
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

/// Adds --resume to a verb that keeps a ledger and always continues from it.
void add_resume(CLI::App& verb);

/// The --config file with the flags on top. With `grid`, values in the file may be lists; those
/// that no flag replaces go there.
train::Settings given_settings(const TrainingOptions& options, train::Grid* grid = nullptr);

/// The same for the rows of a study, which name their models themselves.
train::Settings settings_for_any_model(const TrainingOptions& options, train::Grid* grid = nullptr);

/// Files named by `data` and `split_file` by their full path, so that config.yaml works from any
/// folder; names of data sets stay names.
void make_paths_absolute(train::Settings& settings);

}  // namespace dgat::app
