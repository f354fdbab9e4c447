#include "dgat/spectral/distances.h"

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::spectral {

using graph::CsrGraph;
using graph::NodeId;

double spectral_distance(const NodeVectors& phi, NodeId i, NodeId j) {
  if (phi.count == 1) return std::abs(phi(0, i) - phi(0, j));
  double sum = 0;
  for (int c = 0; c < phi.count; ++c) {
    const double difference = phi(c, i) - phi(c, j);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

std::vector<double> edge_distances(const CsrGraph& graph, const NodeVectors& phi) {
  expects(phi.nodes == graph.nodes(), "one entry of every eigenvector per node");
  // Where a row's edges start: edge (i,j) is listed in row min(i,j), or in row i of a digraph.
  const NodeId n = graph.nodes();
  std::vector<int64_t> start(static_cast<size_t>(n) + 1, 0);
  const auto lists = [&](NodeId i, NodeId j) { return graph.directed() || i < j; };
  const auto listed = [&](NodeId i) {
    const auto row = graph.neighbors(i);
    if (graph.directed()) return static_cast<int64_t>(row.size());
    return static_cast<int64_t>(row.end() - std::upper_bound(row.begin(), row.end(), i));
  };
  for (NodeId i = 0; i < n; ++i) {
    start[static_cast<size_t>(i) + 1] = start[static_cast<size_t>(i)] + listed(i);
  }
  std::vector<double> distances(static_cast<size_t>(graph.edges()));
  parallel_for(n, 1 << 12, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const auto i = static_cast<NodeId>(row);
      auto at = static_cast<size_t>(start[static_cast<size_t>(row)]);
      for (const NodeId j : graph.neighbors(i)) {
        if (lists(i, j)) distances[at++] = spectral_distance(phi, i, j);
      }
    }
  });
  return distances;
}

}  // namespace dgat::spectral
