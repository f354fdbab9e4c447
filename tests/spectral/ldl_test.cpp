#include "spectral/ldl.h"

#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>

#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

Eigen::MatrixXd dense(const CsrGraph& graph, std::span<const double> x) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(graph.nodes(), graph.nodes());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    matrix(i, i) = x[static_cast<size_t>(i)];
    for (const NodeId j : graph.neighbors(i)) matrix(i, j) = -1;
  }
  return matrix;
}

TEST(SparseLdl, SolvesAndCountsNegativeEigenvalues) {
  const CsrGraph graph = test::random_connected_graph(60, 0.08, 3);
  std::vector<double> x(60), b(60), y(60);
  for (size_t i = 0; i < 60; ++i) {
    x[i] = 2 * std::cos(static_cast<double>(i));
    b[i] = std::sin(static_cast<double>(i));
  }
  SparseLdl factor(graph, 10'000);
  ASSERT_TRUE(factor.fits());
  factor.factorise(x, false);
  factor.solve(b, y);
  const Eigen::MatrixXd matrix = dense(graph, x);
  const Eigen::Map<const Eigen::VectorXd> right(b.data(), 60), solution(y.data(), 60);
  EXPECT_LT((matrix * solution - right).norm(), 1e-10);
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> spectrum(matrix);
  EXPECT_EQ(factor.negative_pivots(), (spectrum.eigenvalues().array() < 0).count());
}

TEST(SparseLdl, AGroundedFactorInvertsTheLaplacianUpToAConstant) {
  const CsrGraph graph = test::grid(7, 9);
  const auto n = static_cast<size_t>(graph.nodes());
  std::vector<double> degree(n), b(n, 0.0), y(n);
  for (size_t i = 0; i < n; ++i) {
    degree[i] = static_cast<double>(graph.degree(static_cast<NodeId>(i)));
  }
  b[3] = 1;
  b[40] = -1;
  SparseLdl factor(graph, 10'000);
  factor.factorise(degree, true);
  factor.solve(b, y);
  const Eigen::Map<const Eigen::VectorXd> right(b.data(), graph.nodes()),
      solution(y.data(), graph.nodes());
  EXPECT_LT((dense(graph, degree) * solution - right).norm(), 1e-12);
}

// The adjacency matrix of a path of four nodes has a zero diagonal and two positive eigenvalues.
TEST(SparseLdl, APivotOfZeroDoesNotSpoilTheCount) {
  const CsrGraph graph = test::path(4);
  SparseLdl factor(graph, 10);
  factor.factorise(std::vector<double>(4, 0.0), false);
  EXPECT_EQ(factor.negative_pivots(), 2);
}

TEST(SparseLdl, SaysThatAFactorDoesNotFitBeforeItIsMade) {
  EXPECT_FALSE(SparseLdl(test::complete(30), 100).fits());
  const SparseLdl tree(test::star(30), 30);
  EXPECT_TRUE(tree.fits()) << "a tree has no fill";
  EXPECT_EQ(tree.operations(), 30);
}

}  // namespace
}  // namespace dgat::spectral
