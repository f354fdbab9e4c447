#include "operators.h"

#include <cmath>
#include <vector>

#include "dgat/rewire/edge_features.h"

namespace dgat::nn {
using graph::NodeId;

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
tensor::SparseMatrix<T> mean_adjacency(const graph::CsrGraph& graph) {
  std::vector<T> values(static_cast<size_t>(graph.arcs()));
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    for (int64_t e = graph.begin(i); e < graph.end(i); ++e) {
      values[static_cast<size_t>(e)] = static_cast<T>(1 / static_cast<double>(graph.degree(i)));
    }
  }
  return {graph.nodes(), graph.nodes(), graph.offsets(), graph.targets(), values};
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
tensor::Matrix<T> dense_copy(const NodeFeatures<T>& features) {
  if (!features.is_sparse()) return features.dense().clone();
  auto out = tensor::Matrix<T>::zeros(features.rows(), features.cols());
  const auto& csr = features.sparse().csr();
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t e = csr.offsets[static_cast<size_t>(i)];
         e < csr.offsets[static_cast<size_t>(i) + 1]; ++e) {
      out(i, csr.columns[static_cast<size_t>(e)]) = csr.values[static_cast<size_t>(e)];
    }
  }
  return out;
}

template tensor::SparseMatrix<float> symmetric_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<double> symmetric_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<float> mean_adjacency(const graph::CsrGraph&);
template tensor::SparseMatrix<double> mean_adjacency(const graph::CsrGraph&);
template tensor::SparseMatrix<float> laplacian_propagation(const graph::CsrGraph&, double);
template tensor::SparseMatrix<double> laplacian_propagation(const graph::CsrGraph&, double);
template tensor::Matrix<float> propagated(const tensor::SparseMatrix<float>&,
                                          const tensor::Matrix<float>&);
template tensor::Matrix<double> propagated(const tensor::SparseMatrix<double>&,
                                           const tensor::Matrix<double>&);
template tensor::Matrix<float> dense_copy(const NodeFeatures<float>&);
template tensor::Matrix<double> dense_copy(const NodeFeatures<double>&);

}  // namespace dgat::nn
