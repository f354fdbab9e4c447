#include "dgat/data/npz_dataset.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/feature_builder.h"
#include "dgat/graph/builder.h"
#include "printable.h"

namespace dgat::data {
namespace {

using graph::Edge;
using graph::NodeId;

constexpr const char *kFeatures = "node_features", *kLabels = "node_labels", *kEdges = "edges";
constexpr std::array<const char*, 3> kParts{"train", "val", "test"};
constexpr int64_t kBlock = 1 << 17;  // elements inflated at a time

[[noreturn]] void bad_shape(const NpzReader& file, const std::string& key, const ArrayInfo& info,
                            const std::string& expected) {
  throw_input("{}: {} has shape {}, expected {}", file.path(), key, info.shape_text(), expected);
}

NodeId count_nodes(const NpzReader& file) {
  const char* key = file.contains(kLabels) ? kLabels : kFeatures;
  if (!file.contains(key)) {
    throw_input("{}: has neither {} nor {}, so the number of nodes is unknown", file.path(),
                kLabels, kFeatures);
  }
  const ArrayInfo info = file.info(key);
  const bool column = info.shape.size() == 2 && info.shape[1] == 1;
  if (key == kLabels && info.shape.size() != 1 && !column) bad_shape(file, key, info, "[nodes]");
  if (key == kFeatures && info.shape.size() != 2) bad_shape(file, key, info, "[nodes, features]");
  if (info.shape[0] > std::numeric_limits<NodeId>::max() - 1) {
    throw_input("{}: has {} nodes; at most 2147483646 fit", file.path(), info.shape[0]);
  }
  return static_cast<NodeId>(info.shape[0]);
}

void read_labels(const NpzReader& file, NodeId nodes, Dataset& dataset) {
  dataset.labels.assign(static_cast<size_t>(nodes), -1);
  if (!file.contains(kLabels)) return;
  const std::vector<int64_t> labels = file.read<int64_t>(kLabels);
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < -1 || labels[i] >= kMaxClasses) {
      throw_input("{}: {} has {} in row {}; labels are -1 (unlabelled) or classes from 0 to {}",
                  file.path(), kLabels, labels[i], i, kMaxClasses - 1);
    }
    dataset.labels[i] = static_cast<int32_t>(labels[i]);
    dataset.classes = std::max(dataset.classes, dataset.labels[i] + 1);
  }
}

void read_edges(const NpzReader& file, NodeId nodes, bool directed, Dataset& dataset) {
  if (!file.contains(kEdges)) {
    throw_input("{}: has no array {}; it holds {}", file.path(), kEdges,
                printable(fmt::format("{}", fmt::join(file.keys(), ", "))));
  }
  const ArrayInfo info = file.info(kEdges);
  const bool rows = info.shape.size() == 2 && info.shape[1] == 2;
  const bool columns = info.shape.size() == 2 && info.shape[0] == 2 && !rows;
  if (!rows && !columns) bad_shape(file, kEdges, info, "[edges, 2]");
  const int64_t count = info.shape[rows ? 0 : 1];
  std::vector<Edge> edges(static_cast<size_t>(count));
  const bool interleaved = rows != info.fortran_order;  // else all first ends, then all second ones
  int64_t position = 0;
  file.read_blocks<int64_t>(kEdges, kBlock, [&](std::span<const int64_t> ids) {
    for (const int64_t id : ids) {
      const int64_t row = interleaved ? position / 2 : position % count;
      const bool second = interleaved ? position % 2 == 1 : position >= count;
      if (id < 0 || id >= nodes) {
        throw_input("{}: {} has node id {} in {} {}; ids are 0 to {}", file.path(), kEdges, id,
                    rows ? "row" : "column", row, nodes - 1);
      }
      Edge& edge = edges[static_cast<size_t>(row)];
      (second ? edge.to : edge.from) = static_cast<NodeId>(id);
      ++position;
    }
  });
  graph::BuildResult built = graph::build_graph(nodes, edges, {.directed = directed});
  dataset.graph = std::move(built.graph);
  dataset.dropped_self_loops = built.self_loops;
  dataset.dropped_duplicates = built.duplicates;
}

Features read_features(const NpzReader& file, NodeId nodes) {
  if (!file.contains(kFeatures)) return {};
  const ArrayInfo info = file.info(kFeatures);
  if (info.shape.size() != 2 || info.shape[0] != nodes ||
      info.shape[1] > std::numeric_limits<int32_t>::max()) {
    bad_shape(file, kFeatures, info, fmt::format("[{}, features]", nodes));
  }
  const int64_t cols = info.shape[1];
  if (cols == 0) return {};
  if (info.fortran_order) return Features::compact(nodes, cols, file.read<float>(kFeatures));
  FeatureBuilder builder(nodes, cols);
  file.read_blocks<float>(kFeatures, kBlock,
                          [&](std::span<const float> values) { builder.append(values); });
  return builder.finish();
}

/// The nodes of one part, one list per split.
std::vector<std::vector<NodeId>> read_masks(const NpzReader& file, const std::string& key,
                                            NodeId nodes) {
  const ArrayInfo info = file.info(key);
  if (info.shape.empty() || info.shape.size() > 2 || info.shape.back() != nodes) {
    bad_shape(file, key, info, fmt::format("[splits, {}] or [{}]", nodes, nodes));
  }
  const auto n = static_cast<size_t>(nodes);
  const std::vector<uint8_t> mask = file.read<uint8_t>(key);
  std::vector<std::vector<NodeId>> parts(info.shape.size() == 2 ? static_cast<size_t>(info.shape[0])
                                                                : size_t{1});
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

std::vector<Split> read_splits(const NpzReader& file, NodeId nodes) {
  std::array<std::string, 3> keys;
  for (size_t p = 0; p < kParts.size(); ++p) {
    const std::string one = fmt::format("{}_mask", kParts[p]), many = one + "s";
    keys[p] = file.contains(many) ? many : file.contains(one) ? one : "";
  }
  const auto missing = std::find(keys.begin(), keys.end(), "");
  if (missing != keys.end()) {
    for (const std::string& key : keys) {
      if (key.empty()) continue;
      throw_input("{}: has {} but no {}_masks; give all three masks or none", file.path(), key,
                  kParts[static_cast<size_t>(missing - keys.begin())]);
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

bool fits_in_bytes(const Features& features) {
  const auto values = features.values();
  return std::all_of(values.begin(), values.end(),
                     [](float v) { return v >= 0.0F && v <= 255.0F && v == std::trunc(v); });
}

/// Row by row, so that a sparse matrix is not spread out in memory.
template <class T>
void add_features(NpzWriter& archive, const Features& features, DType dtype) {
  archive.begin(kFeatures, {.dtype = dtype, .shape = {features.rows(), features.cols()}});
  std::vector<float> row(static_cast<size_t>(features.cols()));
  std::vector<T> stored(row.size());
  for (int64_t i = 0; i < features.rows(); ++i) {
    throw_if_interrupted("write npz");
    features.copy_row(i, row);
    std::transform(row.begin(), row.end(), stored.begin(),
                   [](float v) { return static_cast<T>(v); });
    archive.append(std::as_bytes(std::span(stored)));
  }
  archive.end();
}

void add_splits(NpzWriter& archive, const Dataset& dataset) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes());
  for (size_t p = 0; p < kParts.size(); ++p) {
    std::vector<uint8_t> mask(dataset.splits.size() * nodes, 0);
    for (size_t k = 0; k < dataset.splits.size(); ++k) {
      const Split& split = dataset.splits[k];
      for (const NodeId i : p == 0 ? split.train : p == 1 ? split.val : split.test) {
        mask[k * nodes + static_cast<size_t>(i)] = 1;
      }
    }
    archive.add_bools(fmt::format("{}_masks", kParts[p]),
                      {static_cast<int64_t>(dataset.splits.size()), static_cast<int64_t>(nodes)},
                      mask);
  }
}

}  // namespace

Dataset read_npz(const std::filesystem::path& path, const LoadOptions& options) {
  const NpzReader file(path);
  Dataset dataset;
  const NodeId nodes = count_nodes(file);
  read_labels(file, nodes, dataset);
  read_edges(file, nodes, options.directed, dataset);
  dataset.features = read_features(file, nodes);
  dataset.splits = read_splits(file, nodes);
  take_out_unlabelled(dataset, file.path());
  return dataset;
}

void add_dataset(NpzWriter& archive, const Dataset& dataset) {
  const Features& features = dataset.features;
  if (!features.empty()) {
    const bool large = features.rows() * features.cols() >= kByteFeaturesFrom;
    if (large && fits_in_bytes(features)) {
      add_features<uint8_t>(archive, features, DType::kUInt8);
    } else {
      add_features<float>(archive, features, DType::kFloat32);
    }
  }
  const std::vector<int64_t> labels(dataset.labels.begin(), dataset.labels.end());
  archive.add(kLabels, {static_cast<int64_t>(labels.size())}, labels);
  std::vector<int64_t> ends;
  ends.reserve(static_cast<size_t>(2 * dataset.graph.edges()));
  for (const Edge edge : dataset.graph.edge_list()) {
    ends.push_back(edge.from);
    ends.push_back(edge.to);
  }
  archive.add(kEdges, {dataset.graph.edges(), 2}, ends);
  if (!dataset.splits.empty()) add_splits(archive, dataset);
}

void write_npz(const Dataset& dataset, const std::filesystem::path& path) {
  NpzWriter archive(path);
  add_dataset(archive, dataset);
  archive.finish();
  if (!dataset.node_ids.empty() || !dataset.class_names.empty() || !dataset.feature_names.empty()) {
    notice(
        fmt::format("{}: npz holds numbers only; the names of nodes, classes and features were "
                    "left out",
                    path.string()));
  }
}

}  // namespace dgat::data
