#include "dgat/spectral/diffusion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

#include "dgat/core/error.h"
#include "dgat/graph/components.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;
using graph::CsrGraph;
using graph::NodeId;

/// The diagonal of M; the test graphs have no isolated nodes.
VectorXd masses(const CsrGraph& graph, double gamma) {
  VectorXd mass(graph.nodes());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    mass[i] = gamma * static_cast<double>(graph.degree(i)) + 1 - gamma;
  }
  return mass;
}

/// L(alpha,gamma) from its definition.
MatrixXd laplacian(const CsrGraph& graph, double alpha, double gamma) {
  MatrixXd difference = MatrixXd::Zero(graph.nodes(), graph.nodes());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    difference(i, i) = static_cast<double>(graph.degree(i));
    for (const NodeId j : graph.neighbors(i)) difference(i, j) = -1;
  }
  const VectorXd mass = masses(graph, gamma);
  return (gamma == 0 ? 1 : gamma) * mass.array().pow(-alpha).matrix().asDiagonal() * difference *
         mass.array().pow(alpha - 1).matrix().asDiagonal();
}

/// exp(-t L) by its power series on a small step, squared.
MatrixXd heat_kernel(const MatrixXd& L, double t) {
  constexpr int kSquarings = 8;
  const MatrixXd step = L * (-t / (1 << kSquarings));
  MatrixXd term = MatrixXd::Identity(L.rows(), L.cols()), sum = term;
  for (int n = 1; n < 20; ++n) sum += term = term * step / n;
  for (int s = 0; s < kSquarings; ++s) sum = sum * sum;
  return sum;
}

/// The K smallest positive pairs of the whole graph, as solve_spectrum() would return them.
EigenResult smallest_pairs(const CsrGraph& graph, double gamma, int count) {
  const Eigen::SelfAdjointEigenSolver<MatrixXd> dense(laplacian(graph, 0.5, gamma));
  const NodeId zeros = connected_components(graph).count();
  EigenResult result;
  result.nodes = graph.nodes();
  result.k = count;
  result.gamma = gamma;
  result.policy = ComponentPolicy::kFirst;
  result.components = zeros;
  result.converged = true;
  for (int k = 0; k < count; ++k) {
    result.eigenvalues.push_back(dense.eigenvalues()[zeros + k]);
    const VectorXd u = dense.eigenvectors().col(zeros + k);
    result.vectors.insert(result.vectors.end(), u.data(), u.data() + u.size());
  }
  return result;
}

struct Family {
  double alpha, gamma;
};
std::ostream& operator<<(std::ostream& out, const Family& family) {
  return out << "alpha " << family.alpha << " gamma " << family.gamma;
}

}  // namespace

class DiffusionFamily : public ::testing::TestWithParam<Family> {};

TEST_P(DiffusionFamily, ExactDistanceIsThatOfTheHeatKernelsRows) {
  const auto [alpha, gamma] = GetParam();
  for (const CsrGraph& graph :
       {test::random_connected_graph(14, 0.2, 5), test::barbell(4, 2),
        test::disjoint_union(test::random_connected_graph(6, 0.3, 1), test::ring(5))}) {
    const auto exact = DiffusionDistance::exact(graph, {.alpha = alpha, .gamma = gamma});
    const VectorXd mass = masses(graph, gamma);
    const VectorXd weight = mass.array().pow(1 - 2 * alpha);
    const VectorXd stationary = mass.array().pow(1 - alpha) / std::sqrt(mass.sum());
    for (const double t : {0.0, 0.3, 2.0}) {
      const MatrixXd kernel = heat_kernel(laplacian(graph, alpha, gamma), t);
      for (NodeId i = 0; i < graph.nodes(); ++i) {
        for (NodeId j = 0; j < graph.nodes(); ++j) {
          const VectorXd apart = kernel.row(i) - kernel.row(j);
          const double squared =
              apart.cwiseAbs2().dot(weight) - std::pow(stationary[i] - stationary[j], 2);
          const DiffusionValue d = exact(i, j, t);
          EXPECT_NEAR(d.value * d.value, squared, 1e-10) << i << " " << j << " t " << t;
          EXPECT_EQ(d.lower, d.value);
          EXPECT_EQ(d.upper, d.value);
        }
      }
    }
  }
}

TEST_P(DiffusionFamily, TruncatedBoundsEncloseTheExactValueAndShrink) {
  const auto [alpha, gamma] = GetParam();
  for (const CsrGraph& graph : {test::random_connected_graph(24, 0.1, 7),
                                test::disjoint_union(test::path(9), test::star(6))}) {
    const auto exact = DiffusionDistance::exact(graph, {.alpha = alpha, .gamma = gamma});
    double previous_width = 1e300;
    for (const int pairs : {1, 4, 10}) {
      const auto truncated =
          DiffusionDistance::truncated(graph, smallest_pairs(graph, gamma, pairs), alpha);
      double width = 0;
      for (const double t : {0.0, 0.5, 3.0}) {
        for (NodeId i = 0; i < graph.nodes(); ++i) {
          for (NodeId j = 0; j < i; ++j) {
            const double truth = exact(i, j, t).value;
            const DiffusionValue d = truncated(i, j, t);
            const double slack = 1e-7;  // square root of the rounding in a squared distance near 0
            EXPECT_LE(d.lower, truth + slack);
            EXPECT_GE(d.upper, truth - slack);
            EXPECT_LE(d.value, truth + slack);
            if (t == 0) {
              EXPECT_NEAR(d.lower, d.upper, slack) << "all shares are known at t = 0";
            }
            width += d.upper - d.lower;
          }
        }
      }
      EXPECT_LT(width, previous_width);
      previous_width = width;
    }
  }
}

TEST_P(DiffusionFamily, Theorem3OrderOfSpectralDistancesRulesBeyondC) {
  const auto [alpha, gamma] = GetParam();
  int triples = 0, reversed_before = 0;
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const CsrGraph graph = test::random_connected_graph(12, 0.15, seed);
    const auto exact = DiffusionDistance::exact(graph, {.alpha = alpha, .gamma = gamma});
    const auto truncated =
        DiffusionDistance::truncated(graph, smallest_pairs(graph, gamma, 3), alpha);
    for (NodeId i = 0; i < 12; ++i) {
      for (NodeId j = 0; j < 12; ++j) {
        for (NodeId m = 0; m < 12; ++m) {
          const auto C = exact.order_time(m, i, j);
          if (!C) continue;
          ++triples;
          const double start = std::max(*C, 0.0) * (1 + 1e-9) + 1e-6;
          for (const double t : {start, start + 1, start + 4}) {
            EXPECT_LT(exact(m, j, t).value, exact(i, j, t).value)
                << "seed " << seed << " m " << m << " i " << i << " j " << j << " t " << t;
          }
          if (exact(m, j, 0).value > exact(i, j, 0).value) ++reversed_before;
          const auto larger = truncated.order_time(m, i, j);
          ASSERT_TRUE(larger.has_value());
          EXPECT_GE(*larger, *C - 1e-9);
        }
      }
    }
  }
  EXPECT_GT(triples, 1000);
  EXPECT_GT(reversed_before, 0) << "the constant must matter somewhere";
}

INSTANTIATE_TEST_SUITE_P(AlphaGamma, DiffusionFamily,
                         ::testing::Values(Family{1, 1}, Family{1, 0.3}, Family{0.5, 1},
                                           Family{0, 0.5}, Family{0.7, 0}),
                         [](const auto& tested) {
                           return dgat::test::family_name(tested.param.alpha, tested.param.gamma);
                         });

TEST(DiffusionDistance, FromTheSolversPairsIsEnclosedToo) {
  const CsrGraph graph =
      test::disjoint_union(test::random_connected_graph(40, 0.08, 3), test::grid(4, 5));
  const EigenResult pairs =
      solve_spectrum(graph, {.gamma = 0.4, .k = 6, .components = ComponentPolicy::kFirst});
  const auto truncated = DiffusionDistance::truncated(graph, pairs, 1);
  const auto exact = DiffusionDistance::exact(graph, {.alpha = 1, .gamma = 0.4});
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    for (NodeId j = 0; j < i; ++j) {
      const DiffusionValue d = truncated(i, j, 2.0);
      EXPECT_LE(d.lower, exact(i, j, 2.0).value + 1e-7);
      EXPECT_GE(d.upper, exact(i, j, 2.0).value - 1e-7);
    }
  }
}

TEST(DiffusionDistance, OnARingIsTheClosedForm) {
  // phi_k are the Fourier modes; lambda_k = 1 - cos(2 pi k / n), M = 2 at gamma = 1
  constexpr NodeId kNodes = 11;
  const auto exact = DiffusionDistance::exact(test::ring(kNodes), {.alpha = 1, .gamma = 1});
  for (const double t : {0.0, 1.0, 5.0}) {
    for (NodeId j = 1; j < kNodes; ++j) {
      double squared = 0;
      for (int k = 1; k < kNodes; ++k) {
        const double angle = 2 * std::numbers::pi * k / kNodes;
        squared += std::exp(-2 * t * (1 - std::cos(angle))) * (2 - 2 * std::cos(angle * j)) /
                   (2.0 * kNodes);
      }
      EXPECT_NEAR(exact(0, j, t).value, std::sqrt(squared), 1e-12);
    }
  }
}

TEST(DiffusionDistance, BetweenComponentsNeverVanishes) {
  const CsrGraph graph = test::disjoint_union(test::complete(3), test::complete(3));
  const auto exact = DiffusionDistance::exact(graph, {.alpha = 1, .gamma = 1});
  EXPECT_NEAR(exact(0, 1, 50).value, 0, 1e-12);
  EXPECT_NEAR(exact(0, 3, 50).value, std::sqrt(2.0 / 6), 1e-12);  // each cloud on volume 6
  EXPECT_EQ(exact.order_time(1, 3, 0), std::nullopt);
}

TEST(DiffusionDistance, OfARepeatedEigenvalueHasNoOrderTime) {
  const auto exact = DiffusionDistance::exact(test::ring(8), {.alpha = 1, .gamma = 1});
  EXPECT_EQ(exact.order_time(1, 4, 0), std::nullopt);
}

TEST(DiffusionDistance, SmallestGraphsWork) {
  EXPECT_TRUE(DiffusionDistance::exact(CsrGraph(), {}).eigenvalues().empty());
  const CsrGraph two_isolated({0, 0, 0}, {}, false);
  const auto exact = DiffusionDistance::exact(two_isolated, {.alpha = 1, .gamma = 1});
  EXPECT_EQ(exact(0, 0, 1).value, 0);
  EXPECT_NEAR(exact(0, 1, 1).value, std::sqrt(2.0), 1e-12);
}

TEST(DiffusionDistance, RefusesWhatItCannotDo) {
  using ::testing::HasSubstr;
  using ::testing::ThrowsMessage;
  EXPECT_THAT([] { DiffusionDistance::exact(test::path(2001), {}); },
              ThrowsMessage<InputError>(HasSubstr("at most 2000 nodes, got 2001")));
  EXPECT_THAT([] { DiffusionDistance::exact(test::path(3), {.alpha = 2}); },
              ThrowsMessage<InputError>(HasSubstr("alpha must lie in [0, 1], got 2")));
  const CsrGraph two = test::disjoint_union(test::path(3), test::path(3));
  EigenResult pairs = smallest_pairs(two, 1, 2);
  pairs.policy = ComponentPolicy::kEach;
  EXPECT_THAT([&] { DiffusionDistance::truncated(two, pairs, 1); },
              ThrowsMessage<InputError>(HasSubstr("policy 'first'")));
  pairs.policy = ComponentPolicy::kFirst;
  pairs.converged = false;
  EXPECT_THAT([&] { DiffusionDistance::truncated(two, pairs, 1); },
              ThrowsMessage<InputError>(HasSubstr("did not converge")));
}

}  // namespace dgat::spectral
