#include "npz_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <unordered_set>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/feature_builder.h"
#include "dgat/data/limits.h"
#include "printable.h"

namespace dgat::data {
using graph::NodeId;

namespace {
constexpr int64_t kPartBlock = 1 << 17;  // elements inflated at a time
}  // namespace

void bad_shape(const NpzReader& file, const std::string& key, const ArrayInfo& info,
               const std::string& expected) {
  throw_input("{}: {} has shape {}, expected {}", file.path(), key, info.shape_text(), expected);
}

void report_unread(const NpzReader& file, std::span<const std::string> known) {
  const std::unordered_set<std::string_view> read(known.begin(), known.end());
  std::vector<std::string> others;
  for (const std::string& key : file.keys()) {
    if (!read.contains(key)) others.push_back(key);
  }
  if (others.empty()) return;
  notice(fmt::format("{}: not read: {}", file.path(),
                     printable(fmt::format("{}", fmt::join(others, ", ")))));
}

NodeId checked_nodes(const NpzReader& file, int64_t nodes) {
  check_node_count(nodes, file.file_bytes(), file.path());
  return static_cast<NodeId>(nodes);
}

void read_labels(const NpzReader& file, const std::string& key, NodeId nodes, Dataset& dataset) {
  dataset.labels.assign(static_cast<size_t>(nodes), -1);
  if (!file.contains(key)) return;
  const ArrayInfo info = file.info(key);
  const bool column = info.shape.size() == 2 && info.shape[1] == 1;
  if ((info.shape.size() != 1 && !column) || info.shape[0] != nodes) {
    bad_shape(file, key, info, fmt::format("[{}]", nodes));
  }
  size_t i = 0;
  std::optional<std::pair<size_t, int64_t>> bad;  // the checksum of the whole array comes first
  file.read_blocks<int64_t>(key, kPartBlock, [&](std::span<const int64_t> labels) {
    for (const int64_t label : labels) {
      const bool fits = label >= -1 && label < kMaxClasses;
      if (!fits && !bad) bad = {i, label};
      dataset.labels[i] = fits ? static_cast<int32_t>(label) : -1;
      dataset.classes = std::max(dataset.classes, dataset.labels[i] + 1);
      ++i;
    }
  });
  if (bad) {
    throw_input("{}: {} has {} in row {}; labels are -1 (unlabelled) or classes from 0 to {}",
                file.path(), key, bad->second, bad->first, kMaxClasses - 1);
  }
}

Features dense_features(const NpzReader& file, const std::string& key, NodeId nodes) {
  const ArrayInfo info = file.info(key);
  if (info.shape.size() != 2 || info.shape[0] != nodes ||
      info.shape[1] > std::numeric_limits<int32_t>::max()) {
    bad_shape(file, key, info, fmt::format("[{}, features]", nodes));
  }
  const int64_t cols = info.shape[1];
  if (cols == 0) return {};
  if (info.fortran_order) return Features::compact(nodes, cols, file.read<float>(key));
  FeatureBuilder builder(nodes, cols);
  file.read_blocks<float>(key, kPartBlock, [&](std::span<const float> values) {
    builder.append(values);
    check_memory(builder.memory(), file.file_bytes(), file.path(), key);
  });
  return builder.finish();
}

namespace {

/// The nodes of one part, one list per split.
std::vector<std::vector<NodeId>> read_masks(const NpzReader& file, const std::string& key,
                                            NodeId nodes) {
  const ArrayInfo info = file.info(key);
  if (info.shape.empty() || info.shape.size() > 2 || info.shape.back() != nodes) {
    bad_shape(file, key, info, fmt::format("[splits, {}] or [{}]", nodes, nodes));
  }
  const int64_t count = info.shape.size() == 2 ? info.shape[0] : 1;
  if (count > kMaxSplits) {
    throw_input("{}: {} has {} splits; at most {} are read", file.path(), key, count, kMaxSplits);
  }
  const auto n = static_cast<size_t>(nodes);
  const std::vector<uint8_t> mask = file.read<uint8_t>(key);
  std::vector<std::vector<NodeId>> parts(static_cast<size_t>(count));
  for (size_t k = 0; k < parts.size(); ++k) {
    for (size_t i = 0; i < n; ++i) {
      const uint8_t in = mask[k * n + i];
      if (in > 1) {
        throw_input("{}: {} has {} for node {} in split {}; masks are 0 and 1", file.path(), key,
                    in, i, k);
      }
      if (in == 1) parts[k].push_back(static_cast<NodeId>(i));
    }
  }
  return parts;
}

}  // namespace

std::vector<Split> read_splits(const NpzReader& file, NodeId nodes) {
  std::array<std::string, 3> keys;
  for (size_t p = 0; p < kSplitParts.size(); ++p) {
    const std::string one = fmt::format("{}_mask", kSplitParts[p]), many = one + "s";
    keys[p] = file.contains(many) ? many : file.contains(one) ? one : "";
  }
  const auto missing = std::find(keys.begin(), keys.end(), "");
  if (missing != keys.end()) {
    for (const std::string& key : keys) {
      if (key.empty()) continue;
      throw_input("{}: has {} but no {}_masks; give all three masks or none", file.path(), key,
                  kSplitParts[static_cast<size_t>(missing - keys.begin())]);
    }
    return {};
  }
  std::vector<Split> splits;
  for (size_t p = 0; p < keys.size(); ++p) {
    auto parts = read_masks(file, keys[p], nodes);
    if (p == 0) splits.resize(parts.size());
    if (parts.size() != splits.size()) {
      throw_input("{}: {} has {} splits, {} has {}", file.path(), keys[p], parts.size(), keys[0],
                  splits.size());
    }
    for (size_t k = 0; k < parts.size(); ++k) {
      (p == 0 ? splits[k].train : p == 1 ? splits[k].val : splits[k].test) = std::move(parts[k]);
    }
  }
  return splits;
}

void take_out_unlabelled(Dataset& dataset, const std::string& path) {
  size_t taken = 0;
  for (Split& split : dataset.splits) {
    for (auto* part : {&split.train, &split.val, &split.test}) {
      taken += std::erase_if(*part,
                             [&](NodeId i) { return dataset.labels[static_cast<size_t>(i)] < 0; });
    }
  }
  if (taken > 0) {
    notice(fmt::format("{}: took {} unlabelled entries out of the splits", path, taken));
  }
}

void add_splits(NpzWriter& archive, const Dataset& dataset) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes());
  for (size_t p = 0; p < kSplitParts.size(); ++p) {
    std::vector<uint8_t> mask(dataset.splits.size() * nodes, 0);
    for (size_t k = 0; k < dataset.splits.size(); ++k) {
      const Split& split = dataset.splits[k];
      for (const NodeId i : p == 0 ? split.train : p == 1 ? split.val : split.test) {
        mask[k * nodes + static_cast<size_t>(i)] = 1;
      }
    }
    archive.add_bools(fmt::format("{}_masks", kSplitParts[p]),
                      {static_cast<int64_t>(dataset.splits.size()), static_cast<int64_t>(nodes)},
                      mask);
  }
}

}  // namespace dgat::data
