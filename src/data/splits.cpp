#include "dgat/data/splits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/core/random.h"

namespace dgat::data {
namespace {

/// Keeps the random numbers of splits apart from those of every other use of the same seed.
constexpr uint64_t kSplitStream = uint64_t{0x5350} << 48;

std::vector<double> parse_numbers(std::string_view text) {
  std::vector<double> numbers;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('/', begin), text.size());
    double value = 0;
    const auto [rest, error] = std::from_chars(text.data() + begin, text.data() + end, value);
    if (error != std::errc() || rest != text.data() + end || !std::isfinite(value)) return {};
    numbers.push_back(value);
    begin = end + 1;
  }
  return numbers;
}

}  // namespace

SplitFractions parse_split_fractions(const std::string& text) {
  constexpr double kSlack = 1e-9;  // 0.1 + 0.2 + 0.7 is not 1 in binary
  std::vector<double> share = parse_numbers(text);
  if (share.size() == 3 && share[0] + share[1] + share[2] > 1 + kSlack) {
    for (double& s : share) s /= 100;
  }
  if (share.size() != 3 || share[0] <= 0 || share[1] < 0 || share[2] < 0 ||
      share[0] + share[1] + share[2] > 1 + kSlack) {
    throw_input(
        "split: expected train/val/test shares that sum to 100 or less, like 60/20/20, got {}",
        text);
  }
  return {.train = share[0], .val = share[1], .test = share[2]};
}

std::vector<Split> random_splits(const std::vector<int32_t>& labels, int32_t classes,
                                 const SplitFractions& fractions, int count, uint64_t seed) {
  if (count < 1) throw_input("splits: at least one is needed, got {}", count);
  std::vector<std::vector<graph::NodeId>> nodes_of_class(static_cast<size_t>(classes));
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0) {
      nodes_of_class[static_cast<size_t>(labels[i])].push_back(static_cast<graph::NodeId>(i));
    }
  }
  std::vector<Split> splits(static_cast<size_t>(count));
  for (size_t k = 0; k < splits.size(); ++k) {
    Random random(seed, kSplitStream + k);
    Split& split = splits[k];
    for (std::vector<graph::NodeId> nodes : nodes_of_class) {
      random.shuffle(nodes);
      const auto n = static_cast<double>(nodes.size());
      const auto cut = [&](double share) {
        return nodes.begin() + std::min<int64_t>(std::llround(n * share), std::llround(n));
      };
      const auto train = cut(fractions.train), val = cut(fractions.train + fractions.val);
      const auto test = cut(fractions.train + fractions.val + fractions.test);
      split.train.insert(split.train.end(), nodes.begin(), train);
      split.val.insert(split.val.end(), train, val);
      split.test.insert(split.test.end(), val, test);
    }
    for (auto* part : {&split.train, &split.val, &split.test}) {
      std::sort(part->begin(), part->end());
    }
  }
  return splits;
}

void apply_split_options(Dataset& dataset, const SplitOptions& options) {
  constexpr int kRandomSplits = 10;
  const bool needed = dataset.splits.empty() && (options.required || options.count);
  if (options.file && options.fractions) {
    throw_input("splits: shares and a split file were given; leave out --split or --split-file");
  }
  if (options.file) {
    dataset.splits = read_split_csv(*options.file, dataset);
  } else if (options.fractions || needed) {
    dataset.splits =
        random_splits(dataset.labels, dataset.classes, options.fractions.value_or(SplitFractions{}),
                      options.count.value_or(kRandomSplits), options.seed);
    if (!options.fractions) {
      notice(fmt::format("{}: has no splits; {} random ones were made, 60/20/20, seed {}",
                         dataset.name, dataset.splits.size(), options.seed));
    }
  }
  if (!options.count) return;
  if (static_cast<int>(dataset.splits.size()) < *options.count) {
    throw_input(
        "splits: {} were asked for, {} has {}; lower --splits or make random ones with --split",
        *options.count, dataset.name, dataset.splits.size());
  }
  dataset.splits.resize(static_cast<size_t>(*options.count));
}

}  // namespace dgat::data
