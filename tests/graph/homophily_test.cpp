#include "dgat/graph/homophily.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/degrees.h"
#include "support/tiny_graphs.h"

namespace dgat::graph {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(size_t rows, size_t cols) {
  return Matrix(rows, std::vector<double>(cols, 0.0));
}

/// The formulas as printed, on dense matrices. Needs every class to occur and some edges.
Homophily dense_homophily(const CsrGraph& graph, const std::vector<int32_t>& labels, int classes) {
  const auto n = static_cast<size_t>(graph.nodes()), c = static_cast<size_t>(classes);
  Matrix adjacency = zeros(n, n), one_hot = zeros(n, c);
  for (const Edge e : graph.edge_list()) {
    adjacency[static_cast<size_t>(e.from)][static_cast<size_t>(e.to)] = 1;
    adjacency[static_cast<size_t>(e.to)][static_cast<size_t>(e.from)] = 1;
  }
  for (size_t i = 0; i < n; ++i) one_hot[i][static_cast<size_t>(labels[i])] = 1;
  const auto same = [&](size_t i, size_t j) { return labels[i] == labels[j]; };

  Homophily out;
  const auto arcs = static_cast<double>(graph.arcs());
  std::vector<double> p(c, 0.0), intra(c, 0.0), size(c, 0.0);
  Matrix pair = zeros(c, c), walk = zeros(c, c);
  double connected = 0;
  for (size_t i = 0; i < n; ++i) {
    double degree = 0, own = 0;
    for (size_t j = 0; j < n; ++j) {
      degree += adjacency[i][j];
      if (same(i, j)) own += adjacency[i][j];
    }
    const auto zi = static_cast<size_t>(labels[i]);
    ++size[zi];
    p[zi] += degree / arcs;
    intra[zi] += own;
    out.edge += own / arcs;
    if (degree == 0) continue;
    ++connected;
    out.node += own / degree / static_cast<double>(n);
    for (size_t j = 0; j < n; ++j) {
      pair[zi][static_cast<size_t>(labels[j])] += adjacency[i][j] / arcs;
      walk[zi][static_cast<size_t>(labels[j])] += adjacency[i][j] / degree;
    }
  }
  double squares = 0, pair_sum = 0, single_sum = 0;
  std::vector<double> first(c, 0.0), second(c, 0.0);
  for (size_t a = 0; a < c; ++a) {
    squares += p[a] * p[a];
    single_sum += p[a] * std::log(p[a]);
    out.class_ += std::max(0.0, intra[a] / (p[a] * arcs) - size[a] / static_cast<double>(n)) /
                  static_cast<double>(classes - 1);
    for (size_t b = 0; b < c; ++b) {
      if (pair[a][b] > 0) pair_sum += pair[a][b] * std::log(pair[a][b]);
      walk[a][b] /= connected;
      first[a] += walk[a][b];
      second[b] += walk[a][b];
    }
  }
  out.adjusted_edge = (out.edge - squares) / (1 - squares);
  out.label_informativeness = 2 - pair_sum / single_sum;
  double information = 0, entropy = 0;
  for (size_t a = 0; a < c; ++a) {
    entropy -= first[a] * std::log(first[a]);
    for (size_t b = 0; b < c; ++b) {
      if (walk[a][b] > 0) information += walk[a][b] * std::log(walk[a][b] / first[a] / second[b]);
    }
  }
  out.node_label_informativeness = information / entropy;

  Matrix x = one_hot;  // (A + I) Z
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      for (size_t k = 0; k < c; ++k) x[i][k] += adjacency[i][j] * one_hot[j][k];
    }
  }
  double good = 0;
  for (size_t i = 0; i < n; ++i) {
    double inside = 0, outside = 0, inside_count = 0;
    for (size_t j = 0; j < n; ++j) {
      double similarity = 0;
      for (size_t k = 0; k < c; ++k) similarity += x[i][k] * x[j][k];
      (same(i, j) ? inside : outside) += similarity;
      if (same(i, j)) ++inside_count;
    }
    // Sums are whole numbers: cross-multiplied, the comparison is exact in doubles too.
    if (inside * (static_cast<double>(n) - inside_count) >= outside * inside_count) ++good;
  }
  out.aggregation_raw = good / static_cast<double>(n);
  out.aggregation = std::max(0.0, 2 * out.aggregation_raw - 1);
  return out;
}

void expect_close(const Homophily& a, const Homophily& b) {
  EXPECT_NEAR(a.node, b.node, 1e-12);
  EXPECT_NEAR(a.edge, b.edge, 1e-12);
  EXPECT_NEAR(a.class_, b.class_, 1e-12);
  EXPECT_NEAR(a.adjusted_edge, b.adjusted_edge, 1e-12);
  EXPECT_NEAR(a.label_informativeness, b.label_informativeness, 1e-12);
  EXPECT_NEAR(a.node_label_informativeness, b.node_label_informativeness, 1e-12);
  EXPECT_NEAR(a.aggregation, b.aggregation, 1e-12);
  EXPECT_NEAR(a.aggregation_raw, b.aggregation_raw, 1e-12);
}

std::vector<int32_t> random_labels(NodeId n, int classes, Random& random) {
  std::vector<int32_t> labels;
  for (NodeId i = 0; i < n; ++i) {
    labels.push_back(
        i < classes ? i : static_cast<int32_t>(random.below(static_cast<uint64_t>(classes))));
  }
  return labels;
}

TEST(Homophily, AgreesWithDenseMatricesOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed, 1);
    const auto n = static_cast<NodeId>(8 + random.below(40));
    const int classes = 2 + static_cast<int>(random.below(5));
    // Every class keeps an edge: the first nodes, one of each class, lie on a path.
    std::vector<Edge> edges =
        test::random_graph(n, 0.01 + 0.3 * random.uniform(), seed).edge_list();
    for (NodeId i = 0; i < classes; ++i) edges.push_back({i, i + 1});
    const CsrGraph graph = build_graph(n, edges).graph;
    const auto labels = random_labels(n, classes, random);
    expect_close(measure_homophily(graph, labels, classes),
                 dense_homophily(graph, labels, classes));
  }
}

TEST(Homophily, UnlabelledNodesLeaveTheInducedSubgraph) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Random random(seed, 2);
    const CsrGraph graph = test::random_graph(60, 0.15, seed);
    auto labels = random_labels(60, 3, random);
    std::vector<bool> keep(60, true);
    for (size_t i = 3; i < 60; i += 4) {
      labels[i] = -1;
      keep[i] = false;
    }
    const Subgraph sub = induced_subgraph(graph, keep);
    std::vector<int32_t> kept;
    for (const NodeId i : sub.original) kept.push_back(labels[static_cast<size_t>(i)]);
    const Homophily measured = measure_homophily(graph, labels, 3);
    expect_close(measured, measure_homophily(sub.graph, kept, 3));
    EXPECT_EQ(measured.labelled_nodes, sub.graph.nodes());
    EXPECT_EQ(measured.labelled_edges, sub.graph.edges());
  }
}

TEST(Homophily, AlternatingRingIsPerfectlyHeterophilicAndInformative) {
  std::vector<int32_t> labels;
  for (int i = 0; i < 12; ++i) labels.push_back(i % 2);
  const Homophily h = measure_homophily(test::ring(12), labels, 2);
  EXPECT_EQ(h.node, 0);
  EXPECT_EQ(h.edge, 0);
  EXPECT_EQ(h.class_, 0);
  EXPECT_NEAR(h.adjusted_edge, -1, 1e-15);  // (0 - 1/2) / (1 - 1/2)
  EXPECT_NEAR(h.label_informativeness, 1, 1e-15);
  EXPECT_NEAR(h.node_label_informativeness, 1, 1e-15);
  // X is (1, 2) or (2, 1): 5 inside the own class against 4 outside.
  EXPECT_EQ(h.aggregation_raw, 1);
  EXPECT_EQ(h.aggregation, 1);
  EXPECT_EQ(h.compatibility, (std::vector<double>{0, 1, 1, 0}));
}

TEST(Homophily, TwoCliquesAreHomophilicInEverySense) {
  const CsrGraph graph = test::disjoint_union(test::complete(4), test::complete(5));
  const Homophily h = measure_homophily(graph, std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1, 1, 1}, 2);
  for (const double value : {h.node, h.edge, h.class_, h.adjusted_edge, h.label_informativeness,
                             h.node_label_informativeness, h.aggregation, h.aggregation_raw}) {
    EXPECT_NEAR(value, 1, 1e-12);
  }
  EXPECT_EQ(h.class_counts, (std::vector<int64_t>{4, 5}));
}

TEST(Homophily, TiesOfAggregationCountForTheNode) {
  // K4 with classes 0 0 1 1: every X_i is (2, 2), so inside and outside means are both 8.
  const Homophily h = measure_homophily(test::complete(4), std::vector<int32_t>{0, 0, 1, 1}, 2);
  EXPECT_EQ(h.aggregation_raw, 1);
  // Classes of different size: 7 * (1/7) style means would tie only within rounding.
  const Homophily k =
      measure_homophily(test::complete(10), std::vector<int32_t>{0, 0, 0, 1, 1, 1, 1, 1, 1, 1}, 2);
  EXPECT_EQ(k.aggregation_raw, 1);
}

TEST(Homophily, IsolatedNodesCountAsZeroUnlessSkipped) {
  const CsrGraph graph = test::disjoint_union(test::complete(3), build_graph(1, {}).graph);
  const std::vector<int32_t> labels{0, 0, 0, 1};
  EXPECT_DOUBLE_EQ(measure_homophily(graph, labels, 2).node, 0.75);
  EXPECT_DOUBLE_EQ(measure_homophily(graph, labels, 2, {.skip_isolated = true}).node, 1.0);
}

TEST(Homophily, MeasuresWithoutAValueAreNaN) {
  const Homophily no_edges =
      measure_homophily(build_graph(3, {}).graph, std::vector<int32_t>{0, 1, 1}, 2);
  EXPECT_EQ(no_edges.node, 0);
  for (const double value : {no_edges.edge, no_edges.class_, no_edges.adjusted_edge,
                             no_edges.label_informativeness, no_edges.node_label_informativeness}) {
    EXPECT_TRUE(std::isnan(value));
  }
  const Homophily one_class = measure_homophily(test::star(7), std::vector<int32_t>(8, 0), 1);
  EXPECT_EQ(one_class.node, 1);
  EXPECT_EQ(one_class.edge, 1);
  EXPECT_EQ(one_class.aggregation, 1);
  for (const double value :
       {one_class.class_, one_class.adjusted_edge, one_class.label_informativeness,
        one_class.node_label_informativeness}) {
    EXPECT_TRUE(std::isnan(value));
  }
  const Homophily nothing = measure_homophily(CsrGraph{}, {}, 0);
  EXPECT_TRUE(std::isnan(nothing.node));
  EXPECT_TRUE(std::isnan(nothing.aggregation));
}

TEST(Homophily, ClassesWithoutNodesDoNotCount) {
  Random random(5);
  const CsrGraph graph = test::random_graph(40, 0.2, 5);
  const auto labels = random_labels(40, 3, random);
  expect_close(measure_homophily(graph, labels, 3), measure_homophily(graph, labels, 7));
}

TEST(Homophily, CompatibilityRowsAreDistributions) {
  Random random(6);
  const CsrGraph graph = test::random_connected_graph(80, 0.05, 6);
  const Homophily h = measure_homophily(graph, random_labels(80, 4, random), 4);
  for (size_t a = 0; a < 4; ++a) {
    double sum = 0;
    for (size_t b = 0; b < 4; ++b) sum += h.compatibility[a * 4 + b];
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

TEST(Homophily, DirectedGraphsAreMeasuredWithoutTheirDirections) {
  const std::vector<Edge> arcs{{0, 1}, {1, 0}, {1, 2}, {3, 2}};
  const std::vector<int32_t> labels{0, 0, 1, 1};
  expect_close(measure_homophily(build_graph(4, arcs, {.directed = true}).graph, labels, 2),
               measure_homophily(test::path(4), labels, 2));
}

TEST(Homophily, HasTheSameBitsAtEveryThreadCount) {
  const NodeId n = 30000;
  Random random(8);
  std::vector<Edge> edges;
  for (int e = 0; e < 100000; ++e) {
    edges.push_back({static_cast<NodeId>(random.below(n)), static_cast<NodeId>(random.below(n))});
  }
  const CsrGraph graph = build_graph(n, edges).graph;
  const auto labels = random_labels(n, 6, random);
  const auto bits = [&](int threads) {
    const ThreadScope scope(threads);
    const Homophily h = measure_homophily(graph, labels, 6);
    return std::vector<double>{h.node, h.node_label_informativeness, h.aggregation};
  };
  const auto one = bits(1);
  for (const int threads : {2, 4}) EXPECT_EQ(one, bits(threads));
}

TEST(Homophily, RefusesLabelsThatDoNotFit) {
  const auto message = [](const std::vector<int32_t>& labels, int classes) -> std::string {
    try {
      measure_homophily(test::path(3), labels, classes);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({0, 1}, 2), "homophily: 2 labels for 3 nodes; one label per node is needed");
  EXPECT_EQ(message({0, 1, 2}, 2), "homophily: label 2 of node 2 is outside [-1, 2)");
  EXPECT_EQ(message({0, 1, 1}, 5000),
            "homophily: the number of classes must lie in [0, 4096], got 5000");
}

TEST(DegreeSummary, KnowsStarsAndEmptyGraphs) {
  const DegreeSummary star = degree_summary(test::star(4));
  EXPECT_EQ(star.min, 1);
  EXPECT_EQ(star.median, 1);
  EXPECT_DOUBLE_EQ(star.mean, 8.0 / 5);
  EXPECT_EQ(star.max, 4);
  EXPECT_EQ(degree_summary(test::path(4)).median, 1.5);  // degrees 1 1 2 2
  EXPECT_EQ(degree_summary(CsrGraph{}).max, 0);
}

}  // namespace
}  // namespace dgat::graph
