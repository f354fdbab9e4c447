// Every method against a dense decomposition, and against one another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dense_reference.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"
#include "solver_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += (a[i] - b[i]) * (a[i] - b[i]);
  return std::sqrt(sum);
}

/// A random core with a tail of `tail` nodes: phi sits at the end of the tail.
CsrGraph graph_with_tail(NodeId core, NodeId tail, uint64_t seed) {
  std::vector<Edge> edges = dgat::test::random_connected_graph(core, 0.05, seed).edge_list();
  for (NodeId i = core; i < core + tail; ++i) edges.push_back({i, i == core ? 0 : i - 1});
  return graph::build_graph(core + tail, edges).graph;
}

class EverySolver : public ::testing::TestWithParam<std::tuple<Solver, double>> {
 protected:
  const Solver solver_ = std::get<0>(GetParam());
  const double gamma_ = std::get<1>(GetParam());

  EigenResult solve(const CsrGraph& graph, int k, Solver solver) const {
    EigenResult result = solve_spectrum(graph, {.gamma = gamma_, .k = k, .solver = solver});
    EXPECT_TRUE(result.converged) << to_string(solver);
    return result;
  }
  /// Same values as the full decomposition, same phi as the dense solver up to the angle bounds.
  void expect_agreement(const CsrGraph& graph, int k) const {
    const EigenResult ours = solve(graph, k, solver_), dense = solve(graph, k, Solver::kDense);
    const Eigen::VectorXd values = test::dense_eigenvalues(graph, gamma_);
    double angle = 1e-9;
    for (int m = 0; m < k; ++m) {
      const auto at = static_cast<size_t>(m);
      EXPECT_NEAR(ours.eigenvalues[at], values[m + 1], 1e-9 * values[values.size() - 1]);
      EXPECT_LE(ours.residuals[at], 1e-8);
      EXPECT_LE(ours.angle_bounds[at], 1e-6);
      EXPECT_EQ(ours.multiplicity[at], dense.multiplicity[at]);
      angle += 2 * (ours.angle_bounds[at] + dense.angle_bounds[at]);
    }
    for (const double alpha : {0.0, 0.5, 1.0}) {
      EXPECT_LT(distance(ours.phi(alpha), dense.phi(alpha)), 10 * angle) << "alpha " << alpha;
    }
  }
};

TEST_P(EverySolver, MatchesTheDenseDecompositionOnRandomGraphs) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    expect_agreement(dgat::test::random_connected_graph(170, 0.02, seed), 3);
  }
}

TEST_P(EverySolver, FindsAVectorThatHidesInATail) {
  expect_agreement(graph_with_tail(250, 6, 1), 2);
}

TEST_P(EverySolver, ChoosesTheSameVectorOfADoubleEigenvalue) {
  const CsrGraph square = dgat::test::grid(14, 14);
  expect_agreement(square, 1);
  expect_agreement(square, 3);
}

TEST_P(EverySolver, ChoosesTheSameVectorAmongManyEqualOnes) {
  const CsrGraph star = dgat::test::star(200);
  const EigenResult ours = solve(star, 2, solver_), dense = solve(star, 2, Solver::kDense);
  EXPECT_GE(ours.multiplicity[0], 9);
  EXPECT_EQ(dense.multiplicity[0], 199);
  EXPECT_LT(distance(ours.phi(0.5), dense.phi(0.5)), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(SolversAndGamma, EverySolver,
                         ::testing::Combine(::testing::Values(Solver::kFactor, Solver::kMultigrid,
                                                              Solver::kDavidson, Solver::kLanczos,
                                                              Solver::kAuto),
                                            ::testing::Values(0.0, 0.01, 0.3, 1.0)),
                         solver_name);

TEST(Eigensolver, CountsEveryCopy) {
  // Equal arms at a hub: the smallest value has one copy less than there are arms.
  for (const NodeId arms : {2, 3, 4, 5, 8}) {
    std::vector<Edge> edges;
    for (NodeId arm = 0; arm < arms; ++arm) {
      for (NodeId i = 0; i < 30; ++i) {
        const NodeId node = 1 + arm * 30 + i;
        edges.push_back({i == 0 ? 0 : node - 1, node});
      }
    }
    const CsrGraph graph = graph::build_graph(arms * 30 + 1, edges).graph;
    const EigenResult dense =
        solve_spectrum(graph, {.gamma = 0.5, .k = 2, .solver = Solver::kDense});
    for (const Solver solver :
         {Solver::kFactor, Solver::kMultigrid, Solver::kDavidson, Solver::kLanczos}) {
      const EigenResult result = solve_spectrum(graph, {.gamma = 0.5, .k = 2, .solver = solver});
      EXPECT_TRUE(result.converged) << to_string(solver);
      EXPECT_EQ(result.multiplicity[0], arms - 1) << to_string(solver);
      EXPECT_LT(distance(result.phi(0.5), dense.phi(0.5)), 1e-5) << to_string(solver);
    }
  }
}

TEST(Eigensolver, FactorProvesThatNothingSmallerExists) {
  const EigenResult result = solve_spectrum(dgat::test::grid(20, 31), {.solver = Solver::kFactor});
  EXPECT_TRUE(result.parts[0].certified);
  const EigenResult star = solve_spectrum(dgat::test::star(200), {.solver = Solver::kFactor});
  EXPECT_EQ(star.multiplicity[0], 199) << "the count gives the exact number of copies";
}

TEST(Eigensolver, GivesTheSameBitsAtEveryThreadCount) {
  const CsrGraph mesh = dgat::test::grid(200, 210);
  const CsrGraph random = [] {
    std::vector<Edge> edges;
    Random numbers(5);
    for (NodeId i = 1; i < 40'000; ++i) {
      for (int e = 0; e < 4; ++e) {
        edges.push_back({i, static_cast<NodeId>(numbers.below(static_cast<uint64_t>(i)))});
      }
    }
    // A tail sets phi apart from the rest: quick to find.
    for (NodeId i = 40'000; i < 40'008; ++i) edges.push_back({i, i - 1});
    return graph::build_graph(40'008, edges).graph;
  }();
  const auto run = [](const CsrGraph& graph, Solver solver, int threads) {
    const ThreadScope scope(threads);
    const EigenResult result =
        solve_spectrum(graph, {.gamma = 0.3, .solver = solver, .tolerance = 1e-8, .accept = 1e-6});
    EXPECT_TRUE(result.converged);
    return result.vectors;
  };
  EXPECT_EQ(run(mesh, Solver::kMultigrid, 1), run(mesh, Solver::kMultigrid, 3));
  EXPECT_EQ(run(mesh, Solver::kFactor, 1), run(mesh, Solver::kFactor, 3));
  EXPECT_EQ(run(random, Solver::kDavidson, 1), run(random, Solver::kDavidson, 3));
}

TEST(Eigensolver, SaysSoWhenItMissesTheTolerance) {
  const EigenResult result =
      solve_spectrum(dgat::test::random_connected_graph(200, 0.05, 1),
                     {.solver = Solver::kFactor, .tolerance = 1e-30, .accept = 1e-30});
  EXPECT_FALSE(result.converged);
  EXPECT_GT(result.residuals[0], 1e-30);
}

TEST(Eigensolver, StopsWhenAskedTo) {
  request_interrupt();
  EXPECT_THROW(solve_spectrum(dgat::test::ring(500)), Interrupted);
  request_interrupt(false);
  EXPECT_TRUE(solve_spectrum(dgat::test::ring(500)).converged);
}

TEST(Eigensolver, ExplainsWhatItRefuses) {
  const CsrGraph graph = dgat::test::ring(10);
  EXPECT_THAT([&] { solve_spectrum(graph, {.gamma = 1.1}); },
              ThrowsMessage<InputError>(HasSubstr("gamma must lie in [0, 1], got 1.1")));
  EXPECT_THAT([&] { solve_spectrum(graph, {.k = 0}); },
              ThrowsMessage<InputError>(HasSubstr("must lie in [1, 1000], got 0")));
  EXPECT_THAT([] { solver_from("arpack"); },
              ThrowsMessage<InputError>(HasSubstr("choose one of auto, dense, factor")));
  EXPECT_THAT([] { component_policy_from("all"); },
              ThrowsMessage<InputError>(HasSubstr("each, first, largest")));
  EXPECT_THAT([&] { solve_spectrum(graph).phi(2); },
              ThrowsMessage<InputError>(HasSubstr("alpha must lie in [0, 1], got 2")));
  EXPECT_THAT(
      [] {
        solve_spectrum(dgat::test::random_connected_graph(300, 0.3, 1),
                       {.solver = Solver::kFactor, .factor_bytes = 1000});
      },
      ThrowsMessage<ComputeError>(HasSubstr("exceeds the budget")));
}

TEST(ParticipationRatio, IsTheShareOfNodesThatTakePart) {
  EXPECT_NEAR(participation_ratio(std::vector<double>(50, -0.3)), 1, 1e-12);
  std::vector<double> quarter(100, 0.0);
  for (size_t i = 0; i < 25; ++i) quarter[4 * i] = 2;
  EXPECT_DOUBLE_EQ(participation_ratio(quarter), 0.25);
  EXPECT_EQ(participation_ratio(std::vector<double>(3, 0.0)), 0);
}

}  // namespace
}  // namespace dgat::spectral
