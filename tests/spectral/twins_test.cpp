#include <gtest/gtest.h>

#include <cmath>
#include <tuple>

#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"
#include "solver_names.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

constexpr NodeId kCore = 60;

/// A random graph with leaves 60, 61, 62 on node 0, two more nodes 63, 64 on nodes 3 and 4, and
/// the neighbouring pair 65, 66 on nodes 5 and 6.
CsrGraph graph_with_twins() {
  std::vector<Edge> edges = test::random_connected_graph(kCore, 0.05, 9).edge_list();
  for (const NodeId leaf : {60, 61, 62}) edges.push_back({leaf, 0});
  for (const NodeId twin : {63, 64}) edges.insert(edges.end(), {{twin, 3}, {twin, 4}});
  for (const NodeId twin : {65, 66}) edges.insert(edges.end(), {{twin, 5}, {twin, 6}});
  edges.push_back({65, 66});
  return graph::build_graph(67, edges).graph;
}

}  // namespace

class TwinsBySolver : public ::testing::TestWithParam<std::tuple<Solver, double>> {};

TEST_P(TwinsBySolver, HaveEqualEntriesToTheBit) {
  const auto [solver, gamma] = GetParam();
  const EigenResult result =
      solve_spectrum(graph_with_twins(), {.gamma = gamma, .k = 2, .solver = solver});
  ASSERT_TRUE(result.converged);
  for (const double alpha : {0.0, 0.3, 1.0}) {
    const std::vector<double> phi = result.phi(alpha);
    for (const size_t vector : {0, 67}) {
      EXPECT_EQ(phi[vector + 60], phi[vector + 61]);
      EXPECT_EQ(phi[vector + 60], phi[vector + 62]);
      EXPECT_EQ(phi[vector + 63], phi[vector + 64]);
      EXPECT_EQ(phi[vector + 65], phi[vector + 66]);
      EXPECT_NE(phi[vector + 60], phi[vector + 63]);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, TwinsBySolver,
                         ::testing::Combine(::testing::Values(Solver::kDense, Solver::kFactor,
                                                              Solver::kDavidson, Solver::kLanczos),
                                            ::testing::Values(0.0, 0.4, 1.0)),
                         solver_name);

TEST(Twins, MayDifferWhereTheirDifferenceIsAnEigenvector) {
  // Star leaves, all nodes of a complete graph, and the ends of an edge are twins; phi tells them
  // apart, and must not be averaged away.
  for (const CsrGraph& graph : {test::star(5), test::complete(6), test::path(2)}) {
    for (const double gamma : {0.0, 0.5, 1.0}) {
      const EigenResult result = solve_spectrum(graph, {.gamma = gamma});
      double square = 0;
      for (const double x : result.vectors) square += x * x;
      EXPECT_NEAR(square, 1, 1e-12);
      EXPECT_TRUE(result.converged);
      EXPECT_LT(result.residuals[0], 1e-8);
    }
  }
}

}  // namespace dgat::spectral
