#include "data_options.h"

#include <algorithm>

namespace dgat::app {

void add_data_options(CLI::App& verb, DataOptions& options) {
  verb.add_option("DATA", options.data, "data set: a file, a folder, or a name of `dgat datasets`")
      ->required();
  verb.add_flag("--directed", options.directed, "keep arcs as they are; default: both directions")
      ->group("Data");
  verb.add_option("--split", options.split,
                  "make stratified random splits, train/val/test in percent, like 60/20/20")
      ->group("Data");
  verb.add_option("--splits", options.splits,
                  "how many splits: the first ones of the data set, or random ones (10)")
      ->check(CLI::Range(1, 100000))
      ->group("Data");
  verb.add_option("--split-file", options.split_file,
                  "CSV with the splits: id,split0,split1,... and train, val, test or nothing")
      ->group("Data");
}

data::LoadOptions load_options(const DataOptions& options, uint64_t seed) {
  data::LoadOptions result{.directed = options.directed};
  result.splits.count = options.splits;
  result.splits.seed = seed;
  if (!options.split.empty()) {
    result.splits.fractions = data::parse_split_fractions(options.split);
  }
  if (!options.split_file.empty()) result.splits.file = options.split_file;
  return result;
}

data::Dataset load(const DataOptions& options, uint64_t seed, bool needs_splits) {
  data::LoadOptions request = load_options(options, seed);
  request.splits.required = needs_splits;
  return data::load_dataset(options.data, request);
}

int take_split_number(DataOptions& options) {
  const std::string& text = options.split;
  const bool is_number =
      !text.empty() && text.size() <= 6 &&
      std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!is_number) return 0;
  const int split = std::stoi(text);
  options.split.clear();
  return split;
}

}  // namespace dgat::app
