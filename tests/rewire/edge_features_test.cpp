#include "dgat/rewire/edge_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "support/tiny_graphs.h"

namespace dgat::rewire {
namespace {

using graph::CsrGraph;
using graph::NodeId;
using spectral::NodeVectors;

std::vector<double> random_vectors(int64_t nodes, int count, uint64_t seed) {
  Random random(seed);
  std::vector<double> values(static_cast<size_t>(nodes * count));
  for (double& v : values) v = random.normal();
  return values;
}

/// Features 2c and 2c+1 of the arc i <- j, or NaN when there is none.
std::pair<double, double> features_of(const MessageGraph& m, NodeId i, NodeId j, int c = 0) {
  for (int64_t a = m.offsets[static_cast<size_t>(i)]; a < m.offsets[static_cast<size_t>(i) + 1];
       ++a) {
    if (m.senders[static_cast<size_t>(a)] != j) continue;
    const auto at = static_cast<size_t>(a * m.feature_count + 2 * c);
    return {m.features[at], m.features[at + 1]};
  }
  return {std::nan(""), std::nan("")};
}

}  // namespace

TEST(MessageGraph, RowsAreTheNeighboursAndTheNodeItself) {
  const CsrGraph graph =
      test::disjoint_union(test::random_graph(60, 0.1, 1), CsrGraph({0, 0}, {}, false));
  const MessageGraph m = message_graph(graph);
  ASSERT_EQ(m.nodes(), 61);
  ASSERT_EQ(m.arcs(), graph.arcs() + 61);
  EXPECT_TRUE(m.features.empty());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    std::vector<int32_t> expected(graph.neighbors(i).begin(), graph.neighbors(i).end());
    expected.insert(std::upper_bound(expected.begin(), expected.end(), i), i);
    const auto first = m.senders.begin() + m.offsets[static_cast<size_t>(i)];
    const auto last = m.senders.begin() + m.offsets[static_cast<size_t>(i) + 1];
    EXPECT_EQ(std::vector<int32_t>(first, last), expected) << "row " << i;
  }
}

TEST(MessageGraph, WithoutSelfLoopsHasTheRowsOfTheGraph) {
  const CsrGraph graph =
      test::disjoint_union(test::random_graph(40, 0.1, 2), CsrGraph({0, 0}, {}, false));
  const std::vector<double> phi = random_vectors(graph.nodes(), 2, 3);
  const MessageGraph all = message_graph(graph, NodeVectors(phi, graph.nodes(), 2));
  const MessageGraph m = without_self_loops(all);
  ASSERT_EQ(m.nodes(), graph.nodes());
  ASSERT_EQ(m.arcs(), graph.arcs());
  ASSERT_EQ(m.features.size(), m.senders.size() * 4);
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    const auto first = m.senders.begin() + m.offsets[static_cast<size_t>(i)];
    EXPECT_TRUE(
        std::ranges::equal(graph.neighbors(i), std::span(first, graph.neighbors(i).size())));
    for (const NodeId j : graph.neighbors(i)) {
      for (const int c : {0, 1}) EXPECT_EQ(features_of(m, i, j, c), features_of(all, i, j, c));
    }
  }
}

TEST(EdgeFeatures, OfAPathWithUnequalSlopesAreTheFormula) {
  // 0 --1-- 1 --3-- 2 : the slopes seen from the middle are -1 and +3
  const std::vector<double> phi{0, 1, 4};
  const MessageGraph m = message_graph(test::path(3), NodeVectors(phi));
  ASSERT_EQ(m.feature_count, 2);
  const auto expect = [&](NodeId i, NodeId j, double av, double dx) {
    const auto [a, d] = features_of(m, i, j);
    EXPECT_FLOAT_EQ(a, static_cast<float>(av)) << i << " <- " << j;
    EXPECT_FLOAT_EQ(d, static_cast<float>(dx)) << i << " <- " << j;
  };
  expect(0, 1, 1 / (1 + 1e-8), 1 / (1 + 1e-8));
  expect(0, 0, 0, -1 / (1 + 1e-8));
  expect(1, 0, 1 / (4 + 1e-8), -1 / (4 + 1e-8));
  expect(1, 2, 3 / (4 + 1e-8), 3 / (4 + 1e-8));
  expect(1, 1, 0, -2 / (4 + 1e-8));
  expect(2, 1, 1, -1);
  expect(2, 2, 0, 1);
}

TEST(EdgeFeatures, TheFloorTamesTinySlopes) {
  const std::vector<double> phi{0, 1e-8};
  const auto [av, dx] = features_of(message_graph(test::path(2), NodeVectors(phi)), 1, 0);
  EXPECT_FLOAT_EQ(static_cast<float>(av), 0.5F);
  EXPECT_FLOAT_EQ(static_cast<float>(dx), -0.5F);
}

TEST(EdgeFeatures, RowsHoldAtMostOneUnitAndTheDerivativeSumsToZero) {
  const CsrGraph graph = test::random_graph(200, 0.05, 3);
  const auto values = random_vectors(graph.nodes(), 3, 4);
  const MessageGraph m = message_graph(graph, NodeVectors(values, graph.nodes(), 3));
  ASSERT_EQ(m.feature_count, 6);
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    for (int c = 0; c < 3; ++c) {
      double sum_av = 0, sum_dx = 0;
      for (const NodeId j : graph.neighbors(i)) {
        const auto [av, dx] = features_of(m, i, j, c);
        const auto [back_av, back_dx] = features_of(m, j, i, c);
        EXPECT_EQ(av, std::abs(dx));
        EXPECT_LT(dx * back_dx, 0) << "the two directions of an edge point opposite ways";
        EXPECT_EQ(dx > 0, values[static_cast<size_t>(c * 200 + j)] >
                              values[static_cast<size_t>(c * 200 + i)]);
        sum_av += av;
        sum_dx += dx;
      }
      const auto [self_av, self_dx] = features_of(m, i, i, c);
      EXPECT_EQ(self_av, 0);
      EXPECT_NEAR(sum_dx + self_dx, 0, 1e-6);
      EXPECT_NEAR(sum_av, graph.degree(i) > 0 ? 1 : 0, 1e-6) << "slopes are far above 1e-8";
    }
  }
}

TEST(EdgeFeatures, OfSeveralVectorsAreThoseOfEachOneInOrder) {
  const CsrGraph graph = test::random_graph(40, 0.2, 5);
  const auto values = random_vectors(40, 3, 6);
  const NodeVectors phi(values, 40, 3);
  const MessageGraph all = message_graph(graph, phi);
  for (int c = 0; c < 3; ++c) {
    const MessageGraph one = message_graph(graph, NodeVectors(phi.vector(c)));
    for (size_t a = 0; a < all.senders.size(); ++a) {
      for (size_t f = 0; f < 2; ++f) {
        EXPECT_EQ(all.features[a * 6 + static_cast<size_t>(2 * c) + f], one.features[a * 2 + f]);
      }
    }
  }
}

TEST(EdgeFeatures, AreZeroWherePhiIsConstant) {
  const std::vector<double> phi(5, 0.25);
  for (const float f : message_graph(test::star(4), NodeVectors(phi)).features) {
    EXPECT_EQ(f, 0.0F);
    EXPECT_FALSE(std::signbit(f));
  }
}

TEST(EdgeFeatures, SmallestGraphsHaveTheirSelfLoops) {
  const MessageGraph none = message_graph(CsrGraph(), NodeVectors({}, 0, 1));
  EXPECT_EQ(none.nodes(), 0);
  EXPECT_EQ(none.arcs(), 0);
  const std::vector<double> phi{1.0};
  const MessageGraph one = message_graph(CsrGraph({0, 0}, {}, false), NodeVectors(phi));
  EXPECT_EQ(one.offsets, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(one.senders, (std::vector<int32_t>{0}));
  EXPECT_EQ(one.features, (std::vector<float>{0, 0}));
}

TEST(EdgeFeatures, AreTheSameBitsAtEveryThreadCount) {
  const CsrGraph graph = test::grid(90, 100);
  const auto values = random_vectors(9000, 2, 8);
  const auto build = [&](int threads) {
    const ThreadScope scope(threads);
    return message_graph(graph, NodeVectors(values, 9000, 2));
  };
  const MessageGraph one = build(1);
  EXPECT_EQ(one, build(2));
  EXPECT_EQ(one, build(4));
}

}  // namespace dgat::rewire
