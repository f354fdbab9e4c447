#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"

namespace dgat::data {

/// Shares of the labelled nodes. A sum under one leaves the rest of them in no part.
struct SplitFractions {
  double train = 0.6, val = 0.2, test = 0.2;
  friend bool operator==(const SplitFractions&, const SplitFractions&) = default;
};

/// "60/20/20" (percent) or "0.6/0.2/0.2".
/// Throws: InputError when it is not three shares, the first positive, that sum to at most 100.
SplitFractions parse_split_fractions(const std::string& text);

/// Where the splits of a data set come from: a split file or fractions, which replace the masks of
/// the data set; with neither, the masks stay. A split file and fractions together are an error.
struct SplitOptions {
  std::optional<SplitFractions> fractions = {};    ///< --split: random ones
  std::optional<int> count = {};                   ///< --splits: how many (random ones: 10)
  uint64_t seed = 0;                               ///< --seed
  std::optional<std::filesystem::path> file = {};  ///< --split-file
  bool required = false;  ///< a data set without splits gets random ones (60/20/20)
};

/// Stratified random splits. The n nodes of a class are shuffled and cut at round(n*train),
/// round(n*(train+val)) and round(n*(train+val+test)). So every part of a class is within one node
/// of its share. Unlabelled nodes are in no part.
///
/// Split k is a function of (labels, fractions, seed, k) alone. More splits do not change the first
/// ones, and edges, features and thread count have no effect.
std::vector<Split> random_splits(const std::vector<int32_t>& labels, int32_t classes,
                                 const SplitFractions& fractions, int count, uint64_t seed);

/// Splits from a CSV file (any separator, quotes, gzip: see text_file.h). The header is
/// `id,split0,split1,...`. A line has the id of a node (its original id where the data set has
/// those, else a number from 0) and, for every split, `train`, `val`, `test` or nothing. Nodes that
/// are not listed are in no part; unlabelled ones are left out with a notice.
///
/// Throws: InputError that names file and line.
std::vector<Split> read_split_csv(const std::filesystem::path& path, const Dataset& dataset);

/// Writes that file.
void write_split_csv(const Dataset& dataset, const std::filesystem::path& path);

/// Replaces the splits of a data set by what the options ask for (see SplitOptions), and keeps the
/// first `count` of them.
/// Throws: InputError when there are fewer than that.
void apply_split_options(Dataset& dataset, const SplitOptions& options);

}  // namespace dgat::data
