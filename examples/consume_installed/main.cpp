// The attention graph of a path 0 - 1 - 2 with phi = (-1, 0, 1): neighbours, self loops,
// directions.
#include <dgat/graph/builder.h>
#include <dgat/rewire/edge_features.h>

#include <cstdio>
#include <vector>

int main() {
  const std::vector<dgat::graph::Edge> edges{{0, 1}, {1, 2}};
  const std::vector<double> phi{-1, 0, 1};
  const auto graph = dgat::graph::build_graph(3, edges).graph;
  const auto messages = dgat::rewire::message_graph(graph, dgat::spectral::NodeVectors(phi));
  std::printf("%d nodes, %d arcs\n", static_cast<int>(messages.nodes()),
              static_cast<int>(messages.arcs()));
  return messages.nodes() == 3 && messages.arcs() == 7 ? 0 : 1;
}
