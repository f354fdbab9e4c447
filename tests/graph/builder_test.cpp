#include "dgat/graph/builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "support/tiny_graphs.h"

namespace dgat::graph {

TEST(BuildGraph, SymmetrisesAndCountsWhatItDrops) {
  //  0 - 1, said three times in both directions; 2 -> 2; 3 alone
  const std::vector<Edge> edges{{0, 1}, {1, 0}, {0, 1}, {2, 2}, {1, 2}};
  const BuildResult built = build_graph(4, edges);
  EXPECT_EQ(built.self_loops, 1);
  EXPECT_EQ(built.duplicates, 2);
  EXPECT_EQ(built.graph.edges(), 2);
  EXPECT_EQ(built.graph.edge_list(), (std::vector<Edge>{{0, 1}, {1, 2}}));
  EXPECT_EQ(built.graph.degree(3), 0);
  EXPECT_TRUE(built.graph.has_arc(2, 1));
  EXPECT_FALSE(built.graph.has_arc(2, 0));
}

TEST(BuildGraph, DirectedKeepsArcsInTheReceiversRow) {
  const std::vector<Edge> edges{{0, 1}, {1, 0}, {0, 2}, {0, 2}};
  const BuildResult built = build_graph(3, edges, {.directed = true});
  EXPECT_EQ(built.duplicates, 1);
  EXPECT_EQ(built.graph.edges(), 3);
  EXPECT_TRUE(built.graph.has_arc(2, 0));
  EXPECT_FALSE(built.graph.has_arc(0, 2));
}

TEST(BuildGraph, AgreesWithASetOfPairsOnRandomLists) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Random random(seed);
    const auto n = static_cast<NodeId>(1 + random.below(50));
    std::vector<Edge> edges;
    std::set<std::pair<NodeId, NodeId>> expected;
    int64_t loops = 0;
    for (int e = 0; e < 300; ++e) {
      const auto a = static_cast<NodeId>(random.below(static_cast<uint64_t>(n)));
      const auto b = static_cast<NodeId>(random.below(static_cast<uint64_t>(n)));
      edges.push_back({a, b});
      if (a == b) {
        ++loops;
      } else {
        expected.insert(std::minmax(a, b));
      }
    }
    const BuildResult built = build_graph(n, edges);
    EXPECT_EQ(built.self_loops, loops);
    EXPECT_EQ(built.duplicates, 300 - loops - static_cast<int64_t>(expected.size()));
    std::set<std::pair<NodeId, NodeId>> got;
    for (const Edge edge : built.graph.edge_list()) got.insert({edge.from, edge.to});
    EXPECT_EQ(got, expected);
  }
}

TEST(BuildGraph, GivesTheSameGraphAtEveryThreadCountAndInputOrder) {
  Random random(3);
  std::vector<Edge> edges;
  for (int e = 0; e < 300000; ++e) {
    edges.push_back(
        {static_cast<NodeId>(random.below(20000)), static_cast<NodeId>(random.below(20000))});
  }
  const auto build = [&](int threads) {
    const ThreadScope scope(threads);
    return build_graph(20000, edges).graph;
  };
  const CsrGraph one = build(1);
  EXPECT_EQ(one, build(2));
  EXPECT_EQ(one, build(4));
  random.shuffle(edges);
  EXPECT_EQ(one, build(2));
}

TEST(BuildGraph, NamesTheRowWithAnIdOutOfRange) {
  const std::vector<Edge> edges{{0, 1}, {1, 5}};
  try {
    build_graph(3, edges);
    FAIL() << "accepted an id out of range";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "edge 1: node id 5 is outside [0, 3)");
  }
}

TEST(BuildGraph, AcceptsEmptyGraphs) {
  EXPECT_EQ(build_graph(0, {}).graph.nodes(), 0);
  EXPECT_EQ(build_graph(5, {}).graph.edges(), 0);
}

TEST(InducedSubgraph, KeepsTheEdgesBetweenKeptNodes) {
  // 0-1-2-3-4-0 without node 2 is the path 3-4-0-1
  const Subgraph sub = induced_subgraph(test::ring(5), {true, true, false, true, true});
  EXPECT_EQ(sub.original, (std::vector<NodeId>{0, 1, 3, 4}));
  EXPECT_EQ(sub.graph.edge_list(), (std::vector<Edge>{{0, 1}, {0, 3}, {2, 3}}));
}

TEST(Symmetrised, JoinsBothDirections) {
  const CsrGraph arcs =
      build_graph(3, std::vector<Edge>{{0, 1}, {1, 0}, {2, 1}}, {.directed = true}).graph;
  EXPECT_EQ(symmetrised(arcs), test::path(3));
}

TEST(BuildGraph, KeepsTheLargestOfSeveralWeights) {
  const std::vector<Edge> edges{{0, 1}, {1, 0}, {1, 2}, {2, 2}, {0, 1}};
  const std::vector<float> weights{1, 3, 0.5F, 9, 2};
  const BuildResult built = build_graph(3, edges, weights);
  EXPECT_EQ(built.graph.edge_weights(), (std::vector<float>{3, 0.5F}));
  EXPECT_EQ(built.weight_conflicts, 2);
  EXPECT_EQ(built.self_loops, 1);
  EXPECT_EQ(built.graph.strength(1), 3.5);
  EXPECT_EQ(built.graph.strength(0), 3);
  // Any order of the rows gives the same graph.
  const std::vector<Edge> other{{0, 1}, {2, 1}, {0, 1}, {1, 0}};
  EXPECT_EQ(build_graph(3, other, std::vector<float>{2, 0.5F, 1, 3}).graph, built.graph);
  const CsrGraph directed = build_graph(3, edges, weights, {.directed = true}).graph;
  EXPECT_EQ(directed.edge_weights(), (std::vector<float>{3, 2, 0.5F}));
  EXPECT_EQ(symmetrised(directed), built.graph);
}

TEST(BuildGraph, WeightsOfOneAreNoWeights) {
  const std::vector<Edge> edges{{0, 1}, {1, 2}};
  EXPECT_EQ(build_graph(3, edges, std::vector<float>{1, 1}).graph, build_graph(3, edges).graph);
  EXPECT_EQ(build_graph(3, edges).graph.strength(1), 2);
}

TEST(BuildGraph, RefusesWeightsThatAreNotPositive) {
  const std::vector<Edge> edges{{0, 1}};
  for (const float bad : {0.0F, -1.0F, std::numeric_limits<float>::infinity(),
                          std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_THROW(build_graph(2, edges, std::vector<float>{bad}), InputError) << bad;
  }
}

TEST(BuildGraph, SubgraphsKeepTheirWeights) {
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {0, 2}};
  const CsrGraph graph = build_graph(3, edges, std::vector<float>{2, 3, 4}).graph;
  EXPECT_EQ(induced_subgraph(graph, {true, false, true}).graph.edge_weights(),
            (std::vector<float>{4}));
}

TEST(BuildGraph, TooManyArcsAreAnInputError) {
  EXPECT_NO_THROW(check_arc_count(10, kMaxArcs - 10));
  EXPECT_THROW(check_arc_count(10, kMaxArcs - 9), InputError);
}

}  // namespace dgat::graph
