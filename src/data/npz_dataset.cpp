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
#include "dgat/data/limits.h"
#include "dgat/data/scipy_npz.h"
#include "edge_rows.h"
#include "npz_csr.h"
#include "npz_parts.h"
#include "printable.h"

namespace dgat::data {
namespace {

using graph::Edge;
using graph::NodeId;

constexpr const char *kFeatures = "node_features", *kLabels = "node_labels", *kEdges = "edges",
                     *kWeights = "edge_weights", *kSparse = "node_features_";
constexpr std::array kKnown{kFeatures,   kLabels,      kEdges,       kWeights,   "train_masks",
                            "val_masks", "test_masks", "train_mask", "val_mask", "test_mask"};
constexpr int64_t kBlock = 1 << 17;  // elements inflated at a time

NodeId count_nodes(const NpzReader& file) {
  if (!file.contains(kLabels) && has_csr(file, kSparse)) {
    return checked_nodes(file, csr_shape(file, kSparse)[0]);
  }
  const char* key = file.contains(kLabels) ? kLabels : kFeatures;
  if (!file.contains(key)) {
    throw_input("{}: has neither {} nor {}, so the number of nodes is unknown", file.path(),
                kLabels, kFeatures);
  }
  const ArrayInfo info = file.info(key);
  const bool column = info.shape.size() == 2 && info.shape[1] == 1;
  if (key == kLabels && info.shape.size() != 1 && !column) bad_shape(file, key, info, "[nodes]");
  if (key == kFeatures && info.shape.size() != 2) bad_shape(file, key, info, "[nodes, features]");
  return checked_nodes(file, info.shape[0]);
}

/// One positive number per row of the edges.
std::vector<float> read_weights(const NpzReader& file, int64_t edges) {
  if (!file.contains(kWeights)) return {};
  const ArrayInfo info = file.info(kWeights);
  const bool column = info.shape.size() == 2 && info.shape[1] == 1;
  if ((info.shape.size() != 1 && !column) || info.shape[0] != edges) {
    bad_shape(file, kWeights, info, fmt::format("[{}], one per row of {}", edges, kEdges));
  }
  std::vector<float> weights = file.read<float>(kWeights);
  for (size_t e = 0; e < weights.size(); ++e) {
    if (!(weights[e] > 0) || !std::isfinite(weights[e])) {
      throw_input("{}: {} has {} in row {}; weights are positive numbers", file.path(), kWeights,
                  weights[e], e);
    }
  }
  return weights;
}

void read_edges(const NpzReader& file, NodeId nodes, const LoadOptions& options, Dataset& dataset) {
  if (!file.contains(kEdges)) {
    throw_input("{}: has no array {}; it holds {}", file.path(), kEdges,
                printable(fmt::format("{}", fmt::join(file.keys(), ", "))));
  }
  const ArrayInfo info = file.info(kEdges);
  const bool rows = info.shape.size() == 2 && info.shape[1] == 2;
  const bool columns = info.shape.size() == 2 && info.shape[0] == 2 && !rows;
  if (!rows && !columns) bad_shape(file, kEdges, info, "[edges, 2]");
  const int64_t count = info.shape[rows ? 0 : 1];
  check_memory(count * static_cast<int64_t>(sizeof(Edge)), file.file_bytes(), file.path(),
               fmt::format("{} edges", count));
  EdgeRows list;
  list.edges.resize(static_cast<size_t>(count));
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
      Edge& edge = list.edges[static_cast<size_t>(row)];
      (second ? edge.to : edge.from) = static_cast<NodeId>(id);
      ++position;
    }
  });
  if (!options.unweighted) list.weights = read_weights(file, count);
  set_graph(dataset, nodes, list, options, file.path());
}

Features read_features(const NpzReader& file, NodeId nodes) {
  if (file.contains(kFeatures)) return dense_features(file, kFeatures, nodes);
  if (!has_csr(file, kSparse)) return {};
  return features_of(read_csr(file, kSparse), nodes, file, kSparse);
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

}  // namespace

Dataset read_npz(const std::filesystem::path& path, const LoadOptions& options) {
  const NpzReader file(path);
  if (!file.contains(kEdges) && is_scipy_npz(file)) return read_scipy_npz(file, options);
  std::vector<std::string> known(kKnown.begin(), kKnown.end());
  for (std::string& key : csr_keys(kSparse)) known.push_back(std::move(key));
  report_unread(file, known);
  Dataset dataset;
  const NodeId nodes = count_nodes(file);
  read_labels(file, kLabels, nodes, dataset);
  read_edges(file, nodes, options, dataset);
  dataset.features = read_features(file, nodes);
  dataset.splits = read_splits(file, nodes);
  take_out_unlabelled(dataset, file.path());
  return dataset;
}

void add_dataset(NpzWriter& archive, const Dataset& dataset) {
  const Features& features = dataset.features;
  if (!features.empty()) {
    const bool large = features.rows() * features.cols() >= kByteFeaturesFrom;
    if (features.is_sparse() && features.rows() * features.cols() >= kSparseFeaturesFrom) {
      add_csr(archive, kSparse, features);
    } else if (large && fits_in_bytes(features)) {
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
  if (dataset.graph.weighted()) {
    archive.add(kWeights, {dataset.graph.edges()}, dataset.graph.edge_weights());
  }
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
