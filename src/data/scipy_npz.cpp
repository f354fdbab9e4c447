#include "dgat/data/scipy_npz.h"

#include <fmt/format.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "edge_rows.h"
#include "npz_csr.h"
#include "npz_parts.h"

namespace dgat::data {
namespace {

using graph::NodeId;

constexpr const char *kAdjacency = "adj_", *kAttributes = "attr_", *kDense = "attr_matrix",
                     *kLabels = "labels", *kPlain = "";

/// The prefix under which the adjacency matrix stands.
std::string matrix_prefix(const NpzReader& file) {
  return has_csr(file, kAdjacency) ? kAdjacency : kPlain;
}

void report_others(const NpzReader& file, const std::string& matrix) {
  std::vector<std::string> known{kDense,       kLabels,      "train_masks", "val_masks",
                                 "test_masks", "train_mask", "val_mask",    "test_mask"};
  for (const std::string& prefix : {matrix, std::string(kAttributes)}) {
    for (std::string& key : csr_keys(prefix)) known.push_back(std::move(key));
  }
  if (matrix == kPlain) known.emplace_back("format");
  report_unread(file, known);
}

EdgeRows edges_of(const CsrArrays& csr, const NpzReader& file, const std::string& prefix) {
  EdgeRows rows{.edges = {}, .weights = {}, .matrix = true};
  for (int64_t i = 0; i < csr.rows; ++i) {
    for (int64_t e = csr.offsets[static_cast<size_t>(i)];
         e < csr.offsets[static_cast<size_t>(i) + 1]; ++e) {
      const float weight = csr.value(e);
      if (weight == 0) continue;
      if (!(weight > 0) || !std::isfinite(weight)) {
        throw_input(
            "{}: {}data has {} in row {}; edge weights are positive numbers, and 0 is no "
            "edge",
            file.path(), prefix, weight, e);
      }
      rows.add({static_cast<NodeId>(i), static_cast<NodeId>(csr.columns[static_cast<size_t>(e)])},
               weight);
    }
  }
  return rows;
}

}  // namespace

bool is_scipy_npz(const NpzReader& file) {
  return has_csr(file, kAdjacency) || has_csr(file, kPlain);
}

Dataset read_scipy_npz(const NpzReader& file, const LoadOptions& options) {
  const std::string matrix = matrix_prefix(file);
  report_others(file, matrix);
  const CsrArrays adjacency = read_csr(file, matrix);
  if (adjacency.rows != adjacency.cols) {
    throw_input("{}: {}shape states {} x {}; the adjacency matrix of a graph is square",
                file.path(), matrix, adjacency.rows, adjacency.cols);
  }
  const NodeId nodes = checked_nodes(file, adjacency.rows);
  Dataset dataset;
  set_graph(dataset, nodes, edges_of(adjacency, file, matrix), options, file.path());
  read_labels(file, kLabels, nodes, dataset);
  if (has_csr(file, kAttributes)) {
    dataset.features = features_of(read_csr(file, kAttributes), nodes, file, kAttributes);
  } else if (file.contains(kDense)) {
    dataset.features = dense_features(file, kDense, nodes);
  }
  dataset.splits = read_splits(file, nodes);
  take_out_unlabelled(dataset, file.path());
  return dataset;
}

void write_scipy_npz(const Dataset& dataset, const std::filesystem::path& path) {
  graph::CsrGraph graph = dataset.graph;
  if (graph.directed()) {  // ours has the receiver as the row
    std::vector<graph::Edge> reversed = graph.edge_list();
    for (graph::Edge& edge : reversed) edge = {edge.to, edge.from};
    graph =
        graph::build_graph(graph.nodes(), reversed, graph.edge_weights(), {.directed = true}).graph;
  }
  NpzWriter archive(path);
  const std::string prefix = kAdjacency;
  archive.add(prefix + "indptr", {graph.nodes() + int64_t{1}}, graph.offsets());
  archive.add(prefix + "indices", {graph.arcs()}, graph.targets());
  archive.add(prefix + "shape", {2}, std::vector<int64_t>{graph.nodes(), graph.nodes()});
  std::vector<float> weights(graph.weights().begin(), graph.weights().end());
  if (!graph.weighted()) weights.assign(static_cast<size_t>(graph.arcs()), 1.0F);
  archive.add(prefix + "data", {graph.arcs()}, weights);
  const Features& features = dataset.features;
  if (features.is_sparse()) {
    add_csr(archive, kAttributes, features);
  } else if (!features.empty()) {
    archive.add(kDense, {features.rows(), features.cols()}, features.values());
  }
  const std::vector<int64_t> labels(dataset.labels.begin(), dataset.labels.end());
  archive.add(kLabels, {static_cast<int64_t>(labels.size())}, labels);
  if (!dataset.splits.empty()) add_splits(archive, dataset);
  archive.finish();
}

}  // namespace dgat::data
