#include "adjacency.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/rewire/edge_features.h"

namespace dgat::nn {
using graph::NodeId;

template <class T>
tensor::SparseMatrix<T> plain_adjacency(const graph::CsrGraph& graph) {
  const std::vector<T> ones(static_cast<size_t>(graph.arcs()), T{1});
  return {graph.nodes(), graph.nodes(), graph.offsets(), graph.targets(), ones};
}

namespace {

/// The rows of A, or of A + I, and what stands in them.
struct WeightedRows {
  std::vector<int64_t> own_offsets;  // empty without self loops: the rows are the graph's
  std::vector<int32_t> own_columns;
  std::span<const int64_t> offsets;
  std::span<const int32_t> columns;
  std::vector<double> entries;  // one per column; empty when all are 1
  std::vector<double> sums;     // of every row

  double entry(int64_t e) const { return entries.empty() ? 1 : entries[static_cast<size_t>(e)]; }
};

WeightedRows weighted_rows(const graph::CsrGraph& graph, bool self_loops,
                           EdgeWeights edge_weights) {
  WeightedRows rows;
  rows.offsets = graph.offsets();
  rows.columns = graph.targets();
  if (self_loops) {
    rewire::MessageGraph looped = rewire::message_graph(graph);
    rows.own_offsets = std::move(looped.offsets);
    rows.own_columns = std::move(looped.senders);
    rows.offsets = rows.own_offsets;
    rows.columns = rows.own_columns;
  }
  const bool weighted = edge_weights == EdgeWeights::kUsed && graph.weighted();
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    const auto at = static_cast<size_t>(i);
    rows.sums.push_back(weighted ? graph.strength(i) + (self_loops ? 1 : 0)
                                 : static_cast<double>(rows.offsets[at + 1] - rows.offsets[at]));
    if (!weighted) continue;
    graph::ArcIndex arc = graph.begin(i);
    for (int64_t e = rows.offsets[at]; e < rows.offsets[at + 1]; ++e) {
      const bool loop = rows.columns[static_cast<size_t>(e)] == i;
      rows.entries.push_back(loop ? 1 : graph.weight(arc++));
    }
  }
  return rows;
}

/// The matrix with value(i, j, entry) for every entry of the rows.
template <class T, class Value>
tensor::SparseMatrix<T> matrix_of(const WeightedRows& rows, Value&& value) {
  const auto n = static_cast<int64_t>(rows.sums.size());
  std::vector<T> values(rows.columns.size());
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t e = rows.offsets[static_cast<size_t>(i)];
         e < rows.offsets[static_cast<size_t>(i) + 1]; ++e) {
      const auto at = static_cast<size_t>(e);
      values[at] = static_cast<T>(
          value(static_cast<size_t>(i), static_cast<size_t>(rows.columns[at]), rows.entry(e)));
    }
  }
  return {n, n, rows.offsets, rows.columns, values};
}

}  // namespace

template <class T>
tensor::SparseMatrix<T> symmetric_adjacency(const graph::CsrGraph& graph, bool self_loops,
                                            EdgeWeights edge_weights) {
  const WeightedRows rows = weighted_rows(graph, self_loops, edge_weights);
  std::vector<double> scale;  // of a row: its sum^-1/2
  for (const double sum : rows.sums) scale.push_back(sum > 0 ? 1 / std::sqrt(sum) : 0);
  return matrix_of<T>(
      rows, [&](size_t i, size_t j, double entry) { return scale[i] * scale[j] * entry; });
}

template <class T>
tensor::SparseMatrix<T> mean_adjacency(const graph::CsrGraph& graph, bool self_loops,
                                       EdgeWeights edge_weights) {
  const WeightedRows rows = weighted_rows(graph, self_loops, edge_weights);
  return matrix_of<T>(
      rows, [&sums = rows.sums](size_t i, size_t, double entry) { return entry / sums[i]; });
}

template <class T>
tensor::SparseMatrix<T> laplacian_propagation(const graph::CsrGraph& graph, double gamma) {
  const WeightedRows rows = weighted_rows(graph, /*self_loops=*/true, EdgeWeights::kUsed);
  return matrix_of<T>(rows, [&](size_t i, size_t j, double entry) {
    const double mass = gamma * graph.strength(static_cast<NodeId>(i)) + (1 - gamma);
    if (!(mass > 0)) return 0.0;
    return i == j ? (1 - gamma) / mass : gamma / mass * entry;
  });
}

template <class T>
tensor::Matrix<T> propagated(const tensor::SparseMatrix<T>& matrix, const tensor::Matrix<T>& x) {
  tensor::Tape<T> tape;
  const auto& share = matrix.share();
  const auto rows = share ? share->columns : dist::RowShare{};
  return tensor::spmm(tape, matrix, tape.reference(x, rows)).value().clone();
}

template <class T>
tensor::Matrix<T> dense_copy(const tensor::SparseMatrix<T>& sparse) {
  auto out = tensor::Matrix<T>::zeros(sparse.rows(), sparse.cols());
  const auto& csr = sparse.csr();
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t e = csr.offsets[static_cast<size_t>(i)];
         e < csr.offsets[static_cast<size_t>(i) + 1]; ++e) {
      out(i, csr.columns[static_cast<size_t>(e)]) = csr.values[static_cast<size_t>(e)];
    }
  }
  return out;
}

template <class T>
tensor::Matrix<T> dense_copy(const NodeFeatures<T>& features) {
  return features.is_sparse() ? dense_copy(features.sparse()) : features.dense().clone();
}

template <class T>
std::shared_ptr<const tensor::SparseMatrix<T>> shared_adjacency(const GraphInput<T>& input,
                                                                Normalisation normalisation,
                                                                bool self_loops,
                                                                EdgeWeights edge_weights) {
  expects(!self_loops || normalisation != Normalisation::kNone, "self loops are normalised");
  const graph::CsrGraph& graph = *input.graph;
  const std::string matrix = normalisation == Normalisation::kNone        ? "A"
                             : normalisation == Normalisation::kSymmetric ? "D^-1/2 A D^-1/2"
                                                                          : "D^-1 A";
  const int64_t entries = graph.arcs() + (self_loops ? graph.nodes() : 0);
  const std::string name =
      matrix + (self_loops ? " with self loops" : "") +
      (graph.weighted() && edge_weights == EdgeWeights::kUsed ? " with weights" : "");
  const auto size = [&] { return PartSize{sparse_bytes<T>(graph.nodes(), entries), {}}; };
  const auto make = [&] {
    if (normalisation == Normalisation::kNone) return plain_adjacency<T>(graph);
    return normalisation == Normalisation::kSymmetric
               ? symmetric_adjacency<T>(graph, self_loops, edge_weights)
               : mean_adjacency<T>(graph, self_loops, edge_weights);
  };
  return shared_operator<T>(input, name, size, make);
}

using Scalar = DGAT_SCALAR;
template tensor::SparseMatrix<Scalar> plain_adjacency(const graph::CsrGraph&);
template tensor::SparseMatrix<Scalar> symmetric_adjacency(const graph::CsrGraph&, bool,
                                                          EdgeWeights);
template tensor::SparseMatrix<Scalar> mean_adjacency(const graph::CsrGraph&, bool, EdgeWeights);
template tensor::SparseMatrix<Scalar> laplacian_propagation(const graph::CsrGraph&, double);
template tensor::Matrix<Scalar> propagated(const tensor::SparseMatrix<Scalar>&,
                                           const tensor::Matrix<Scalar>&);
template tensor::Matrix<Scalar> dense_copy(const tensor::SparseMatrix<Scalar>&);
template tensor::Matrix<Scalar> dense_copy(const NodeFeatures<Scalar>&);
template std::shared_ptr<const tensor::SparseMatrix<Scalar>> shared_adjacency(
    const GraphInput<Scalar>&, Normalisation, bool, EdgeWeights);

}  // namespace dgat::nn
