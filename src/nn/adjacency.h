#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>

#include "dgat/graph/csr_graph.h"
#include "dgat/nn/graph_input.h"
#include "dgat/tensor/sparse.h"

/// Constant aggregation matrices of a graph, for models that do not learn their edge weights.
namespace dgat::nn {

/// A, entries 1.
template <class T>
tensor::SparseMatrix<T> plain_adjacency(const graph::CsrGraph& graph);

/// Whether the weights of a weighted graph stand in A and D; else every edge counts 1.
enum class EdgeWeights { kIgnored, kUsed };

/// D^-1/2 A D^-1/2, or with self loops (D+I)^-1/2 (A+I) (D+I)^-1/2. Rows without entries are zero.
template <class T>
tensor::SparseMatrix<T> symmetric_adjacency(const graph::CsrGraph& graph, bool self_loops,
                                            EdgeWeights edge_weights = EdgeWeights::kIgnored);

/// P(1, gamma) = (gamma D + (1-gamma) I)^-1 (gamma A + (1-gamma) I), with the weights of the graph.
/// At gamma = 1 the row of an isolated node is zero.
template <class T>
tensor::SparseMatrix<T> laplacian_propagation(const graph::CsrGraph& graph, double gamma);

/// M x, for what is computed before training. Where the rows are split over ranks, x has those of
/// this rank, and so has the result.
template <class T>
tensor::Matrix<T> propagated(const tensor::SparseMatrix<T>& matrix, const tensor::Matrix<T>& x);

/// The same numbers in a dense matrix.
template <class T>
tensor::Matrix<T> dense_copy(const tensor::SparseMatrix<T>& sparse);
template <class T>
tensor::Matrix<T> dense_copy(const NodeFeatures<T>& features);

/// D^-1 A: row i averages the neighbours of i, isolated nodes get 0; or (D+I)^-1 (A+I).
template <class T>
tensor::SparseMatrix<T> mean_adjacency(const graph::CsrGraph& graph, bool self_loops,
                                       EdgeWeights edge_weights = EdgeWeights::kIgnored);

/// The name of a precomputed part of which every rank has its own.
template <class T>
std::string name_on_rank(const GraphInput<T>& input, const std::string& name) {
  if (input.ranks == nullptr) return name;
  return fmt::format("{}, part {} of {}", name, input.ranks->rank(), input.ranks->size());
}

enum class Normalisation { kNone, kSymmetric, kMean };

/// One of the above on the graph as it was read, made once per data set. Self loops need a
/// normalisation.
template <class T>
std::shared_ptr<const tensor::SparseMatrix<T>> shared_adjacency(
    const GraphInput<T>& input, Normalisation normalisation, bool self_loops = false,
    EdgeWeights edge_weights = EdgeWeights::kIgnored);

/// One of them that is not listed: `make()` gives the whole matrix, of which several ranks keep
/// their parts.
template <class T, class Make>
std::shared_ptr<const tensor::SparseMatrix<T>> shared_operator(
    const GraphInput<T>& input, const std::string& name, const std::function<PartSize()>& size,
    const Make& make) {
  using Matrix = tensor::SparseMatrix<T>;
  return input.precomputed->template get<Matrix>(name_on_rank(input, name), size, [&]() -> Matrix {
    if (input.ranks == nullptr) return make();
    return make().part(*input.ranks, /*split_columns=*/true);
  });
}

/// Bytes of a SparseMatrix<T> with its transpose, counting the arrays it is made from.
template <class T>
constexpr int64_t sparse_bytes(int64_t rows, int64_t entries) {
  constexpr auto kEntry = static_cast<int64_t>(sizeof(int32_t) + sizeof(T));
  constexpr auto kRow = static_cast<int64_t>(sizeof(int64_t) + sizeof(tensor::RowPiece));
  return 3 * (kEntry * entries + kRow * rows);
}

}  // namespace dgat::nn
