#include "dgat/spectral/laplacian.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dense_reference.h"
#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<double> random_vector(NodeId n, uint64_t seed) {
  std::vector<double> x(static_cast<size_t>(n));
  Random random(seed);
  for (double& entry : x) entry = random.normal();
  return x;
}

Eigen::Map<const Eigen::VectorXd> as_eigen(const std::vector<double>& x) {
  return {x.data(), static_cast<Eigen::Index>(x.size())};
}

class LaplacianFamily : public ::testing::TestWithParam<std::tuple<double, double>> {
 protected:
  const double alpha_ = std::get<0>(GetParam()), gamma_ = std::get<1>(GetParam());
};

TEST_P(LaplacianFamily, AppliesItsDefinition) {
  const CsrGraph graph = dgat::test::random_graph(40, 0.1, 3);  // has isolated nodes, too
  const Laplacian L(graph, {.alpha = alpha_, .gamma = gamma_});
  const std::vector<double> x = random_vector(40, 1);
  std::vector<double> y(40);
  L.apply(x, y);
  const Eigen::MatrixXd dense = test::dense_laplacian(graph, alpha_, gamma_);
  EXPECT_LT((as_eigen(y) - dense * as_eigen(x)).norm(), 1e-13 * (1 + dense.norm()));
  for (NodeId i = 0; i < 40; ++i)
    EXPECT_NEAR(L.diagonal(i), dense(i, i), 1e-14 * (1 + dense(i, i)));
}

TEST_P(LaplacianFamily, AnnihilatesItsNullVector) {
  const CsrGraph graph = dgat::test::random_connected_graph(60, 0.05, 4);
  const Laplacian L(graph, {.alpha = alpha_, .gamma = gamma_});
  const std::vector<double> v = L.null_vector();
  std::vector<double> y(60);
  L.apply(v, y);
  EXPECT_NEAR(as_eigen(v).norm(), 1, 1e-14);
  EXPECT_LT(as_eigen(y).norm(), 1e-15 * L.scale());
}

TEST_P(LaplacianFamily, Theorem1PIsNonNegativeAndARandomWalkAtAlphaOne) {
  if (gamma_ == 0) GTEST_SKIP() << "P is defined for gamma > 0";
  const CsrGraph graph = dgat::test::random_connected_graph(30, 0.2, 5);
  const Eigen::MatrixXd P =
      Eigen::MatrixXd::Identity(30, 30) - test::dense_laplacian(graph, alpha_, gamma_);
  EXPECT_GE(P.minCoeff(), -1e-15);
  const Laplacian L(graph, {.alpha = 1, .gamma = gamma_});
  const std::vector<double> ones(30, 1.0);
  std::vector<double> y(30);
  L.apply(ones, y);
  EXPECT_EQ(y, std::vector<double>(30, 0.0)) << "P 1 = 1 exactly: differences of ones are zero";
}

INSTANTIATE_TEST_SUITE_P(AlphaGamma, LaplacianFamily,
                         ::testing::Combine(::testing::Values(0.0, 0.3, 0.5, 1.0),
                                            ::testing::Values(0.0, 0.01, 0.5, 1.0)),
                         [](const auto& tested) {
                           return dgat::test::family_name(std::get<0>(tested.param),
                                                          std::get<1>(tested.param));
                         });

TEST(Laplacian, EnergyIsTheQuadraticForm) {
  const CsrGraph graph = dgat::test::random_connected_graph(50, 0.1, 6);
  for (const double gamma : {0.0, 0.2, 1.0}) {
    const Laplacian S(graph, {.gamma = gamma});
    const std::vector<double> x = random_vector(50, 2);
    std::vector<double> y(50);
    S.apply(x, y);
    const double expected = as_eigen(x).dot(as_eigen(y));
    EXPECT_NEAR(S.energy(x), expected, 1e-13 * expected);
  }
}

TEST(Laplacian, KeepsTheDigitsOfSmoothVectors) {
  // On a path of 1e5 nodes D - A maps cos to 1e-9 times cos: what a plain row sum would lose.
  const NodeId n = 100'000;
  const CsrGraph graph = dgat::test::path(n);
  const Laplacian L(graph, {.gamma = 0});
  std::vector<double> x(static_cast<size_t>(n)), y(static_cast<size_t>(n));
  for (NodeId i = 0; i < n; ++i) x[static_cast<size_t>(i)] = std::cos(M_PI * (i + 0.5) / n);
  const double sine = std::sin(M_PI / (2.0 * n)), lambda = 4 * sine * sine;
  EXPECT_NEAR(L.energy(x) / as_eigen(x).squaredNorm() / lambda, 1, 1e-9);
}

TEST(Laplacian, GivesTheSameBitsAtEveryThreadCount) {
  const CsrGraph graph = dgat::test::grid(400, 500);
  const std::vector<double> x = random_vector(200'000, 7);
  const auto run = [&](int threads) {
    const ThreadScope scope(threads);
    const Laplacian S(graph, {.gamma = 0.3});
    std::vector<double> y(200'000);
    S.apply(x, y);
    y.push_back(S.energy(x));
    return y;
  };
  EXPECT_EQ(run(1), run(3));
}

TEST(Laplacian, RefusesWhatItIsNotDefinedFor) {
  const CsrGraph graph = dgat::test::path(3);
  EXPECT_THAT([&] { Laplacian(graph, {.alpha = 1.5}); },
              ThrowsMessage<InputError>(HasSubstr("alpha must lie in [0, 1], got 1.5")));
  EXPECT_THAT([&] { Laplacian(graph, {.gamma = -0.1}); },
              ThrowsMessage<InputError>(HasSubstr("gamma must lie in [0, 1], got -0.1")));
  const std::vector<graph::Edge> arcs = {{0, 1}};
  const CsrGraph directed = graph::build_graph(2, arcs, {.directed = true}).graph;
  EXPECT_THAT([&] { Laplacian{directed}; }, ThrowsMessage<InputError>(HasSubstr("symmetrise")));
}

}  // namespace
}  // namespace dgat::spectral
