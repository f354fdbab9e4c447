#include "dgat/rewire/rewire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/components.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::rewire {
namespace {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;
using spectral::NodeVectors;
using Pair = std::pair<NodeId, NodeId>;

std::vector<int32_t> unlabelled(const CsrGraph& graph) {
  return std::vector<int32_t>(static_cast<size_t>(graph.nodes()), -1);
}

RewireResult run(const CsrGraph& graph, const std::vector<double>& phi, const char* mode,
                 const char* epsilon = nullptr, bool per_component = true) {
  RewireOptions options{.mode = parse_mode(mode), .per_component = per_component};
  if (epsilon != nullptr) options.epsilon = parse_epsilon(epsilon);
  const auto n = static_cast<size_t>(graph.nodes());
  const int count = n == 0 ? 1 : static_cast<int>(phi.size() / n);
  return rewire(graph, NodeVectors(phi, graph.nodes(), count), options, unlabelled(graph));
}

/// The definition, pair by pair.
std::set<Pair> reference(const CsrGraph& graph, const std::vector<double>& phi, const Mode& mode,
                         const Epsilon& epsilon, bool per_component) {
  const NodeId n = graph.nodes();
  const auto at = [&](int c, NodeId i) { return phi[static_cast<size_t>(c * n + i)]; };
  const int count = static_cast<int>(phi.size()) / std::max<NodeId>(n, 1);
  const auto distance = [&](NodeId i, NodeId j) {
    double sum = 0;
    for (int c = 0; c < count; ++c) sum += std::pow(at(c, i) - at(c, j), 2);
    return count == 1 ? std::abs(at(0, i) - at(0, j)) : std::sqrt(sum);
  };
  std::vector<double> sorted;
  for (NodeId i = 0; i < n; ++i) {
    for (NodeId j = i + 1; j < n; ++j) {
      if (graph.has_arc(i, j)) sorted.push_back(distance(i, j));
    }
  }
  std::sort(sorted.begin(), sorted.end());
  double limit = epsilon.value;
  if (epsilon.quantile && !sorted.empty()) {
    const double h = epsilon.value * static_cast<double>(sorted.size() - 1);
    const double low = sorted[static_cast<size_t>(std::floor(h))];
    limit = low + (h - std::floor(h)) * (sorted[static_cast<size_t>(std::ceil(h))] - low);
  }
  const auto component = connected_components(graph).of_node;
  const auto together = [&](NodeId i, NodeId j) {
    return !per_component || component[static_cast<size_t>(i)] == component[static_cast<size_t>(j)];
  };
  std::set<Pair> edges;
  for (NodeId i = 0; i < n; ++i) {
    for (NodeId j = i + 1; j < n; ++j) {
      if (!graph.has_arc(i, j)) continue;
      if (mode.prune == Prune::kNear && distance(i, j) < limit) continue;
      if (mode.prune == Prune::kFar && distance(i, j) > limit) continue;
      edges.insert({i, j});
    }
    NodeId low = i, high = i;
    for (NodeId j = n - 1; j >= 0; --j) {  // downwards, so that the smallest index wins a tie
      if (together(i, j) && at(0, j) <= at(0, low)) low = j;
      if (together(i, j) && at(0, j) >= at(0, high)) high = j;
    }
    const auto join = [&](NodeId other) {
      if (other != i) edges.insert({std::min(i, other), std::max(i, other)});
    };
    const double mid = (at(0, low) + at(0, high)) / 2;
    if (mode.join == Join::kOpposite && at(0, i) < mid) join(high);
    if (mode.join == Join::kOpposite && at(0, i) > mid) join(low);
    if (mode.join == Join::kHub) join(high);
  }
  return edges;
}

std::set<Pair> edge_set(const CsrGraph& graph) {
  std::set<Pair> edges;
  for (const Edge e : graph.edge_list()) edges.insert({e.from, e.to});
  return edges;
}

}  // namespace

class RewireRandom : public ::testing::TestWithParam<const char*> {};

TEST_P(RewireRandom, EqualsThePairwiseDefinition) {
  const Mode mode = parse_mode(GetParam());
  for (uint64_t seed = 0; seed < 60; ++seed) {
    Random random(seed, 99);
    const auto n = static_cast<NodeId>(random.below(25));
    const CsrGraph graph = test::random_graph(n, 0.02 + 0.2 * random.uniform(), seed);
    const int count = 1 + static_cast<int>(random.below(3));
    std::vector<double> phi(static_cast<size_t>(n * count));
    // Few distinct values on half of the graphs: ties in phi, in distances and at the middle.
    for (double& v : phi) {
      v = seed % 2 == 0 ? static_cast<double>(random.below(4)) - 1.5 : random.normal();
    }
    for (const char* text : {"0", "1", "0.7", "q0", "q0.2", "q0.37", "q1"}) {
      for (const bool per_component : {true, false}) {
        const RewireResult result = run(graph, phi, GetParam(), text, per_component);
        const auto expected = reference(graph, phi, mode, parse_epsilon(text), per_component);
        EXPECT_EQ(edge_set(result.graph), expected)
            << GetParam() << " epsilon " << text << " seed " << seed;
      }
    }
  }
}

TEST_P(RewireRandom, ReportAddsUp) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const CsrGraph graph = test::random_graph(60, 0.04, seed);
    Random random(seed);
    std::vector<double> phi(60);
    for (double& v : phi) v = random.normal();
    const auto [rewired, report] = run(graph, phi, GetParam(), "q0.5");
    EXPECT_EQ(report.edges_before, graph.edges());
    EXPECT_EQ(report.edges_after, rewired.edges());
    EXPECT_EQ(report.edges_before - report.dropped + report.added, report.edges_after);
    EXPECT_EQ(report.components_before, connected_components(graph).count());
    EXPECT_EQ(report.components_after, connected_components(rewired).count());
    const auto alone = [](const CsrGraph& g) {
      int64_t count = 0;
      for (NodeId i = 0; i < g.nodes(); ++i) count += g.degree(i) == 0 ? 1 : 0;
      return count;
    };
    EXPECT_EQ(report.isolated_before, alone(graph));
    EXPECT_EQ(report.isolated_after, alone(rewired));
    const Mode mode = parse_mode(GetParam());
    EXPECT_EQ(report.dropped > 0, mode.prune != Prune::kNone);
    EXPECT_EQ(report.added > 0, mode.join != Join::kNone);
  }
}

INSTANTIATE_TEST_SUITE_P(Modes, RewireRandom,
                         ::testing::Values("none", "prune-near", "prune-far", "add", "hub",
                                           "prune-near+add", "prune-far+add", "prune-near+hub",
                                           "prune-far+hub"),
                         dgat::test::name_of_parameter<const char*>);

TEST(Rewire, AddOnAPathJoinsTheHalvesToTheOppositeEndsAndSparesTheMiddle) {
  const std::vector<double> phi{-2, -1, 0, 1, 2};
  const auto [rewired, report] = run(test::path(5), phi, "add");
  EXPECT_EQ(rewired.edge_list(),
            (std::vector<Edge>{{0, 1}, {0, 3}, {0, 4}, {1, 2}, {1, 4}, {2, 3}, {3, 4}}));
  EXPECT_EQ(report.added, 3);
  EXPECT_EQ(report.dropped, 0);
}

TEST(Rewire, AnEdgeExactlyAtEpsilonStays) {
  const std::vector<double> phi{0, 1, 3, 4};
  const CsrGraph graph = test::path(4);  // distances 1, 2, 1
  EXPECT_EQ(run(graph, phi, "prune-near", "1").report.dropped, 0);
  EXPECT_EQ(run(graph, phi, "prune-near", "1.5").report.dropped, 2);
  EXPECT_EQ(run(graph, phi, "prune-far", "2").report.dropped, 0);
  EXPECT_EQ(run(graph, phi, "prune-far", "1.5").report.dropped, 1);
}

TEST(Rewire, AQuantileInterpolatesBetweenTheDistances) {
  const std::vector<double> phi{0, 1, 3, 6, 10};  // distances 1, 2, 3, 4
  const CsrGraph graph = test::path(5);
  EXPECT_DOUBLE_EQ(run(graph, phi, "prune-near", "q0").report.epsilon, 1);
  EXPECT_DOUBLE_EQ(run(graph, phi, "prune-near", "q0.5").report.epsilon, 2.5);
  EXPECT_DOUBLE_EQ(run(graph, phi, "prune-near", "q0.25").report.epsilon, 1.75);
  EXPECT_DOUBLE_EQ(run(graph, phi, "prune-near", "q1").report.epsilon, 4);
}

TEST(Rewire, WithoutEpsilonATenthOfTheEdgesGoes) {
  std::vector<double> phi(102);
  for (size_t i = 0; i < phi.size(); ++i) phi[i] = static_cast<double>(i * i);  // 101 distances
  EXPECT_EQ(run(test::path(102), phi, "prune-near").report.dropped, 10);
  EXPECT_EQ(run(test::path(102), phi, "prune-far").report.dropped, 10);
}

TEST(Rewire, AnEdgeBroughtBackCountsAsDroppedAndAsAdded) {
  // 0 -- 1 -- 2 with the far edge 1-2; `add` joins 0 and 1 to 2.
  const std::vector<double> phi{0, 1, 10};
  const auto [rewired, report] = run(test::path(3), phi, "prune-far+add", "5");
  EXPECT_EQ(report.dropped, 1);
  EXPECT_EQ(report.added, 2);
  EXPECT_EQ(rewired.edges(), 3);
}

TEST(Rewire, IsolatedNodesStayAloneWithinTheirComponent) {
  const CsrGraph graph = test::disjoint_union(test::path(3), CsrGraph({0, 0}, {}, false));
  const std::vector<double> phi{-1, 0, 1, 0};
  EXPECT_EQ(run(graph, phi, "add").report.isolated_after, 1);
  EXPECT_EQ(run(graph, phi, "hub").report.isolated_after, 1);
  EXPECT_EQ(run(graph, phi, "hub", nullptr, /*per_component=*/false).report.isolated_after, 0);
}

TEST(Rewire, AHubStandsInEveryComponentOrOnceInTheGraph) {
  const CsrGraph graph = test::disjoint_union(test::path(4), test::path(3));
  const std::vector<double> phi{-1, 2, 0, 1, 3, 0, -3};
  const auto each = run(graph, phi, "hub");
  EXPECT_EQ(each.graph.edge_list(),
            (std::vector<Edge>{{0, 1}, {1, 2}, {1, 3}, {2, 3}, {4, 5}, {4, 6}, {5, 6}}));
  EXPECT_EQ(each.report.components_after, 2);
  const auto whole = run(graph, phi, "hub", nullptr, /*per_component=*/false);
  EXPECT_EQ(whole.graph.degree(4), 6);
  EXPECT_EQ(whole.report.components_after, 1);
}

TEST(Rewire, EmptyAndSingleNodeGraphsAreKept) {
  for (const char* mode : {"none", "prune-near", "prune-far+add", "hub"}) {
    EXPECT_EQ(run(CsrGraph(), {}, mode).graph, CsrGraph());
    const auto [one, report] = run(CsrGraph({0, 0}, {}, false), {1.0}, mode);
    EXPECT_EQ(one.edges(), 0);
    EXPECT_EQ(report.isolated_after, 1);
    EXPECT_EQ(report.components_after, 1);
    EXPECT_TRUE(std::isnan(report.homophily_after));
  }
}

TEST(Rewire, RefusesDirectedGraphs) {
  const CsrGraph arcs = graph::build_graph(2, std::vector<Edge>{{0, 1}}, {.directed = true}).graph;
  EXPECT_THAT(
      [&] {
        run(arcs, {0, 1}, "add");
      },
      ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("undirected")));
}

TEST(Rewire, IsTheSameAtEveryThreadCount) {
  const CsrGraph graph = test::grid(90, 100);
  Random random(12);
  std::vector<double> phi(2 * 9000);
  for (double& v : phi) v = random.normal();
  const auto at = [&](int threads) {
    const ThreadScope scope(threads);
    return run(graph, phi, "prune-far+add", "q0.3");
  };
  const RewireResult one = at(1);
  for (const int threads : {2, 4}) {
    const RewireResult many = at(threads);
    EXPECT_EQ(one.graph, many.graph);
    EXPECT_EQ(one.report.epsilon, many.report.epsilon);
  }
}

TEST(Rewire, HomophilyIsThatOfTheEdgesBetweenTrainingNodes) {
  //  ring of 6, nodes 0..3 train with labels 0 0 1 1: training edges 01 12 23
  const std::vector<int32_t> labels{0, 0, 1, 1, 0, 1};
  const auto masked = training_labels(labels, std::vector<NodeId>{0, 1, 2, 3});
  EXPECT_EQ(masked, (std::vector<int32_t>{0, 0, 1, 1, -1, -1}));
  const std::vector<double> phi{0, 1, 5, 6, 7, 8};
  const RewireOptions options{.mode = parse_mode("prune-far"), .epsilon = parse_epsilon("2")};
  const auto report = rewire(test::ring(6), NodeVectors(phi), options, masked).report;
  EXPECT_DOUBLE_EQ(report.homophily_before, 2.0 / 3);
  EXPECT_DOUBLE_EQ(report.homophily_after, 1);
}

TEST(RewireAuto, FollowsTheTrainingLabels) {
  const CsrGraph graph = test::barbell(6, 0);  // two cliques
  std::vector<int32_t> cliques(12), sides(12);
  for (size_t i = 0; i < 12; ++i) {
    cliques[i] = i < 6 ? 0 : 1;
    sides[i] = static_cast<int32_t>(i % 2);
  }
  EXPECT_EQ(resolve_mode(parse_mode("auto"), graph, cliques), parse_mode("prune-near"));
  EXPECT_EQ(resolve_mode(parse_mode("auto"), graph, sides), parse_mode("prune-far+add"));
  EXPECT_EQ(resolve_mode(parse_mode("hub"), graph, sides), parse_mode("hub"));
}

TEST(RewireAuto, NeverLooksAtOtherLabels) {
  const CsrGraph graph = test::random_connected_graph(80, 0.1, 21);
  Random random(22);
  std::vector<double> phi(80);
  std::vector<int32_t> labels(80);
  std::vector<NodeId> train;
  for (NodeId i = 0; i < 80; ++i) {
    phi[static_cast<size_t>(i)] = random.normal();
    labels[static_cast<size_t>(i)] = static_cast<int32_t>(random.below(3));
    if (i < 40) train.push_back(i);
  }
  const RewireOptions options{.mode = parse_mode("auto")};
  const auto rewired = [&] {
    return rewire(graph, NodeVectors(phi), options, training_labels(labels, train));
  };
  const RewireResult before = rewired();
  for (size_t i = 40; i < 80; ++i) labels[i] = 0;
  const RewireResult after = rewired();
  EXPECT_EQ(before.graph, after.graph);
  EXPECT_EQ(before.report.homophily_before, after.report.homophily_before);
  EXPECT_EQ(before.report.homophily_after, after.report.homophily_after);
}

TEST(RewireAuto, SaysWhyItCannotDecide) {
  const CsrGraph graph = test::path(4);
  for (const std::vector<int32_t>& labels :
       {std::vector<int32_t>{0, -1, 1, -1}, std::vector<int32_t>{2, 2, 2, 2}}) {
    EXPECT_THAT([&] { resolve_mode(parse_mode("auto"), graph, labels); },
                ::testing::ThrowsMessage<InputError>(::testing::HasSubstr("name a mode")));
  }
}

}  // namespace dgat::rewire
