// 01_inspect.cpp: build a graph from an edge list and measure how similar neighbours are.
// Run:     build/release/bin/01_inspect
// Prints:
//   6 nodes, 7 edges, 1 component
//   labels by triangle:  edge homophily 0.86, adjusted 0.71
//   labels alternating:  edge homophily 0.29, adjusted -0.43
//   compatibility, labels alternating:
//     0.29 0.71
//     0.71 0.29
#include <fmt/core.h>

#include <vector>

#include "dgat/graph/builder.h"
#include "dgat/graph/components.h"
#include "dgat/graph/homophily.h"

int main() {
  using namespace dgat::graph;
  //  0       4
  //  | \   / |
  //  |  2-3  |     two triangles and a bridge
  //  | /   \ |
  //  1       5
  const std::vector<Edge> edges{{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}};
  const CsrGraph graph = build_graph(6, edges).graph;
  fmt::print("{} nodes, {} edges, {} component\n", graph.nodes(), graph.edges(),
             connected_components(graph).count());

  const std::vector<int32_t> by_triangle{0, 0, 0, 1, 1, 1};
  const std::vector<int32_t> alternating{0, 1, 0, 1, 0, 1};
  const Homophily alike = measure_homophily(graph, by_triangle, 2);
  const Homophily unlike = measure_homophily(graph, alternating, 2);
  fmt::print("labels by triangle:  edge homophily {:.2f}, adjusted {:.2f}\n", alike.edge,
             alike.adjusted_edge);
  fmt::print("labels alternating:  edge homophily {:.2f}, adjusted {:.2f}\n", unlike.edge,
             unlike.adjusted_edge);

  fmt::print("compatibility, labels alternating:\n");
  for (size_t c = 0; c < 2; ++c) {
    fmt::print("  {:.2f} {:.2f}\n", unlike.compatibility[2 * c], unlike.compatibility[2 * c + 1]);
  }
}
