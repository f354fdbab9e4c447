// Many pairs at once where eigenvalues are repeated or crowded: against closed forms and against a
// dense decomposition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dense_reference.h"
#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

constexpr int kPairs = 32;

/// The product of two rings: eigenvalues of D - A are sums of those of the rings.
CsrGraph torus(NodeId height, NodeId width) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i < height; ++i) {
    for (NodeId j = 0; j < width; ++j) {
      edges.push_back({i * width + j, i * width + (j + 1) % width});
      edges.push_back({i * width + j, (i + 1) % height * width + j});
    }
  }
  return graph::build_graph(height * width, edges).graph;
}

/// Copies of a random graph that hang at a ring of their own, one edge each: their eigenvalues lie
/// close together. `spare` of them lack one edge.
CsrGraph near_copies(NodeId copies, NodeId size, NodeId spare) {
  const std::vector<Edge> one = dgat::test::random_connected_graph(size, 0.08, 3).edge_list();
  std::vector<Edge> edges;
  for (NodeId c = 0; c < copies; ++c) {
    const NodeId base = copies + c * size;
    edges.push_back({c, (c + 1) % copies});
    edges.push_back({c, base});
    for (size_t e = 0; e < one.size(); ++e) {
      if (c < spare && e + 1 == one.size()) continue;
      edges.push_back({base + one[e].from, base + one[e].to});
    }
  }
  return graph::build_graph(copies + copies * size, edges).graph;
}

class Clusters : public ::testing::TestWithParam<std::tuple<Solver, double>> {
 protected:
  const Solver solver_ = std::get<0>(GetParam());
  const double gamma_ = std::get<1>(GetParam());

  EigenResult solve(const CsrGraph& graph, int k) const {
    EigenResult result = solve_spectrum(graph, {.gamma = gamma_, .k = k, .solver = solver_});
    EXPECT_TRUE(result.converged) << "worst residual " << std::ranges::max(result.residuals);
    for (const double residual : result.residuals) EXPECT_LE(residual, 1e-8);
    return result;
  }

  /// Values and copies as the full decomposition has them; vectors that are orthonormal and, inside
  /// a repeated value, the same choice.
  void expect_agreement(const CsrGraph& graph) const {
    const EigenResult ours = solve(graph, kPairs);
    const EigenResult dense =
        solve_spectrum(graph, {.gamma = gamma_, .k = kPairs, .solver = Solver::kDense});
    const Eigen::VectorXd values = test::dense_eigenvalues(graph, gamma_);
    const int64_t n = graph.nodes();
    const Eigen::Map<const Eigen::MatrixXd> u(ours.vectors.data(), n, kPairs);
    const Eigen::Map<const Eigen::MatrixXd> v(dense.vectors.data(), n, kPairs);
    for (int m = 0; m < kPairs; ++m) {
      const auto at = static_cast<size_t>(m);
      EXPECT_NEAR(ours.eigenvalues[at], values[m + 1], 1e-9 * values[n - 1]) << m;
      EXPECT_EQ(ours.multiplicity[at], dense.multiplicity[at]) << m;
      const double bound = 1e-7 + 10 * (ours.angle_bounds[at] + dense.angle_bounds[at]);
      EXPECT_LT((u.col(m) - v.col(m)).norm(), bound) << m;
    }
    EXPECT_LT((u.transpose() * u - Eigen::MatrixXd::Identity(kPairs, kPairs)).norm(), 1e-6);
  }
};

TEST_P(Clusters, SquareGridHasPairsOfEqualValues) {
  expect_agreement(dgat::test::grid(15, 15));
}

TEST_P(Clusters, TorusHasFourAndEightEqualValues) {
  const NodeId side = 14;
  const EigenResult result = solve(torus(side, side), kPairs);
  std::vector<double> expected;
  for (NodeId a = 0; a < side; ++a) {
    for (NodeId b = 0; b < side; ++b) {
      const double x = std::sin(M_PI * a / side), y = std::sin(M_PI * b / side);
      // Every node has four neighbours: L = factor (D - A) / m.
      const double factor = gamma_ == 0 ? 1 : gamma_ / (4 * gamma_ + 1 - gamma_);
      expected.push_back(factor * 4 * (x * x + y * y));
    }
  }
  std::ranges::sort(expected);
  for (size_t m = 0; m < kPairs; ++m) EXPECT_NEAR(result.eigenvalues[m], expected[m + 1], 1e-10);
  EXPECT_EQ(result.multiplicity[0], 4) << "one step along either ring, either way";
  EXPECT_EQ(result.multiplicity[12], 8);
}

TEST_P(Clusters, NearCopiesCrowdTheirValues) {
  expect_agreement(near_copies(9, 25, 2));
}

TEST_P(Clusters, DisjointCopiesHaveTheSameValues) {
  const CsrGraph one = dgat::test::random_connected_graph(160, 0.03, 8);
  const CsrGraph graph = dgat::test::disjoint_union(one, dgat::test::disjoint_union(one, one));
  const EigenResult alone = solve(one, 10);
  const EigenResult first = solve_spectrum(
      graph, {.gamma = gamma_, .k = 30, .components = ComponentPolicy::kFirst, .solver = solver_});
  EXPECT_TRUE(first.converged);
  for (size_t m = 0; m < 30; ++m) {
    EXPECT_NEAR(first.eigenvalues[m], alone.eigenvalues[m / 3], 1e-10) << m;
    EXPECT_EQ(first.multiplicity[m], 3) << m;
  }
}

TEST_P(Clusters, CutsThroughAValueWithVeryManyCopies) {
  // Leaves at the nodes of a path: differences of leaves of one node all have the value gamma.
  std::vector<Edge> edges;
  NodeId next = 6;
  for (NodeId hub = 0; hub < 6; ++hub) {
    if (hub > 0) edges.push_back({hub - 1, hub});
    for (NodeId leaf = 0; leaf < 40; ++leaf) edges.push_back({hub, next++});
  }
  const CsrGraph graph = graph::build_graph(next, edges).graph;
  const EigenResult ours = solve(graph, 16);
  const EigenResult dense =
      solve_spectrum(graph, {.gamma = gamma_, .k = 16, .solver = Solver::kDense});
  for (size_t m = 0; m < 16; ++m) EXPECT_NEAR(ours.eigenvalues[m], dense.eigenvalues[m], 1e-9);
  EXPECT_EQ(dense.multiplicity[15], 6 * 39);
  EXPECT_GT(ours.multiplicity[15], kMaxMultiplicity);
  const std::vector<double> a = ours.phi(0.5), b = dense.phi(0.5);
  double difference = 0;
  for (size_t i = 0; i < a.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  EXPECT_LT(difference, 1e-5) << "the same choice among all copies";
}

INSTANTIATE_TEST_SUITE_P(SolversAndGamma, Clusters,
                         ::testing::Combine(::testing::Values(Solver::kFactor, Solver::kMultigrid,
                                                              Solver::kDavidson, Solver::kAuto),
                                            ::testing::Values(0.0, 0.3, 1.0)),
                         [](const auto& tested) {
                           return dgat::test::test_name(
                               fmt::format("{} gamma {}", to_string(std::get<0>(tested.param)),
                                           std::get<1>(tested.param)));
                         });

TEST(WorkLimit, EndsASearchThatTakesTooLong) {
  const CsrGraph graph = dgat::test::random_connected_graph(400, 0.02, 1);
  EigenOptions options{.gamma = 0.3, .k = 6, .solver = Solver::kDavidson};
  EXPECT_TRUE(solve_spectrum(graph, options).converged);
  options.work_limit = 20 * graph.arcs();
  const EigenResult short_of = solve_spectrum(graph, options);
  EXPECT_FALSE(short_of.converged) << "and says so";
  options.work_limit = 1'000'000 * graph.arcs();
  EXPECT_TRUE(solve_spectrum(graph, options).converged);
}

}  // namespace
}  // namespace dgat::spectral
