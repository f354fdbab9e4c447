// What "the" eigenvector of a disconnected graph is.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dgat/graph/builder.h"
#include "dgat/spectral/eigensolver.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

double squares(const std::vector<double>& x, size_t begin, size_t end) {
  return std::inner_product(x.begin() + static_cast<ptrdiff_t>(begin),
                            x.begin() + static_cast<ptrdiff_t>(end),
                            x.begin() + static_cast<ptrdiff_t>(begin), 0.0);
}

/// Nodes 0-4: star; 5-14: path of ten (the largest, and the smallest eigenvalue); 15: isolated.
CsrGraph three_parts() {
  const CsrGraph two = dgat::test::disjoint_union(dgat::test::star(4), dgat::test::path(10));
  return graph::build_graph(16, two.edge_list()).graph;
}

TEST(Components, EachGetsItsOwnVectorAndItsShareOfTheNorm) {
  for (const double gamma : {0.0, 0.5, 1.0}) {
    const EigenResult result = solve_spectrum(three_parts(), {.gamma = gamma});
    const EigenResult star = solve_spectrum(dgat::test::star(4), {.gamma = gamma});
    const EigenResult path = solve_spectrum(dgat::test::path(10), {.gamma = gamma});
    EXPECT_EQ(result.components, 3);
    EXPECT_EQ(result.isolated, 1);
    EXPECT_DOUBLE_EQ(result.eigenvalues[0], path.eigenvalues[0]) << "the smallest of all";
    ASSERT_EQ(result.parts.size(), 2);
    EXPECT_DOUBLE_EQ(result.parts[1].eigenvalues[0], star.eigenvalues[0]);
    for (const double alpha : {0.0, 0.5, 1.0}) {
      const std::vector<double> phi = result.phi(alpha), own = path.phi(alpha);
      EXPECT_NEAR(squares(phi, 0, 5), 5.0 / 15, 1e-12);
      EXPECT_NEAR(squares(phi, 5, 15), 10.0 / 15, 1e-12);
      EXPECT_EQ(phi[15], 0);
      for (size_t i = 0; i < 10; ++i) EXPECT_NEAR(phi[5 + i], std::sqrt(10.0 / 15) * own[i], 1e-10);
    }
  }
}

TEST(Components, FirstAndLargestPutOneVectorOnOneComponent) {
  // The path is longer (smaller eigenvalue), the complete graph larger.
  const CsrGraph graph = dgat::test::disjoint_union(dgat::test::complete(20), dgat::test::path(10));
  const EigenResult first = solve_spectrum(graph, {.components = ComponentPolicy::kFirst});
  const EigenResult largest = solve_spectrum(graph, {.components = ComponentPolicy::kLargest});
  EXPECT_NEAR(squares(first.vectors, 20, 30), 1, 1e-12);
  EXPECT_NEAR(squares(largest.vectors, 0, 20), 1, 1e-12);
  EXPECT_EQ(squares(first.vectors, 0, 20) + squares(largest.vectors, 20, 30), 0);
  EXPECT_NEAR(largest.eigenvalues[0], 20.0 / 19, 1e-12);
}

TEST(Components, FirstMergesTheSpectraOfAll) {
  const CsrGraph graph = dgat::test::disjoint_union(dgat::test::path(9), dgat::test::path(10));
  const EigenResult result =
      solve_spectrum(graph, {.gamma = 0, .k = 3, .components = ComponentPolicy::kFirst});
  const auto value = [](int m, int n) { return 2 - 2 * std::cos(M_PI * m / n); };
  EXPECT_NEAR(result.eigenvalues[0], value(1, 10), 1e-13);
  EXPECT_NEAR(result.eigenvalues[1], value(1, 9), 1e-13);
  EXPECT_NEAR(result.eigenvalues[2], value(2, 10), 1e-13);
}

TEST(Components, AllPoliciesAgreeOnAConnectedGraph) {
  const CsrGraph graph = dgat::test::random_connected_graph(80, 0.05, 2);
  const EigenResult each = solve_spectrum(graph, {.k = 2});
  for (const auto policy : {ComponentPolicy::kFirst, ComponentPolicy::kLargest}) {
    const EigenResult other = solve_spectrum(graph, {.k = 2, .components = policy});
    EXPECT_EQ(other.vectors, each.vectors);
    EXPECT_EQ(other.eigenvalues, each.eigenvalues);
  }
}

TEST(Components, EqualComponentsTieToTheFirst) {
  const CsrGraph graph = dgat::test::disjoint_union(dgat::test::ring(12), dgat::test::ring(12));
  const EigenResult first = solve_spectrum(graph, {.components = ComponentPolicy::kFirst});
  EXPECT_NEAR(squares(first.vectors, 0, 12), 1, 1e-12);
}

TEST(Components, MissingPairsAreZeroNotNoise) {
  // k = 3: the edge has one positive eigenvalue, the triangle two, the path three.
  const CsrGraph graph = dgat::test::disjoint_union(
      dgat::test::disjoint_union(dgat::test::path(2), dgat::test::ring(3)), dgat::test::path(4));
  const EigenResult result = solve_spectrum(graph, {.k = 3});
  const std::vector<double> phi = result.phi(1);
  EXPECT_GT(squares(phi, 0, 2), 0.1);
  EXPECT_EQ(squares(phi, 9, 11), 0) << "the edge has no second pair";
  EXPECT_EQ(squares(phi, 18, 23), 0) << "only the path has a third";
  EXPECT_NEAR(squares(phi, 23, 27), 1, 1e-12);
}

TEST(Components, GraphsWithoutEdgesHaveNoDirection) {
  for (const NodeId n : {0, 1, 5}) {
    const EigenResult result = solve_spectrum(graph::build_graph(n, {}).graph, {.k = 2});
    EXPECT_TRUE(result.converged);
    EXPECT_EQ(result.eigenvalues, std::vector<double>(2, 0.0));
    EXPECT_EQ(result.multiplicity, std::vector<int>(2, 0));
    EXPECT_EQ(result.phi(0.5), std::vector<double>(2 * static_cast<size_t>(n), 0.0));
    EXPECT_EQ(result.solver, "none");
  }
}

TEST(Components, ManySmallOnesAreNoBurden) {
  std::vector<graph::Edge> edges;
  for (NodeId i = 0; i < 30'000; i += 3) edges.insert(edges.end(), {{i, i + 1}, {i + 1, i + 2}});
  const EigenResult result = solve_spectrum(graph::build_graph(30'000, edges).graph, {.gamma = 0});
  EXPECT_TRUE(result.converged);
  EXPECT_NEAR(result.eigenvalues[0], 1, 1e-13);
  const double share = std::sqrt(1.0 / 10'000);
  EXPECT_NEAR(result.vectors[29'997], share * std::sqrt(0.5), 1e-14);
}

TEST(Components, ARepeatedValueInAnyComponentIsSeen) {
  // The path has the smaller eigenvalue, and it is simple; that of the ring is double.
  const CsrGraph graph = dgat::test::disjoint_union(dgat::test::path(10), dgat::test::ring(6));
  const EigenResult each = solve_spectrum(graph);
  EXPECT_EQ(each.multiplicity[0], 1);
  EXPECT_EQ(each.repeated(0), 2);
  const CsrGraph twins = dgat::test::disjoint_union(dgat::test::path(8), dgat::test::path(8));
  EXPECT_EQ(solve_spectrum(twins).repeated(0), 1) << "each has its own";
  const EigenResult first = solve_spectrum(twins, {.components = ComponentPolicy::kFirst});
  EXPECT_EQ(first.multiplicity[0], 2) << "of the whole graph it is double";
}

TEST(Components, TheGapIsThatToTheNextEigenvalue) {
  const EigenResult result = solve_spectrum(dgat::test::path(10), {.gamma = 0, .k = 3});
  const auto value = [](int m) { return 2 - 2 * std::cos(M_PI * m / 10); };
  EXPECT_NEAR(result.gaps[0], value(2) - value(1), 1e-9) << "not that to zero, which is deflated";
  EXPECT_NEAR(result.gaps[1], value(2) - value(1), 1e-9) << "the nearer of two";
}

}  // namespace
}  // namespace dgat::spectral
