#include "adjacency.h"

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

template <class T>
tensor::SparseMatrix<T> symmetric_adjacency(const graph::CsrGraph& graph, bool self_loops) {
  const NodeId n = graph.nodes();
  std::vector<double> scale(static_cast<size_t>(n));  // degree^-1/2
  for (NodeId i = 0; i < n; ++i) {
    const auto degree = static_cast<double>(graph.degree(i) + (self_loops ? 1 : 0));
    scale[static_cast<size_t>(i)] = degree > 0 ? 1 / std::sqrt(degree) : 0;
  }
  const auto weights = [&](std::span<const int64_t> offsets, std::span<const int32_t> columns) {
    std::vector<T> values(columns.size());
    for (NodeId i = 0; i < n; ++i) {
      for (int64_t e = offsets[static_cast<size_t>(i)]; e < offsets[static_cast<size_t>(i) + 1];
           ++e) {
        const auto j = static_cast<size_t>(columns[static_cast<size_t>(e)]);
        values[static_cast<size_t>(e)] = static_cast<T>(scale[static_cast<size_t>(i)] * scale[j]);
      }
    }
    return values;
  };
  if (!self_loops) {
    return {n, n, graph.offsets(), graph.targets(), weights(graph.offsets(), graph.targets())};
  }
  const rewire::MessageGraph looped = rewire::message_graph(graph);
  return {n, n, looped.offsets, looped.senders, weights(looped.offsets, looped.senders)};
}

template <class T>
tensor::SparseMatrix<T> mean_adjacency(const graph::CsrGraph& graph, bool self_loops) {
  const NodeId n = graph.nodes();
  const auto weights = [n](std::span<const int64_t> offsets) {
    std::vector<T> values;
    values.reserve(static_cast<size_t>(offsets.back()));
    for (NodeId i = 0; i < n; ++i) {
      const int64_t entries = offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)];
      if (entries == 0) continue;
      values.insert(values.end(), static_cast<size_t>(entries),
                    static_cast<T>(1 / static_cast<double>(entries)));
    }
    return values;
  };
  if (!self_loops) return {n, n, graph.offsets(), graph.targets(), weights(graph.offsets())};
  const rewire::MessageGraph looped = rewire::message_graph(graph);
  return {n, n, looped.offsets, looped.senders, weights(looped.offsets)};
}

template <class T>
tensor::SparseMatrix<T> laplacian_propagation(const graph::CsrGraph& graph, double gamma) {
  const rewire::MessageGraph looped = rewire::message_graph(graph);
  std::vector<T> values(looped.senders.size());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    const double mass = gamma * static_cast<double>(graph.degree(i)) + (1 - gamma);
    const double neighbour = mass > 0 ? gamma / mass : 0, own = mass > 0 ? (1 - gamma) / mass : 0;
    for (int64_t e = looped.offsets[static_cast<size_t>(i)];
         e < looped.offsets[static_cast<size_t>(i) + 1]; ++e) {
      const auto at = static_cast<size_t>(e);
      values[at] = static_cast<T>(looped.senders[at] == i ? own : neighbour);
    }
  }
  return {graph.nodes(), graph.nodes(), looped.offsets, looped.senders, values};
}

template <class T>
tensor::Matrix<T> propagated(const tensor::SparseMatrix<T>& matrix, const tensor::Matrix<T>& x) {
  tensor::Tape<T> tape;
  return tensor::spmm(tape, matrix, tape.reference(x)).value().clone();
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
                                                                bool self_loops) {
  expects(!self_loops || normalisation != Normalisation::kNone, "self loops are normalised");
  const graph::CsrGraph& graph = *input.graph;
  const std::string matrix = normalisation == Normalisation::kNone        ? "A"
                             : normalisation == Normalisation::kSymmetric ? "D^-1/2 A D^-1/2"
                                                                          : "D^-1 A";
  const int64_t entries = graph.arcs() + (self_loops ? graph.nodes() : 0);
  return input.precomputed->template get<tensor::SparseMatrix<T>>(
      matrix + (self_loops ? " with self loops" : ""),
      [&] {
        return PartSize{sparse_bytes<T>(graph.nodes(), entries), {}};
      },
      [&] {
        if (normalisation == Normalisation::kNone) return plain_adjacency<T>(graph);
        return normalisation == Normalisation::kSymmetric
                   ? symmetric_adjacency<T>(graph, self_loops)
                   : mean_adjacency<T>(graph, self_loops);
      });
}

using Scalar = DGAT_SCALAR;
template tensor::SparseMatrix<Scalar> plain_adjacency(const graph::CsrGraph&);
template tensor::SparseMatrix<Scalar> symmetric_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<Scalar> mean_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<Scalar> laplacian_propagation(const graph::CsrGraph&, double);
template tensor::Matrix<Scalar> propagated(const tensor::SparseMatrix<Scalar>&,
                                           const tensor::Matrix<Scalar>&);
template tensor::Matrix<Scalar> dense_copy(const tensor::SparseMatrix<Scalar>&);
template tensor::Matrix<Scalar> dense_copy(const NodeFeatures<Scalar>&);
template std::shared_ptr<const tensor::SparseMatrix<Scalar>> shared_adjacency(
    const GraphInput<Scalar>&, Normalisation, bool);

}  // namespace dgat::nn
