// The operator of the authors' code against its definition, written out with dense matrices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dense_reference.h"
#include "dgat/core/error.h"
#include "dgat/spectral/cache.h"
#include "dgat/spectral/eigensolver.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// gamma M^-alpha (D~ - A~) M^(1-alpha) of A~ = A + I, whose self loops count twice in D~ = D + 2I.
Eigen::MatrixXd written_out(const CsrGraph& graph, double alpha, double gamma) {
  const auto n = graph.nodes();
  Eigen::MatrixXd adjacency = Eigen::MatrixXd::Identity(n, n);
  Eigen::VectorXd degree = Eigen::VectorXd::Constant(n, 2);
  for (graph::NodeId i = 0; i < n; ++i) {
    for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
      adjacency(i, graph.targets()[static_cast<size_t>(e)]) += graph.weight(e);
      degree[i] += graph.weight(e);
    }
  }
  const Eigen::VectorXd mass = gamma * degree.array() + (1 - gamma);
  const Eigen::MatrixXd difference = Eigen::MatrixXd(degree.asDiagonal()) - adjacency;
  const Eigen::VectorXd left = mass.array().pow(-alpha), right = mass.array().pow(1 - alpha);
  return gamma * left.asDiagonal() * difference * right.asDiagonal();
}

EigenResult solve(const CsrGraph& graph, double alpha, double gamma, int k) {
  return solve_spectrum(graph,
                        {.formula = Formula::kAuthors, .gamma = gamma, .alpha = alpha, .k = k});
}

class AuthorsLaplacian : public ::testing::TestWithParam<std::tuple<double, double, int>> {};

TEST_P(AuthorsLaplacian, PairsAfterTheFirstAreThoseOfItsDefinition) {
  const auto [alpha, gamma, nodes] = GetParam();  // 60: dense; 700: Lanczos
  const CsrGraph graph = dgat::test::random_connected_graph(nodes, 4.0 / nodes, 5);
  const EigenResult result = solve(graph, alpha, gamma, 3);
  ASSERT_TRUE(result.converged);
  const Eigen::MatrixXd L = written_out(graph, alpha, gamma);
  Eigen::VectorXd values = Eigen::EigenSolver<Eigen::MatrixXd>(L, false).eigenvalues().real();
  std::ranges::sort(values);
  const std::vector<double> phi = result.phi(alpha);
  for (int m = 0; m < 3; ++m) {
    const double value = result.eigenvalues[static_cast<size_t>(m)];
    EXPECT_NEAR(value, values[m + 1], 1e-8 * values.maxCoeff()) << m;
    const Eigen::Map<const Eigen::VectorXd> v(phi.data() + m * nodes, nodes);
    EXPECT_NEAR(v.norm(), 1, 1e-12);
    EXPECT_LT((L * v - value * v).norm(), 1e-7 * L.norm()) << m;
  }
}

INSTANTIATE_TEST_SUITE_P(AlphaGamma, AuthorsLaplacian,
                         ::testing::Values(std::tuple(1.0, 0.3, 60), std::tuple(0.5, 1.0, 60),
                                           std::tuple(0.0, 0.5, 60), std::tuple(0.7, 0.1, 700)),
                         [](const auto& info) { return "case_" + std::to_string(info.index); });

TEST(AuthorsLaplacianOnParts, EveryComponentHasItsOwnVectorAndSingleNodesHaveNone) {
  const CsrGraph graph = dgat::test::random_graph(40, 0.05, 3);
  const EigenResult result = solve(graph, 1, 0.3, 1);
  ASSERT_GT(result.isolated, 0);
  for (graph::NodeId i = 0; i < 40; ++i) {
    if (graph.degree(i) == 0) {
      EXPECT_EQ(result.phi(1)[static_cast<size_t>(i)], 0) << i;
    }
  }
}

TEST(AuthorsLaplacianOnParts, TheCacheKeepsTheFamiliesApart) {
  const CsrGraph graph = dgat::test::random_connected_graph(30, 0.1, 2);
  SpectralCache cache;
  const auto paper = cache.solve(graph, {.gamma = 0.3});
  const auto authors = cache.solve(graph, {.formula = Formula::kAuthors, .gamma = 0.3});
  const auto other = cache.solve(graph, {.formula = Formula::kAuthors, .gamma = 0.3, .alpha = 0.5});
  EXPECT_NE(paper->eigenvalues, authors->eigenvalues);
  EXPECT_NE(authors->eigenvalues, other->eigenvalues);
}

TEST(AuthorsLaplacianOnParts, GammaZeroIsRefused) {
  const CsrGraph graph = dgat::test::random_connected_graph(10, 0.3, 2);
  EXPECT_THAT([&] { solve(graph, 1, 0, 1); }, ThrowsMessage<InputError>(HasSubstr("gamma 0")));
}

}  // namespace
}  // namespace dgat::spectral
