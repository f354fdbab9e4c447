// The matrices of gcn, sage and pgcn on a weighted graph, by their definitions.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "dgat/graph/builder.h"
#include "nn/adjacency.h"

namespace dgat::nn {
namespace {

using graph::CsrGraph;
using graph::Edge;

constexpr int64_t kNodes = 4;

/// Node 3 is isolated.
CsrGraph weighted_graph() {
  return graph::build_graph(kNodes, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}},
                            std::vector<float>{2, 0.5F, 4})
      .graph;
}
CsrGraph plain_graph() {
  return graph::build_graph(kNodes, std::vector<Edge>{{0, 1}, {1, 2}, {0, 2}}).graph;
}
constexpr double kA[kNodes][kNodes] = {{0, 2, 4, 0}, {2, 0, 0.5, 0}, {4, 0.5, 0, 0}, {0, 0, 0, 0}};
constexpr double kD[kNodes] = {6, 2.5, 4.5, 0};

template <class Expected>
void expect_matrix(const tensor::SparseMatrix<double>& matrix, Expected&& expected) {
  const tensor::Matrix<double> dense = dense_copy(matrix);
  for (int64_t i = 0; i < kNodes; ++i) {
    for (int64_t j = 0; j < kNodes; ++j) {
      EXPECT_NEAR(dense(i, j), expected(i, j), 1e-15) << i << ", " << j;
    }
  }
}

TEST(EdgeWeights, StandInTheMatrixOfGcn) {
  expect_matrix(symmetric_adjacency<double>(weighted_graph(), true, EdgeWeights::kUsed),
                [](int64_t i, int64_t j) {
                  return (kA[i][j] + (i == j ? 1 : 0)) / std::sqrt((kD[i] + 1) * (kD[j] + 1));
                });
}

TEST(EdgeWeights, StandInTheMeanOfSage) {
  expect_matrix(mean_adjacency<double>(weighted_graph(), false, EdgeWeights::kUsed),
                [](int64_t i, int64_t j) { return kD[i] == 0 ? 0 : kA[i][j] / kD[i]; });
}

TEST(EdgeWeights, StandInTheOperatorOfPgcn) {
  for (const double gamma : {0.0, 0.3, 1.0}) {
    expect_matrix(laplacian_propagation<double>(weighted_graph(), gamma),
                  [gamma](int64_t i, int64_t j) {
                    const double mass = gamma * kD[i] + 1 - gamma;
                    if (mass == 0) return 0.0;
                    return (gamma * kA[i][j] + (i == j ? 1 - gamma : 0)) / mass;
                  });
  }
}

TEST(EdgeWeights, AreLeftOutOfTheMatricesOfOtherModels) {
  const auto equal = [](const auto& a, const auto& b) {
    const auto x = dense_copy(a), y = dense_copy(b);
    for (int64_t i = 0; i < kNodes; ++i) {
      for (int64_t j = 0; j < kNodes; ++j) EXPECT_EQ(x(i, j), y(i, j));
    }
  };
  equal(symmetric_adjacency<double>(weighted_graph(), true),
        symmetric_adjacency<double>(plain_graph(), true));
  equal(mean_adjacency<double>(weighted_graph(), true),
        mean_adjacency<double>(plain_graph(), true));
}

}  // namespace
}  // namespace dgat::nn
