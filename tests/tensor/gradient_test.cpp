// Every operation's gradient against central differences in double.
#include <gtest/gtest.h>

#include "dgat/core/random.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/sparse.h"
#include "support/gradcheck.h"
#include "support/tiny_graphs.h"

namespace dgat::tensor {
namespace {
using test::expect_gradients;
using Tp = Tape<double>;
using Vs = std::vector<Var<double>>;

std::vector<Matrix<double>> random_inputs(std::initializer_list<std::pair<int, int>> shapes) {
  std::vector<Matrix<double>> result;
  uint64_t seed = 1;
  for (const auto& [rows, cols] : shapes) {
    result.push_back(test::random_matrix<double>(rows, cols, seed++));
  }
  return result;
}

TEST(Gradient, Linear) {
  expect_gradients(random_inputs({{7, 3}, {5, 3}, {1, 5}}),
                   [](Tp& t, const Vs& v) { return linear(t, v[0], v[1], v[2]); });
}
TEST(Gradient, MatmulAndTranspose) {
  expect_gradients(random_inputs({{4, 3}, {5, 3}}),
                   [](Tp& t, const Vs& v) { return matmul(t, v[0], transpose(t, v[1])); });
}
TEST(Gradient, ActivationsAcrossTheirKinks) {
  for (const Activation a : {Activation::kGelu, Activation::kElu, Activation::kRelu,
                             Activation::kLeakyRelu, Activation::kTanh, Activation::kSigmoid}) {
    SCOPED_TRACE(static_cast<int>(a));
    expect_gradients(random_inputs({{9, 7}}),
                     [a](Tp& t, const Vs& v) { return activate(t, v[0], a, 0.3); });
  }
}
TEST(Gradient, DropoutInAllItsForms) {
  expect_gradients(random_inputs({{13, 11}}),
                   [](Tp& t, const Vs& v) { return dropout(t, v[0], 0.4); });
  expect_gradients(random_inputs({{13, 11}}),
                   [](Tp& t, const Vs& v) { return dropout_gelu(t, v[0], 0.4); });
  expect_gradients(random_inputs({{13, 11}, {13, 11}}),
                   [](Tp& t, const Vs& v) { return add_dropout(t, v[0], v[1], 0.4); });
}
TEST(Gradient, HeadDotsAroundTheVectorLengths) {
  for (const auto& [heads, d] : {std::pair{1, 5}, {3, 4}, {8, 2}, {8, 8}, {2, 9}}) {
    SCOPED_TRACE(heads * 100 + d);
    expect_gradients(random_inputs({{7, heads * d}, {heads, d}}),
                     [](Tp& t, const Vs& v) { return head_dots(t, v[0], v[1]); });
  }
  // Twice from one input: the second gradient is added to the first.
  expect_gradients(random_inputs({{7, 6}, {2, 3}, {2, 3}}), [](Tp& t, const Vs& v) {
    return add(t, head_dots(t, v[0], v[1]), head_dots(t, v[0], v[2]));
  });
}
TEST(Gradient, Arithmetic) {
  expect_gradients(random_inputs({{5, 4}, {5, 4}}),
                   [](Tp& t, const Vs& v) { return add(t, v[0], v[1]); });
  expect_gradients(random_inputs({{5, 4}}), [](Tp& t, const Vs& v) { return add(t, v[0], v[0]); });
  expect_gradients(random_inputs({{5, 4}, {1, 4}}),
                   [](Tp& t, const Vs& v) { return add_bias(t, v[0], v[1]); });
  expect_gradients(random_inputs({{5, 4}, {5, 4}}),
                   [](Tp& t, const Vs& v) { return multiply(t, v[0], v[1]); });
  expect_gradients(random_inputs({{5, 4}}), [](Tp& t, const Vs& v) { return scale(t, v[0], -2); });
  expect_gradients(random_inputs({{5, 4}, {1, 1}}),
                   [](Tp& t, const Vs& v) { return scale_by(t, v[0], v[1]); });
  expect_gradients(random_inputs({{5, 4}, {5, 1}}),
                   [](Tp& t, const Vs& v) { return scale_rows(t, v[0], v[1]); });
}
TEST(Gradient, AbsoluteValueAndColumnFactors) {
  expect_gradients(random_inputs({{5, 4}}), [](Tp& t, const Vs& v) { return abs(t, v[0]); });
  expect_gradients(random_inputs({{5, 4}, {1, 4}}),
                   [](Tp& t, const Vs& v) { return scale_columns(t, v[0], v[1]); });
}
TEST(Gradient, GramAndInverse) {
  expect_gradients(random_inputs({{9, 4}}), [](Tp& t, const Vs& v) { return gram(t, v[0]); });
  expect_gradients(random_inputs({{9, 4}}),
                   [](Tp& t, const Vs& v) { return spd_inverse(t, gram(t, v[0])); });
}
TEST(Gradient, RowOperations) {
  expect_gradients(random_inputs({{5, 6}}), [](Tp& t, const Vs& v) { return softmax(t, v[0]); });
  expect_gradients(random_inputs({{5, 6}}),
                   [](Tp& t, const Vs& v) { return log_softmax(t, v[0]); });
  expect_gradients(random_inputs({{5, 6}}),
                   [](Tp& t, const Vs& v) { return row_l2_normalize(t, v[0]); });
  expect_gradients(random_inputs({{5, 37}, {1, 37}, {1, 37}}),
                   [](Tp& t, const Vs& v) { return layer_norm(t, v[0], v[1], v[2]); });
}
TEST(Gradient, LayerNormAddsToAResidual) {
  expect_gradients(random_inputs({{5, 6}, {1, 6}, {1, 6}}), [](Tp& t, const Vs& v) {
    return add_dropout(t, v[0], layer_norm(t, v[0], v[1], v[2]), 0.25);
  });
}
TEST(Gradient, BatchNorm) {
  expect_gradients(random_inputs({{8, 3}, {1, 3}, {1, 3}}), [](Tp& t, const Vs& v) {
    BatchNormState<double> state;
    return batch_norm(t, v[0], v[1], v[2], state);
  });
}
TEST(Gradient, BatchNormReluDropout) {
  for (const double p : {0.0, 0.3}) {
    expect_gradients(random_inputs({{9, 5}, {9, 5}, {1, 5}, {1, 5}}), [p](Tp& t, const Vs& v) {
      BatchNormState<double> state;
      return batch_norm_relu_dropout(t, v[0], v[1], v[2], v[3], state, p);
    });
    expect_gradients(random_inputs({{9, 5}, {1, 5}, {1, 5}}), [p](Tp& t, const Vs& v) {
      BatchNormState<double> state;
      return batch_norm_relu_dropout(t, v[0], {}, v[1], v[2], state, p);
    });
    expect_gradients(random_inputs({{9, 5}}),
                     [p](Tp& t, const Vs& v) { return relu_dropout(t, v[0], p); });
  }
}
TEST(Gradient, ShapeOperations) {
  expect_gradients(random_inputs({{4, 2}, {4, 3}}), [](Tp& t, const Vs& v) {
    return concat_columns<double>(t, {v[0], v[1], v[0]});
  });
  expect_gradients(random_inputs({{4, 5}}),
                   [](Tp& t, const Vs& v) { return slice_columns(t, v[0], 1, 4); });
  const std::vector<int32_t> rows = {3, 0, 3, 1};
  expect_gradients(random_inputs({{5, 3}}),
                   [&](Tp& t, const Vs& v) { return gather_rows<double>(t, v[0], rows); });
  expect_gradients(random_inputs({{4, 6}}),
                   [](Tp& t, const Vs& v) { return mean_column_groups(t, v[0], 3); });
}
TEST(Gradient, SparseProducts) {
  const SparseMatrix<double> s(3, 5, std::vector<int64_t>{0, 2, 2, 5},
                               std::vector<int32_t>{4, 0, 1, 2, 4},
                               std::vector<double>{1.5, -2, 0.5, 3, 1});
  expect_gradients(random_inputs({{5, 4}}), [&](Tp& t, const Vs& v) { return spmm(t, s, v[0]); });
  expect_gradients(random_inputs({{5, 4}, {1, 4}}),
                   [&](Tp& t, const Vs& v) { return sparse_linear(t, s, v[0], v[1]); });
  expect_gradients(random_inputs({{5, 4}, {1, 4}}), [&](Tp& t, const Vs& v) {
    return sparse_linear(t, s, v[0], v[1], {0.4, t.next_random_stream()});
  });
}
TEST(Gradient, EdgeOperations) {
  const MessageGraph graph = MessageGraph::from(test::random_graph(9, 0.3, 4), false);
  const int n = static_cast<int>(graph.nodes()), m = static_cast<int>(graph.arcs());
  expect_gradients(random_inputs({{n, 2}, {n, 2}}),
                   [&](Tp& t, const Vs& v) { return edge_additive_scores(t, graph, v[0], v[1]); });
  expect_gradients(random_inputs({{n, 6}, {n, 6}, {2, 3}}), [&](Tp& t, const Vs& v) {
    return edge_gatv2_scores(t, graph, v[0], v[1], v[2]);
  });
  expect_gradients(random_inputs({{n, 6}, {n, 6}}), [&](Tp& t, const Vs& v) {
    return edge_dot_scores(t, graph, v[0], v[1], 2, 0.7);
  });
  expect_gradients(random_inputs({{m, 2}}),
                   [&](Tp& t, const Vs& v) { return edge_softmax(t, graph, v[0]); });
  expect_gradients(random_inputs({{m, 2}, {n, 6}}),
                   [&](Tp& t, const Vs& v) { return edge_aggregate(t, graph, v[0], v[1]); });
}
TEST(Gradient, Losses) {
  const std::vector<int32_t> labels = {2, 0, 1, 2, 1}, rows = {0, 2, 4}, binary = {1, 0, 1, 1, 0};
  expect_gradients(random_inputs({{5, 3}}), [&](Tp& t, const Vs& v) {
    return cross_entropy<double>(t, v[0], labels, rows);
  });
  expect_gradients(random_inputs({{5, 1}}), [&](Tp& t, const Vs& v) {
    return binary_cross_entropy<double>(t, v[0], binary, rows);
  });
}

}  // namespace
}  // namespace dgat::tensor
