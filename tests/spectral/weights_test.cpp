// The spectral part on weighted graphs: the definitions with A_ij = w_ij and D_ii = sum of w_ij.
#include <gtest/gtest.h>

#include <cmath>
#include <unsupported/Eigen/MatrixFunctions>

#include "dense_reference.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/spectral/cache.h"
#include "dgat/spectral/diffusion.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/spectral/laplacian.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

/// The same edges with weights between 0.1 and 10.
CsrGraph with_weights(const CsrGraph& graph, uint64_t seed, float factor = 1) {
  std::vector<float> weights(static_cast<size_t>(graph.edges()));
  Random random(seed);
  for (float& weight : weights) {
    weight = factor * static_cast<float>(std::pow(10, std::tanh(random.normal())));
  }
  return graph::build_graph(graph.nodes(), graph.edge_list(), weights).graph;
}

class WeightedFamily : public ::testing::TestWithParam<std::tuple<double, double>> {
 protected:
  const double alpha_ = std::get<0>(GetParam()), gamma_ = std::get<1>(GetParam());
};

TEST_P(WeightedFamily, AppliesItsDefinitionAndAnnihilatesItsNullVector) {
  const CsrGraph graph = with_weights(dgat::test::random_connected_graph(60, 0.1, 3), 5);
  const Laplacian L(graph, {.alpha = alpha_, .gamma = gamma_});
  const Eigen::MatrixXd dense = test::dense_laplacian(graph, alpha_, gamma_);
  std::vector<double> x(60), y(60);
  Random random(1);
  for (double& entry : x) entry = random.normal();
  L.apply(x, y);
  const Eigen::Map<const Eigen::VectorXd> in(x.data(), 60), out(y.data(), 60);
  EXPECT_LT((out - dense * in).norm(), 1e-13 * dense.norm() * in.norm());
  for (NodeId i = 0; i < 60; ++i) EXPECT_NEAR(L.diagonal(i), dense(i, i), 1e-13 * dense(i, i));
  L.apply(L.null_vector(), y);
  EXPECT_LT(out.norm(), 1e-14 * L.scale());
  if (alpha_ == 0.5) {
    EXPECT_NEAR(L.energy(x), in.dot(dense * in), 1e-12 * std::abs(in.dot(dense * in)));
  }
}

TEST_P(WeightedFamily, Theorem1PIsNonNegativeAndARandomWalkAtAlphaOne) {
  if (gamma_ == 0) GTEST_SKIP() << "P is defined for gamma > 0";
  const CsrGraph graph = with_weights(dgat::test::random_connected_graph(30, 0.2, 5), 6);
  const Eigen::MatrixXd P =
      Eigen::MatrixXd::Identity(30, 30) - test::dense_laplacian(graph, alpha_, gamma_);
  EXPECT_GE(P.minCoeff(), -1e-15);
  const Laplacian L(graph, {.alpha = 1, .gamma = gamma_});
  std::vector<double> y(30);
  L.apply(std::vector<double>(30, 1.0), y);
  EXPECT_EQ(y, std::vector<double>(30, 0.0));
}

TEST_P(WeightedFamily, DiffusionDistanceIsThatOfTheHeatKernelsRows) {
  const CsrGraph graph = with_weights(dgat::test::random_connected_graph(12, 0.2, 8), 2);
  const auto exact = DiffusionDistance::exact(graph, {.alpha = alpha_, .gamma = gamma_});
  const Eigen::MatrixXd H = (-0.7 * test::dense_laplacian(graph, alpha_, gamma_)).exp();
  // |H_i - H_j|^2 weighted by M^(1 - 2 alpha), without the stationary part.
  Eigen::VectorXd mass(12);
  for (NodeId i = 0; i < 12; ++i) mass[i] = gamma_ * graph.strength(i) + (1 - gamma_);
  const Eigen::VectorXd null = mass.array().pow(1 - alpha_);
  const double volume = mass.sum();
  for (NodeId j = 1; j < 12; ++j) {
    double sum = 0;
    for (NodeId k = 0; k < 12; ++k) {
      const double difference = H(0, k) - H(j, k);
      sum += difference * difference * std::pow(mass[k], 1 - 2 * alpha_);
    }
    sum -= (null[0] - null[j]) * (null[0] - null[j]) / volume;
    const double value = exact(0, j, 0.7).value;
    EXPECT_NEAR(value * value, sum, 1e-10 * (1 + mass.maxCoeff()));
  }
}

INSTANTIATE_TEST_SUITE_P(AlphaGamma, WeightedFamily,
                         ::testing::Combine(::testing::Values(0.0, 0.5, 1.0),
                                            ::testing::Values(0.0, 0.2, 1.0)),
                         [](const auto& tested) {
                           return dgat::test::family_name(std::get<0>(tested.param),
                                                          std::get<1>(tested.param));
                         });

TEST(Weights, EverySolverFindsTheDenseEigenvalues) {
  const CsrGraph graph = with_weights(dgat::test::random_connected_graph(300, 0.01, 4), 9);
  for (const double gamma : {0.0, 0.3, 1.0}) {
    const Eigen::VectorXd values = test::dense_eigenvalues(graph, gamma);
    for (const Solver solver :
         {Solver::kDense, Solver::kDavidson, Solver::kFactor, Solver::kMultigrid}) {
      const EigenResult result = solve_spectrum(graph, {.gamma = gamma, .k = 3, .solver = solver});
      EXPECT_TRUE(result.converged) << to_string(solver);
      for (int m = 0; m < 3; ++m) {
        EXPECT_NEAR(result.eigenvalues[static_cast<size_t>(m)], values[m + 1],
                    1e-9 * values[values.size() - 1])
            << to_string(solver) << " at gamma " << gamma;
      }
    }
  }
}

TEST(Weights, AConstantFactorChangesNothingAtGammaOne) {
  const CsrGraph plain = dgat::test::random_connected_graph(80, 0.05, 1);
  const CsrGraph once = with_weights(plain, 3), eightfold = with_weights(plain, 3, 8);
  const auto solve = [](const CsrGraph& graph) {
    return solve_spectrum(graph, {.gamma = 1, .k = 1, .solver = Solver::kDense});
  };
  EXPECT_NEAR(solve(once).eigenvalues[0], solve(eightfold).eigenvalues[0], 1e-12);
  EXPECT_GT(std::abs(solve(once).eigenvalues[0] - solve(plain).eigenvalues[0]), 1e-4);
}

TEST(Weights, ComponentsKeepTheirWeights) {
  const CsrGraph one = with_weights(dgat::test::random_connected_graph(40, 0.1, 2), 7);
  std::vector<Edge> edges = one.edge_list();
  std::vector<float> weights = one.edge_weights();
  edges.push_back({40, 41});  // a second component
  weights.push_back(5);
  const CsrGraph two = graph::build_graph(42, edges, weights).graph;
  const EigenResult alone = solve_spectrum(one, {.gamma = 0.3, .k = 1}),
                    beside = solve_spectrum(
                        two, {.gamma = 0.3, .k = 1, .components = ComponentPolicy::kLargest});
  EXPECT_NEAR(alone.eigenvalues[0], beside.eigenvalues[0], 1e-12);
}

TEST(Weights, NodesWithEqualNeighboursButOtherWeightsAreNoTwins) {
  // 3 and 4 are joined to node 0, with weights 1 and 2; 5 and 6 with equal weights.
  const std::vector<Edge> edges{{0, 1}, {1, 2}, {0, 3}, {0, 4}, {0, 5}, {0, 6}};
  const CsrGraph graph = graph::build_graph(7, edges, std::vector<float>{1, 1, 1, 2, 3, 3}).graph;
  const EigenResult result = solve_spectrum(graph, {.gamma = 0.3, .k = 1});
  ASSERT_TRUE(result.converged);
  const auto phi = result.phi(1);
  EXPECT_NE(phi[3], phi[4]);
  EXPECT_EQ(phi[5], phi[6]);
  EXPECT_LE(result.residuals[0], 1e-10);
}

TEST(Weights, StandInTheKeyOfTheCache) {
  const CsrGraph plain = dgat::test::path(5);
  EXPECT_NE(hash_graph(plain), hash_graph(with_weights(plain, 1)));
  EXPECT_NE(hash_graph(with_weights(plain, 2)), hash_graph(with_weights(plain, 1)));
}

}  // namespace
}  // namespace dgat::spectral
