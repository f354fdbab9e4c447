#include "dgat/graph/components.h"

#include <gtest/gtest.h>

#include "dgat/graph/builder.h"
#include "support/tiny_graphs.h"

namespace dgat::graph {

TEST(ConnectedComponents, AreNumberedByTheirSmallestNode) {
  // 0-3, 1-4-5, 2
  const CsrGraph graph = build_graph(6, std::vector<Edge>{{0, 3}, {5, 4}, {4, 1}}).graph;
  const Components components = connected_components(graph);
  EXPECT_EQ(components.of_node, (std::vector<NodeId>{0, 1, 2, 0, 1, 1}));
  EXPECT_EQ(components.sizes, (std::vector<int64_t>{2, 3, 1}));
  EXPECT_EQ(components.largest(), 1);
  EXPECT_EQ(components.isolated(), 1);
}

TEST(ConnectedComponents, AreWeakForDirectedGraphs) {
  const CsrGraph arcs = build_graph(3, std::vector<Edge>{{2, 0}, {1, 0}}, {.directed = true}).graph;
  EXPECT_EQ(connected_components(arcs).count(), 1);
}

TEST(ConnectedComponents, OfAnEmptyGraphAreNone) {
  const Components components = connected_components(CsrGraph());
  EXPECT_EQ(components.count(), 0);
  EXPECT_EQ(components.largest(), -1);
}

TEST(ConnectedComponents, AddUpOverDisjointUnions) {
  const auto u =
      test::disjoint_union(test::ring(7), test::disjoint_union(test::path(4), test::complete(3)));
  EXPECT_EQ(connected_components(u).sizes, (std::vector<int64_t>{7, 4, 3}));
}

}  // namespace dgat::graph
