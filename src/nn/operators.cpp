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

template tensor::SparseMatrix<float> symmetric_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<double> symmetric_adjacency(const graph::CsrGraph&, bool);
template tensor::SparseMatrix<float> mean_adjacency(const graph::CsrGraph&);
template tensor::SparseMatrix<double> mean_adjacency(const graph::CsrGraph&);

}  // namespace dgat::nn
