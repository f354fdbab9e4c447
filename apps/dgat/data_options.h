#pragma once

#include <optional>
#include <string>

#include "dgat/data/load.h"
#include "verb.h"

namespace dgat::app {

/// The data set of a verb and how to read it: DATA --directed --split --splits --split-file.
struct DataOptions {
  std::string data;
  bool directed = false;
  std::string split, split_file;
  std::optional<int> splits;
};

/// Adds the positional DATA and the flags.
void add_data_options(CLI::App& verb, DataOptions& options);

/// What the flags mean to the library. Throws InputError for shares that are none.
data::LoadOptions load_options(const DataOptions& options, uint64_t seed);

/// Reads the data set. With needs_splits, one that has none gets random ones (60/20/20).
data::Dataset load(const DataOptions& options, uint64_t seed, bool needs_splits = false);

/// "--split 3" names a split instead of asking for random ones: takes it out of the options and
/// returns it; 0 when there is none.
int take_split_number(DataOptions& options);

}  // namespace dgat::app
