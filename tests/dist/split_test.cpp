// Operations on split rows have the bits of the same operations on whole matrices.
#include "dgat/tensor/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "dgat/dist/threads.h"
#include "dgat/tensor/attention.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/sparse.h"
#include "support/emulated_tiles.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {
using test::random_matrix;
using testing::ElementsAreArray;

constexpr int kRanks[] = {2, 3, 4, 8};

void expect_rows(const dist::RowShare& share, const Matrix<float>& part,
                 const Matrix<float>& whole) {
  const Matrix<float> expected = own_rows(share, whole);
  ASSERT_TRUE(part.same_shape(expected));
  EXPECT_THAT(part.values(), ElementsAreArray(expected.values()));
}

struct Shape {
  int64_t rows, in, out;
};
// Small ones that no library sees, and large ones that are cut in all three ways.
constexpr Shape kShapes[] = {{1, 3, 2},       {37, 8, 5},      {183, 64, 64}, {700, 8, 2},
                             {2000, 64, 8},   {1000, 512, 33}, {785, 96, 64}, {300, 1700, 64},
                             {5000, 96, 128}, {70000, 8, 2}};

TEST(SplitProducts, HaveTheBitsOfWholeOnes) {
  for (const Shape& shape : kShapes) {
    const auto x = random_matrix<float>(shape.rows, shape.in, 1);
    const auto w = random_matrix<float>(shape.out, shape.in, 2);
    const auto v = random_matrix<float>(shape.in, shape.out, 3);
    const auto g = random_matrix<float>(shape.rows, shape.out, 4);
    const auto bias = random_matrix<float>(1, shape.out, 5);
    for (const bool add : {false, true}) {
      Matrix<float> y(shape.rows, shape.out), dw(shape.out, shape.in), sums(1, shape.out);
      multiply_transposed_into(x, w, y, {}, &bias);
      Matrix<float> z = g.clone();
      multiply_into(x, v, z, {.accumulate = add});
      if (add) {
        dw = w.clone();
        sums = bias.clone();
      }
      transposed_multiply_into(g, x, dw, {.accumulate = add});
      column_sums_into(g, sums, add);
      for (const int count : kRanks) {
        dist::run_ranks(count, [&](dist::Communicator& ranks) {
          SCOPED_TRACE(testing::Message() << shape.rows << " x " << shape.in << " x " << shape.out
                                          << " on " << count << " ranks");
          const dist::RowShare share = dist::share_of(ranks, shape.rows);
          const auto own = own_rows(share, x), own_g = own_rows(share, g);
          Matrix<float> own_y(own.rows(), shape.out), own_z = own_g.clone();
          multiply_transposed_into(own, w, own_y, {.share = share}, &bias);
          expect_rows(share, own_y, y);
          multiply_into(own, v, own_z, {.accumulate = add, .share = share});
          expect_rows(share, own_z, z);
          Matrix<float> all_dw = w.clone(), all_sums = bias.clone();
          transposed_multiply_into(own_g, own, all_dw, {.accumulate = add, .share = share});
          EXPECT_THAT(all_dw.values(), ElementsAreArray(dw.values()));
          column_sums_into(own_g, all_sums, add, share);
          EXPECT_THAT(all_sums.values(), ElementsAreArray(sums.values()));
        });
      }
    }
  }
}

TEST(SplitProducts, HaveTheBitsOfWholeOnesInBf16) {
  const test::EmulatedTiles tiles;
  for (const Shape& shape : {Shape{1000, 160, 110}, Shape{300, 128, 160}}) {
    const auto x = random_matrix<float>(shape.rows, shape.in, 1);
    const auto w = random_matrix<float>(shape.out, shape.in, 2);
    const auto g = random_matrix<float>(shape.rows, shape.out, 4);
    ProductOptions options{.precision = Precision::kBf16};
    Matrix<float> y(shape.rows, shape.out), dx(shape.rows, shape.in), dw(shape.out, shape.in);
    multiply_transposed_into(x, w, y, options);
    multiply_into(g, w, dx, options);
    transposed_multiply_into(g, x, dw, options);
    for (const int count : {2, 3}) {
      dist::run_ranks(count, [&](dist::Communicator& ranks) {
        ProductOptions split{.share = dist::share_of(ranks, shape.rows),
                             .precision = Precision::kBf16};
        const auto own = own_rows(split.share, x), own_g = own_rows(split.share, g);
        Matrix<float> own_y(own.rows(), shape.out), own_dx(own.rows(), shape.in);
        Matrix<float> all_dw(shape.out, shape.in);
        multiply_transposed_into(own, w, own_y, split);
        multiply_into(own_g, w, own_dx, split);
        transposed_multiply_into(own_g, own, all_dw, split);
        expect_rows(split.share, own_y, y);
        expect_rows(split.share, own_dx, dx);
        EXPECT_THAT(all_dw.values(), ElementsAreArray(dw.values()));
      });
    }
  }
}

/// A graph with an isolated node, a hub of 1500 neighbours (longer than a piece) and random arcs.
MessageGraph test_graph(int64_t nodes) {
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> senders;
  Random random(7);
  for (int64_t i = 0; i < nodes; ++i) {
    const int64_t degree = i == 3 ? 0 : i == 40 ? 1500 : 1 + i % 5;
    for (int64_t e = 0; e < degree; ++e) {
      const int64_t j = i % 7 == 0 ? 40 : static_cast<int64_t>(random.uniform() * nodes);
      senders.push_back(static_cast<int32_t>(i == 40 ? e % nodes : j));
    }
    offsets.push_back(std::ssize(senders));
  }
  return MessageGraph(std::move(offsets), std::move(senders));
}

enum class Attention { kAdditive, kGatv2, kDotProduct };

/// A layer with everything that crosses rows: norm, linear maps, attention over a graph with edge
/// features, dropout, picked rows, loss. Gives the loss and the gradients of all parameters.
std::vector<float> layer(Tape<float>& tape, const Var<float>& x, const MessageGraph& graph,
                         const Matrix<float>& features, Attention kind) {
  constexpr int64_t kWidth = 64, kHeads = 8;
  std::vector<Parameter<float>> p;
  const auto add_parameter = [&](int64_t rows, int64_t cols) {
    p.push_back(test::random_parameter<float>(rows, cols, 20 + p.size(), 0.3));
  };
  add_parameter(1, kWidth), add_parameter(1, kWidth), add_parameter(kWidth, kWidth);
  add_parameter(1, kWidth), add_parameter(kHeads, kWidth), add_parameter(kHeads, kWidth);
  add_parameter(kHeads, 2), add_parameter(1, kHeads), add_parameter(3, kWidth);
  add_parameter(kHeads, kWidth / kHeads);
  const auto use = [&](size_t i) { return tape.parameter(p[i]); };
  std::vector<int32_t> wanted, labels;
  for (int32_t i = 0; i < 2000; ++i) {
    if (i % 3 != 1) wanted.push_back((i * 7) % 2000);  // not in order
  }
  for (size_t i = 0; i < wanted.size(); ++i) labels.push_back(static_cast<int32_t>(i % 3));
  const Var<float> norm = layer_norm(tape, x, use(0), use(1));
  const Var<float> y = linear(tape, norm, use(2), use(3));
  const EdgeTerm<float> edge{&features, use(6), use(7)};
  const AttentionOptions heads{.heads = kHeads};
  Var<float> message;
  switch (kind) {
    case Attention::kAdditive:
      message = additive_attention(tape, graph, y, linear(tape, y, use(4)), linear(tape, y, use(5)),
                                   edge, heads);
      break;
    case Attention::kGatv2:
      message = gatv2_attention(tape, graph, norm, y, use(9), edge, heads);
      break;
    case Attention::kDotProduct:
      message = dot_attention(tape, graph, y, norm, y, edge, heads);
  }
  message = add_dropout(tape, x, dropout_gelu(tape, message, 0.2), 0.3);
  const Var<float> logits = linear(tape, gather_rows(tape, message, wanted), use(8));
  const Var<float> loss = cross_entropy(tape, logits, labels);
  std::vector<float> result(loss.value().data(), loss.value().data() + 1);
  tape.backward(loss);
  for (const auto& parameter : p) {
    if (!parameter.has_grad) continue;
    result.insert(result.end(), parameter.grad.values().begin(), parameter.grad.values().end());
  }
  return result;
}

class SplitLayer : public testing::TestWithParam<Attention> {};

TEST_P(SplitLayer, HasTheLossAndTheGradientsOfAWholeOne) {
  constexpr int64_t kNodes = 2000;
  const MessageGraph graph = test_graph(kNodes);
  const auto features = random_matrix<float>(graph.arcs(), 2, 11);
  Parameter<float> in = test::random_parameter<float>(64, 16, 12);
  const auto inputs = random_matrix<float>(kNodes, 16, 13);
  const TapeOptions options{.training = true, .seed = 3, .step = 5};
  Tape<float> tape(options);
  const std::vector<float> expected = layer(
      tape, linear(tape, tape.reference(inputs), tape.parameter(in)), graph, features, GetParam());
  const Matrix<float> expected_in = in.grad.clone();
  for (const int count : kRanks) {
    dist::run_ranks(count, [&](dist::Communicator& ranks) {
      SCOPED_TRACE(count);
      const MessageGraph part = graph.part(ranks);
      const dist::RowShare share = dist::share_of(ranks, kNodes);
      const Matrix<float> own_inputs = own_rows(share, inputs);
      const Matrix<float> own_features = own_rows(part.share()->arcs, features);
      Parameter<float> own_in = test::random_parameter<float>(64, 16, 12);
      Tape<float> own(options);
      const Var<float> x = own.reference(own_inputs, share);
      EXPECT_THAT(layer(own, linear(own, x, own.parameter(own_in)), part, own_features, GetParam()),
                  ElementsAreArray(expected));
      EXPECT_THAT(own_in.grad.values(), ElementsAreArray(expected_in.values()));
    });
  }
}
std::string name_of(const testing::TestParamInfo<Attention>& tested) {
  constexpr std::array kNames = {"additive", "gatv2", "dot_product"};
  return kNames.at(static_cast<size_t>(tested.param));
}
INSTANTIATE_TEST_SUITE_P(All, SplitLayer,
                         testing::Values(Attention::kAdditive, Attention::kGatv2,
                                         Attention::kDotProduct),
                         name_of);

/// What the models with a network of their own use: values per arc, sums over all rows, products of
/// rows with small matrices, a weight per node. Gives the loss and the gradients of all parameters.
std::vector<float> operations(Tape<float>& tape, const Var<float>& x, const MessageGraph& graph,
                              const Matrix<float>& square) {
  constexpr int64_t kWidth = 6;
  std::vector<Parameter<float>> p;
  p.reserve(6);
  const auto parameter = [&](int64_t rows, int64_t cols) {
    p.push_back(test::random_parameter<float>(rows, cols, 40 + p.size(), 0.3));
    return tape.parameter(p.back());
  };
  const Var<float> scaled = scale_columns(tape, row_l2_normalize(tape, x), parameter(1, x.cols()));
  Var<float> h = matmul(tape, softmax(tape, scaled), parameter(x.cols(), kWidth));
  h = add(tape, h, rows_of_rank(tape, parameter(x.all_rows(), kWidth), x.share()));
  Matrix<float> unit = Matrix<float>::zeros(kWidth, kWidth);
  for (int64_t i = 0; i < kWidth; ++i) unit(i, i) = 900;
  const Var<float> ridge = add(tape, gram(tape, h), tape.constant(std::move(unit)));
  const Var<float> mixed = matmul(tape, h, spd_inverse(tape, ridge));
  h = add(tape, h, matmul(tape, tape.reference(square), mixed));
  const Var<float> scores = edge_additive_scores(tape, graph, linear(tape, h, parameter(1, kWidth)),
                                                 slice_columns(tape, mixed, 0, 1));
  const Var<float> gate = dropout(tape, activate(tape, scores, Activation::kSigmoid), 0.3);
  h = scale_by(tape, add(tape, h, edge_aggregate(tape, graph, gate, mixed)), parameter(1, 1));
  std::vector<int32_t> labels(static_cast<size_t>(x.all_rows())), some;
  for (size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<int32_t>(i % kWidth);
  for (size_t i = 1; i < labels.size(); i += 3) some.push_back(static_cast<int32_t>(i));
  std::vector<int32_t> arcs, agrees(static_cast<size_t>(scores.all_rows()));
  for (int32_t e = 0; e < std::ssize(agrees); e += 2) {
    arcs.push_back(e);
    agrees[static_cast<size_t>(e)] = e % 3 == 0 ? 1 : 0;
  }
  const Var<float> loss = add(tape, cross_entropy(tape, h, labels, some),
                              binary_cross_entropy(tape, scores, agrees, arcs));
  std::vector<float> result(loss.value().data(), loss.value().data() + 1);
  tape.backward(loss);
  for (const auto& each : p) {
    EXPECT_TRUE(each.has_grad) << each.name;
    result.insert(result.end(), each.grad.values().begin(), each.grad.values().end());
  }
  return result;
}

TEST(SplitOperations, HaveTheLossAndTheGradientsOfWholeOnes) {
  constexpr int64_t kNodes = 2000;
  const MessageGraph graph = test_graph(kNodes);
  const auto inputs = random_matrix<float>(kNodes, 12, 31);
  const auto square = random_matrix<float>(kNodes, kNodes, 32);
  const TapeOptions options{.training = true, .seed = 3, .step = 5};
  Tape<float> tape(options);
  const auto expected = operations(tape, tape.reference(inputs), graph, square);
  for (const int count : kRanks) {
    dist::run_ranks(count, [&](dist::Communicator& ranks) {
      SCOPED_TRACE(count);
      const dist::RowShare share = dist::share_of(ranks, kNodes);
      const Matrix<float> own_inputs = own_rows(share, inputs);
      const MessageGraph part = graph.part(ranks);
      Tape<float> own(options);
      EXPECT_THAT(operations(own, own.reference(own_inputs, share), part, square),
                  ElementsAreArray(expected));
    });
  }
}

TEST(SplitSparse, ProductsAndTheirGradientsHaveTheBitsOfWholeOnes) {
  constexpr int64_t kRows = 600, kFeatures = 90;
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns, nodes;
  std::vector<float> values;
  Random random(9);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t e = 0; e < i % 6; ++e) {
      columns.push_back(static_cast<int32_t>(random.uniform() * kFeatures));
      nodes.push_back(static_cast<int32_t>(random.uniform() * kRows));
      values.push_back(static_cast<float>(random.uniform()));
    }
    offsets.push_back(std::ssize(columns));
  }
  const SparseMatrix<float> features(kRows, kFeatures, offsets, columns, values);
  const SparseMatrix<float> adjacency(kRows, kRows, offsets, nodes, values);
  const auto train = [](Tape<float>& tape, const SparseMatrix<float>& x,
                        const SparseMatrix<float>& a) {
    auto weight = test::random_parameter<float>(kFeatures, 32, 1);
    auto bias = test::random_parameter<float>(1, 32, 2);
    const Var<float> y =
        spmm(tape, a, sparse_linear(tape, x, tape.parameter(weight), tape.parameter(bias)));
    const std::vector<int32_t> labels(kRows, 4);
    const Var<float> loss = cross_entropy(tape, y, labels);
    tape.backward(loss);
    std::vector<float> all(weight.grad.values().begin(), weight.grad.values().end());
    all.insert(all.end(), bias.grad.values().begin(), bias.grad.values().end());
    all.push_back(loss.value()(0, 0));
    return all;
  };
  Tape<float> tape({.training = true});
  const std::vector<float> expected = train(tape, features, adjacency);
  for (const int count : kRanks) {
    dist::run_ranks(count, [&](dist::Communicator& ranks) {
      Tape<float> own({.training = true});
      EXPECT_THAT(train(own, features.part(ranks, false), adjacency.part(ranks, true)),
                  ElementsAreArray(expected));
    });
  }
}

}  // namespace
}  // namespace dgat::tensor
