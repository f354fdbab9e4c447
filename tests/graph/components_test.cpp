#include "dgat/graph/components.h"

#include <gtest/gtest.h>

#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/two_hop.h"
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

TEST(TwoHop, ClosedForms) {
  // A ring of n > 4 joins i with i +- 2; a star joins all leaves; a clique has no distance two.
  for (const NodeId n : {5, 9}) {
    const CsrGraph hops = two_hop_graph(test::ring(n));
    for (NodeId i = 0; i < n; ++i) {
      EXPECT_EQ(hops.degree(i), 2);
      EXPECT_TRUE(hops.has_arc(i, (i + 2) % n));
    }
    EXPECT_EQ(count_two_paths(test::ring(n)), 2 * n);
  }
  EXPECT_EQ(two_hop_graph(test::star(6)).edges(), 15);
  EXPECT_EQ(count_two_paths(test::star(6)), 30);
  EXPECT_EQ(two_hop_graph(test::complete(5)).edges(), 0);
  EXPECT_EQ(two_hop_graph(CsrGraph()).nodes(), 0);
}

TEST(TwoHop, IsTheGraphOfExactDistances) {
  const CsrGraph graph = test::disjoint_union(test::random_graph(300, 0.01, 7), test::path(1));
  const CsrGraph hops = two_hop_graph(graph);
  int64_t pairs = 0;
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    for (NodeId m = 0; m < graph.nodes(); ++m) {
      bool joined = false;
      for (const NodeId j : graph.neighbors(i)) joined = joined || graph.has_arc(j, m);
      const bool expected = joined && i != m && !graph.has_arc(i, m);
      ASSERT_EQ(hops.has_arc(i, m), expected) << i << " " << m;
      pairs += expected ? 1 : 0;
    }
  }
  EXPECT_EQ(count_two_hop_arcs(graph), pairs);
  EXPECT_GE(count_two_paths(graph), pairs);
  const ThreadScope one(1);
  EXPECT_EQ(two_hop_graph(graph), hops);
}

TEST(TwoHop, FollowsTheArcsOfADirectedGraph) {
  const CsrGraph arcs = build_graph(3, std::vector<Edge>{{0, 1}, {1, 2}}, {.directed = true}).graph;
  const CsrGraph hops = two_hop_graph(arcs);
  EXPECT_EQ(hops.arcs(), 1);
  EXPECT_TRUE(hops.has_arc(2, 0));  // receiver 2, sender 0
}

}  // namespace dgat::graph
