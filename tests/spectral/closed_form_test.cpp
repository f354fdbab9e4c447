// Spectra that are known by hand, for every member of the family.
#include <gtest/gtest.h>

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

double factor(double gamma) {
  return gamma == 0 ? 1 : gamma;
}
double mass(double gamma, double degree) {
  return gamma * degree + 1 - gamma;
}

class ClosedForm : public ::testing::TestWithParam<double> {
 protected:
  const double gamma_ = GetParam();

  /// Solves, and checks L(alpha,gamma) phi = lambda phi, the norm and the sign for every alpha.
  EigenResult solve(const CsrGraph& graph, int k = 1) const {
    EigenResult result = solve_spectrum(graph, {.gamma = gamma_, .k = k});
    EXPECT_TRUE(result.converged);
    for (const double alpha : {0.0, 0.25, 0.5, 1.0}) {
      const std::vector<double> phi = result.phi(alpha);
      const Eigen::MatrixXd L = test::dense_laplacian(graph, alpha, gamma_);
      for (int m = 0; m < k; ++m) {
        const Eigen::Map<const Eigen::VectorXd> x(phi.data() + m * graph.nodes(), graph.nodes());
        EXPECT_NEAR(x.norm(), 1, 1e-12);
        EXPECT_GT(x.maxCoeff(), -(1 - 1e-5) * x.minCoeff()) << "largest entry positive";
        const double lambda = result.eigenvalues[static_cast<size_t>(m)];
        EXPECT_LT((L * x - lambda * x).norm(), 1e-8 * (1 + L.norm()));
      }
    }
    return result;
  }
};

TEST_P(ClosedForm, RingHasADoubleCosine) {
  for (const NodeId n : {5, 64, 301}) {
    const EigenResult result = solve(dgat::test::ring(n), 2);
    const double lambda = factor(gamma_) / mass(gamma_, 2) * 2 * (1 - std::cos(2 * M_PI / n));
    EXPECT_NEAR(result.eigenvalues[0] / lambda, 1, 1e-9);
    EXPECT_NEAR(result.eigenvalues[1] / lambda, 1, 1e-9);
    EXPECT_EQ(result.multiplicity[0], 2);
  }
}

TEST_P(ClosedForm, CompleteGraphHasOneValue) {
  for (const NodeId n : {3, 20, 200}) {
    const EigenResult result = solve(dgat::test::complete(n));
    EXPECT_NEAR(result.eigenvalues[0], factor(gamma_) * n / mass(gamma_, n - 1), 1e-10 * n);
    EXPECT_GE(result.multiplicity[0], std::min(n - 1, 9));
  }
}

TEST_P(ClosedForm, StarLeavesDifferAtGamma) {
  for (const NodeId leaves : {3, 20, 300}) {
    const EigenResult result = solve(dgat::test::star(leaves));
    EXPECT_NEAR(result.eigenvalues[0], factor(gamma_), 1e-10 * leaves);
    EXPECT_NEAR(result.phi(0.5)[0], 0, 1e-8) << "the centre takes no part";
  }
}

TEST_P(ClosedForm, StarsTopValueIsKnown) {
  // Two leaves: values 0, gamma, gamma (1 + 2 / m_centre).
  const EigenResult result = solve(dgat::test::star(2), 2);
  EXPECT_NEAR(result.eigenvalues[1], factor(gamma_) * (1 + 2 / mass(gamma_, 2)), 1e-13);
}

TEST_P(ClosedForm, BarbellIsAntisymmetricWithItsEndsApart) {
  const CsrGraph graph = dgat::test::barbell(8, 5);
  const EigenResult result = solve(graph);
  const Eigen::VectorXd expected = test::dense_eigenvalues(graph, gamma_);
  EXPECT_NEAR(result.eigenvalues[0], expected[1], 1e-12);
  const std::vector<double> phi = result.phi(1.0);
  EXPECT_GT(std::abs(phi[0]), 10 * std::abs(phi[10])) << "node 10 is the middle of the bridge";
  for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(phi[i], -phi[20 - i], 1e-7);
}

TEST_P(ClosedForm, TwoNodesShareOneEdge) {
  const EigenResult result = solve(dgat::test::path(2));
  EXPECT_NEAR(result.eigenvalues[0], 2 * factor(gamma_), 1e-14);
  EXPECT_NEAR(result.phi(0.3)[0], std::sqrt(0.5), 1e-14) << "a tie: the smaller node is positive";
}

INSTANTIATE_TEST_SUITE_P(Gamma, ClosedForm, ::testing::Values(0.0, 0.01, 0.3, 0.5, 1.0),
                         [](const auto& tested) {
                           return dgat::test::test_name(fmt::format("gamma {}", tested.param));
                         });

TEST(ClosedForms, PathAtBothEndsOfTheFamily) {
  for (const NodeId n : {3, 100, 5000}) {
    const auto value = [&](double gamma) {
      const EigenResult result = solve_spectrum(dgat::test::path(n), {.gamma = gamma});
      EXPECT_TRUE(result.converged);
      EXPECT_EQ(result.multiplicity[0], 1);
      return result.eigenvalues[0];
    };
    const double half = std::sin(M_PI / (2.0 * n)), rim = std::sin(M_PI / (2.0 * (n - 1)));
    EXPECT_NEAR(value(0) / (4 * half * half), 1, 1e-9) << n;
    EXPECT_NEAR(value(1) / (2 * rim * rim), 1, 1e-9) << n;
  }
}

TEST(ClosedForms, PathsVectorIsAHalfCosine) {
  const NodeId n = 2000;
  const std::vector<double> phi = solve_spectrum(dgat::test::path(n), {.gamma = 0}).phi(0.5);
  for (const NodeId i : {0, 1, 700, 1999}) {
    EXPECT_NEAR(phi[static_cast<size_t>(i)], std::sqrt(2.0 / n) * std::cos(M_PI * (i + 0.5) / n),
                1e-8);
  }
}

TEST(ClosedForms, GridTakesItsLongerSideAndASquareTwo) {
  const auto solve = [](NodeId h, NodeId w) {
    return solve_spectrum(dgat::test::grid(h, w), {.gamma = 0});
  };
  const double half = std::sin(M_PI / 80);
  const EigenResult longer = solve(13, 40), square = solve(40, 40);
  EXPECT_NEAR(longer.eigenvalues[0], 4 * half * half, 1e-13);
  EXPECT_EQ(longer.multiplicity[0], 1);
  EXPECT_NEAR(square.eigenvalues[0], 4 * half * half, 1e-13);
  EXPECT_EQ(square.multiplicity[0], 2);
}

TEST(ClosedForms, CompleteBipartiteGraphHasOneBetweenZeroAndTwo) {
  std::vector<Edge> edges;
  for (NodeId i = 0; i < 4; ++i) {
    for (NodeId j = 4; j < 10; ++j) edges.push_back({i, j});
  }
  const EigenResult result =
      solve_spectrum(graph::build_graph(10, edges).graph, {.gamma = 1, .k = 9});
  for (size_t m = 0; m < 8; ++m) {
    EXPECT_NEAR(result.eigenvalues[m], 1, 1e-13);
    EXPECT_EQ(result.multiplicity[m], 8);
  }
  EXPECT_NEAR(result.eigenvalues[8], 2, 1e-13) << "bipartite: the range is used up";
}

TEST(Theorem2, EigenvaluesStayWithinZeroAndTwoAndGrowWithGamma) {
  for (uint64_t seed = 0; seed < 5; ++seed) {
    const CsrGraph graph = dgat::test::random_connected_graph(60, 0.04, seed);
    std::vector<double> before(59, 0.0);
    for (const double gamma : {0.01, 0.1, 0.3, 0.7, 1.0}) {
      const EigenResult result = solve_spectrum(graph, {.gamma = gamma, .k = 59});
      for (size_t m = 0; m < 59; ++m) {
        EXPECT_GT(result.eigenvalues[m], before[m] * (1 + 1e-9));
        EXPECT_LE(result.eigenvalues[m], 2 + 1e-12);
      }
      before = result.eigenvalues;
    }
  }
}

}  // namespace
}  // namespace dgat::spectral
