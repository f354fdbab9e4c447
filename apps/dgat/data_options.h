#pragma once

#include <string>

#include "dgat/data/load.h"
#include "option_flags.h"

namespace dgat::app {

/// The data set of a verb that trains nothing, how to read it, and further options of the table.
struct DataOptions {
  std::string data;
  train::Settings settings;      ///< what was given, by key
  std::optional<int64_t> split;  ///< --split K
};

/// Adds the positional DATA and --directed --split --splits --split-file. With `split_use`, --split
/// may also be the number of a split; see add_split_number().
void add_data_options(CLI::App& verb, DataOptions& options, const std::string& split_use = {});

/// The settings as a configuration, with the seed of the common flags.
train::Config config_of(const DataOptions& options, const CommonOptions& common);

/// Reads the data set. With needs_splits, one that has none gets random ones (60/20/20).
data::Dataset load(const train::Config& config, bool needs_splits = false);

}  // namespace dgat::app
