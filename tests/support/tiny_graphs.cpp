#include "support/tiny_graphs.h"

#include <vector>

#include "dgat/core/random.h"
#include "dgat/graph/builder.h"

namespace dgat::test {
using graph::build_graph;
using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

CsrGraph ring(NodeId n) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i < n; ++i) edges.push_back({i, (i + 1) % n});
  return build_graph(n, edges).graph;
}

CsrGraph path(NodeId n) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i + 1 < n; ++i) edges.push_back({i, i + 1});
  return build_graph(n, edges).graph;
}

CsrGraph complete(NodeId n) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i < n; ++i) {
    for (NodeId j = 0; j < i; ++j) edges.push_back({i, j});
  }
  return build_graph(n, edges).graph;
}

CsrGraph star(NodeId leaves) {
  std::vector<Edge> edges;
  for (NodeId i = 1; i <= leaves; ++i) edges.push_back({0, i});
  return build_graph(leaves + 1, edges).graph;
}

CsrGraph grid(NodeId height, NodeId width) {
  std::vector<Edge> edges;
  for (NodeId r = 0; r < height; ++r) {
    for (NodeId c = 0; c < width; ++c) {
      const NodeId here = r * width + c;
      if (c + 1 < width) edges.push_back({here, here + 1});
      if (r + 1 < height) edges.push_back({here, here + width});
    }
  }
  return build_graph(height * width, edges).graph;
}

CsrGraph barbell(NodeId clique, NodeId bridge) {
  std::vector<Edge> edges;
  const NodeId second = clique + bridge;
  for (NodeId i = 0; i < clique; ++i) {
    for (NodeId j = 0; j < i; ++j) {
      edges.push_back({i, j});
      edges.push_back({second + i, second + j});
    }
  }
  for (NodeId i = clique - 1; i < second; ++i) edges.push_back({i, i + 1});
  return build_graph(2 * clique + bridge, edges).graph;
}

namespace {
std::vector<Edge> random_edges(NodeId n, double p, Random& random) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i < n; ++i) {
    for (NodeId j = 0; j < i; ++j) {
      if (random.uniform() < p) edges.push_back({i, j});
    }
  }
  return edges;
}
}  // namespace

CsrGraph random_graph(NodeId n, double p, uint64_t seed) {
  Random random(seed);
  return build_graph(n, random_edges(n, p, random)).graph;
}

CsrGraph random_connected_graph(NodeId n, double p, uint64_t seed) {
  Random random(seed);
  std::vector<Edge> edges = random_edges(n, p, random);
  for (NodeId i = 1; i < n; ++i) {
    edges.push_back({i, static_cast<NodeId>(random.below(static_cast<uint64_t>(i)))});
  }
  return build_graph(n, edges).graph;
}

CsrGraph disjoint_union(const CsrGraph& a, const CsrGraph& b) {
  std::vector<Edge> edges = a.edge_list();
  for (const Edge edge : b.edge_list())
    edges.push_back({edge.from + a.nodes(), edge.to + a.nodes()});
  return build_graph(a.nodes() + b.nodes(), edges).graph;
}

}  // namespace dgat::test
