// Every operation gives the same bits, forward and backward, with 1, 2 and 4 threads. Shapes are
// odd and large enough that each operation cuts them into several blocks.
#include <gtest/gtest.h>

#include <functional>

#include "dgat/core/parallel.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/sparse.h"
#include "support/gradcheck.h"
#include "support/tiny_graphs.h"

namespace dgat::tensor {
namespace {

constexpr int64_t kRows = 1201, kCols = 131;
using F = Var<float>;
using Inputs = std::vector<F>;

struct Operation {
  const char* name;
  std::vector<std::pair<int64_t, int64_t>> shapes;
  std::function<F(Tape<float>&, const Inputs&)> run;
};

const MessageGraph& star_graph() {
  static const MessageGraph graph =
      MessageGraph::from(test::star(static_cast<graph::NodeId>(kRows) - 1), true);
  return graph;
}
const SparseMatrix<float>& star_matrix() {
  static const SparseMatrix<float> matrix = [] {
    const MessageGraph& g = star_graph();
    const std::vector<float> values(static_cast<size_t>(g.arcs()), 0.25f);
    return SparseMatrix<float>(g.nodes(), g.nodes(), g.offsets(), g.senders(), values);
  }();
  return matrix;
}

std::vector<Operation> operations() {
  const std::pair<int64_t, int64_t> big{kRows, kCols}, row{1, kCols};
  const int64_t arcs = star_graph().arcs();
  static const std::vector<int32_t> every = [] {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < kRows; ++i) ids.push_back(i);
    return ids;
  }();
  static const std::vector<int32_t> labels = [] {
    std::vector<int32_t> ids;
    for (int32_t i = 0; i < kRows; ++i) ids.push_back(i % 2);
    return ids;
  }();
  std::vector<Operation> all = {
      {"linear",
       {big, {67, kCols}, {1, 67}},
       [](auto& t, const Inputs& v) { return linear(t, v[0], v[1], v[2]); }},
      {"matmul",
       {big, {kCols, 67}},
       [](auto& t, const Inputs& v) { return matmul(t, v[0], v[1]); }},
      {"transpose", {big}, [](auto& t, const Inputs& v) { return transpose(t, v[0]); }},
      {"dropout", {big}, [](auto& t, const Inputs& v) { return dropout(t, v[0], 0.3); }},
      {"dropout_gelu", {big}, [](auto& t, const Inputs& v) { return dropout_gelu(t, v[0], 0.3); }},
      {"add_dropout",
       {big, big},
       [](auto& t, const Inputs& v) { return add_dropout(t, v[0], v[1], 0.3); }},
      {"add", {big, big}, [](auto& t, const Inputs& v) { return add(t, v[0], v[1]); }},
      {"add_bias", {big, row}, [](auto& t, const Inputs& v) { return add_bias(t, v[0], v[1]); }},
      {"multiply", {big, big}, [](auto& t, const Inputs& v) { return multiply(t, v[0], v[1]); }},
      {"scale", {big}, [](auto& t, const Inputs& v) { return scale(t, v[0], 0.7); }},
      {"scale_by", {big, {1, 1}}, [](auto& t, const Inputs& v) { return scale_by(t, v[0], v[1]); }},
      {"scale_rows",
       {big, {kRows, 1}},
       [](auto& t, const Inputs& v) { return scale_rows(t, v[0], v[1]); }},
      {"abs", {big}, [](auto& t, const Inputs& v) { return abs(t, v[0]); }},
      {"scale_columns",
       {big, row},
       [](auto& t, const Inputs& v) { return scale_columns(t, v[0], v[1]); }},
      {"gram", {{5003, 17}}, [](auto& t, const Inputs& v) { return gram(t, v[0]); }},
      {"softmax", {big}, [](auto& t, const Inputs& v) { return softmax(t, v[0]); }},
      {"log_softmax", {big}, [](auto& t, const Inputs& v) { return log_softmax(t, v[0]); }},
      {"layer_norm",
       {big, row, row},
       [](auto& t, const Inputs& v) { return layer_norm(t, v[0], v[1], v[2]); }},
      {"batch_norm",
       {big, row, row},
       [](auto& t, const Inputs& v) {
         BatchNormState<float> state;
         return batch_norm(t, v[0], v[1], v[2], state);
       }},
      {"batch_norm_relu_dropout",
       {big, big, row, row},
       [](auto& t, const Inputs& v) {
         BatchNormState<float> state;
         return batch_norm_relu_dropout(t, v[0], v[1], v[2], v[3], state, 0.3);
       }},
      {"relu_dropout", {big}, [](auto& t, const Inputs& v) { return relu_dropout(t, v[0], 0.3); }},
      {"head_dots",
       {{5003, 24}, {3, 8}},
       [](auto& t, const Inputs& v) { return head_dots(t, v[0], v[1]); }},
      {"row_l2_normalize",
       {big},
       [](auto& t, const Inputs& v) { return row_l2_normalize(t, v[0]); }},
      {"concat_columns",
       {big, {kRows, 3}},
       [](auto& t, const Inputs& v) {
         return concat_columns<float>(t, {v[0], v[1]});
       }},
      {"slice_columns",
       {big},
       [](auto& t, const Inputs& v) { return slice_columns(t, v[0], 3, 99); }},
      {"gather_rows",
       {big},
       [](auto& t, const Inputs& v) { return gather_rows<float>(t, v[0], labels); }},
      {"mean_column_groups",
       {{kRows, 132}},
       [](auto& t, const Inputs& v) { return mean_column_groups(t, v[0], 4); }},
      {"spmm", {big}, [](auto& t, const Inputs& v) { return spmm(t, star_matrix(), v[0]); }},
      {"sparse_linear",
       {big, row},
       [](auto& t, const Inputs& v) { return sparse_linear(t, star_matrix(), v[0], v[1]); }},
      {"sparse_linear_with_dropout",
       {big, row},
       [](auto& t, const Inputs& v) {
         return sparse_linear(t, star_matrix(), v[0], v[1], {0.3, t.next_random_stream()});
       }},
      {"edge_additive_scores",
       {{kRows, 3}, {kRows, 3}},
       [](auto& t, const Inputs& v) { return edge_additive_scores(t, star_graph(), v[0], v[1]); }},
      {"edge_gatv2_scores",
       {{kRows, 33}, {kRows, 33}, {3, 11}},
       [](auto& t, const Inputs& v) {
         return edge_gatv2_scores(t, star_graph(), v[0], v[1], v[2]);
       }},
      {"edge_dot_scores",
       {{kRows, 33}, {kRows, 33}},
       [](auto& t, const Inputs& v) {
         return edge_dot_scores(t, star_graph(), v[0], v[1], 3, 0.3);
       }},
      {"edge_softmax",
       {{arcs, 3}},
       [](auto& t, const Inputs& v) { return edge_softmax(t, star_graph(), v[0]); }},
      {"edge_aggregate",
       {{arcs, 3}, {kRows, 33}},
       [](auto& t, const Inputs& v) { return edge_aggregate(t, star_graph(), v[0], v[1]); }},
      {"cross_entropy",
       {big},
       [](auto& t, const Inputs& v) { return cross_entropy<float>(t, v[0], labels, every); }},
      {"binary_cross_entropy",
       {{kRows, 1}},
       [](auto& t, const Inputs& v) {
         return binary_cross_entropy<float>(t, v[0], labels, every);
       }},
      {"mean", {big}, [](auto& t, const Inputs& v) { return mean(t, v[0]); }},
  };
  for (const auto& [name, activation] :
       {std::pair{"gelu", Activation::kGelu}, std::pair{"elu", Activation::kElu},
        std::pair{"relu", Activation::kRelu}, std::pair{"leaky_relu", Activation::kLeakyRelu},
        std::pair{"tanh", Activation::kTanh}, std::pair{"sigmoid", Activation::kSigmoid}}) {
    all.push_back({name, {big}, [activation = activation](auto& t, const Inputs& v) {
                     return activate(t, v[0], activation);
                   }});
  }
  return all;
}

class EveryOperation : public testing::TestWithParam<size_t> {};

TEST_P(EveryOperation, SameBitsWithOneTwoAndFourThreads) {
  const Operation op = operations()[GetParam()];
  std::vector<Parameter<float>> parameters;
  for (const auto& [rows, cols] : op.shapes) {
    parameters.push_back(test::random_parameter<float>(rows, cols, parameters.size() + 1));
  }
  std::vector<std::vector<float>> reference;
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    Tape<float> tape({.training = true, .seed = 9, .step = 4});
    Inputs inputs;
    for (auto& parameter : parameters) {
      parameter.clear_grad();
      inputs.push_back(tape.parameter(parameter));
    }
    const F out = op.run(tape, inputs);
    std::vector<std::vector<float>> now;
    now.emplace_back(out.value().values().begin(), out.value().values().end());
    tape.backward(test::probe(tape, out));
    for (const auto& parameter : parameters) {
      now.emplace_back(parameter.grad.values().begin(), parameter.grad.values().end());
    }
    if (threads == 1)
      reference = std::move(now);
    else
      EXPECT_EQ(now, reference) << threads << " threads";
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, EveryOperation, testing::Range<size_t>(0, operations().size()),
                         [](const auto& tested) {
                           return std::string(operations()[tested.param].name);
                         });

}  // namespace
}  // namespace dgat::tensor
