#include "dgat/tensor/sparse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/adam.h"
#include "dgat/tensor/ops.h"
#include "support/gradcheck.h"
#include "support/tiny_graphs.h"

namespace dgat::tensor {
namespace {

/// A random sparse matrix with a full row (longer than one piece), an empty row, an empty column.
SparseMatrix<float> random_sparse(int64_t rows, int64_t cols) {
  Random random(3);
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 1; j < cols; ++j) {
      if (i == 1 || (i != 2 && random.uniform() < 0.02)) {
        columns.push_back(static_cast<int32_t>(j));
        values.push_back(static_cast<float>(random.normal()));
      }
    }
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  return {rows, cols, offsets, columns, values};
}

/// The same matrix with the columns of every row in falling order.
SparseMatrix<float> turned(const SparseMatrix<float>& s) {
  const auto& csr = s.csr();
  std::vector<int32_t> columns = csr.columns;
  std::vector<float> values = csr.values;
  for (size_t i = 0; i + 1 < csr.offsets.size(); ++i) {
    std::reverse(columns.begin() + csr.offsets[i], columns.begin() + csr.offsets[i + 1]);
    std::reverse(values.begin() + csr.offsets[i], values.begin() + csr.offsets[i + 1]);
  }
  return {s.rows(), s.cols(), csr.offsets, columns, values};
}
/// Product with weights of this width against the dense one, and both gradients.
void expect_dense_product(const SparseMatrix<float>& s, int64_t width) {
  Matrix<float> dense = Matrix<float>::zeros(60, 2500);
  for (int64_t i = 0; i < 60; ++i) {
    for (int64_t e = s.csr().offsets[static_cast<size_t>(i)];
         e < s.csr().offsets[static_cast<size_t>(i) + 1]; ++e) {
      dense(i, s.csr().columns[static_cast<size_t>(e)]) = s.csr().values[static_cast<size_t>(e)];
    }
  }
  Parameter<float> w = test::random_parameter<float>(2500, width, 1),
                   bias = test::random_parameter<float>(1, width, 2);
  Tape<float> tape;
  const auto run = [&](bool sparse) {
    tape.begin({.training = true});
    w.clear_grad();
    bias.clear_grad();
    const Var<float> out =
        sparse ? sparse_linear(tape, s, tape.parameter(w), tape.parameter(bias))
               : add_bias(tape, matmul(tape, tape.reference(dense), tape.parameter(w)),
                          tape.parameter(bias));
    std::vector<Matrix<float>> all;
    all.push_back(out.value().clone());
    tape.backward(test::probe(tape, out));
    all.push_back(w.grad.clone());
    all.push_back(bias.grad.clone());
    return all;
  };
  const auto a = run(true), b = run(false);
  for (size_t r = 0; r < a.size(); ++r) {
    for (int64_t i = 0; i < a[r].size(); ++i) {
      ASSERT_NEAR(a[r].data()[i], b[r].data()[i], 2e-4 * (1 + std::abs(b[r].data()[i]))) << width;
    }
  }
}

TEST(Sparse, ProductAndGradientEqualTheDenseOnes) {
  const SparseMatrix<float> s = random_sparse(60, 2500);
  for (const int64_t width : {9, 32, 64, 128}) expect_dense_product(s, width);
  expect_dense_product(turned(s), 64);  // columns in falling order
}

TEST(Adam, AGradientThatIsNotFiniteIsFoundAndSpoilsNoWeight) {
  const SparseMatrix<float> s = random_sparse(60, 2500);
  Parameter<float> w = test::random_parameter<float>(2500, 64, 1);
  const float before = w.value(2, 0);
  const Matrix<float> infinite =
      Matrix<float>::filled(60, 64, std::numeric_limits<float>::infinity());
  Tape<float> tape({.training = true});
  const Var<float> out = sparse_linear(tape, s, tape.parameter(w), {});
  tape.backward(test::probe(tape, multiply(tape, out, tape.reference(infinite))));
  AdamMoments<float> moments;
  EXPECT_FALSE(adam_update(w, moments, {.lr = 0.1}, 1));
  EXPECT_EQ(w.value(2, 0), before) << "numbers near it are left alone";
}

TEST(Sparse, DropoutMasksTheStoredEntriesAndIsSharedByStream) {
  const SparseMatrix<float> s = random_sparse(60, 2500);
  Matrix<float> identity = Matrix<float>::zeros(2500, 2500);
  for (int64_t j = 0; j < 2500; ++j) identity(j, j) = 1;
  const double p = 0.3;
  const auto dropped = [&](uint64_t stream) {
    Tape<float> tape({.training = true, .seed = 6});
    return sparse_linear(tape, s, tape.reference(identity), {}, {p, stream}).value().clone();
  };
  const Matrix<float> a = dropped(1);
  double kept = 0;
  for (int64_t i = 0; i < 60; ++i) {
    for (int64_t e = s.csr().offsets[static_cast<size_t>(i)];
         e < s.csr().offsets[static_cast<size_t>(i) + 1]; ++e) {
      const auto at = static_cast<size_t>(e);
      const float out = a(i, s.csr().columns[at]);
      if (out == 0) continue;
      kept += 1;
      EXPECT_NEAR(out, s.csr().values[at] / (1 - p), 1e-4);
    }
  }
  const auto n = static_cast<double>(s.nonzeros());
  EXPECT_NEAR(kept / n, 1 - p, 4 * std::sqrt(p * (1 - p) / n));
  const auto equal = [](const Matrix<float>& x, const Matrix<float>& y) {
    return std::equal(x.values().begin(), x.values().end(), y.values().begin());
  };
  EXPECT_TRUE(equal(a, dropped(1)));
  EXPECT_FALSE(equal(a, dropped(2)));
}

TEST(Sparse, TransposedPositionsPointAtTheSameEntries) {
  const SparseMatrix<float> s = random_sparse(40, 90);
  const auto positions = s.transposed_positions();
  for (size_t k = 0; k < positions.size(); ++k) {
    EXPECT_EQ(s.transposed_csr().values[k], s.csr().values[static_cast<size_t>(positions[k])]);
  }
}

TEST(Sparse, ArraysThatDoNotFitAreRefused) {
  const std::vector<int64_t> offsets = {0, 1};
  const std::vector<int32_t> outside = {5};
  const std::vector<float> value = {1};
  EXPECT_THROW(SparseMatrix<float>(1, 5, offsets, outside, value), InternalError);
}

TEST(MessageGraph, SelfLoopsStandAtTheirSortedPlace) {
  const MessageGraph graph = MessageGraph::from(test::path(3), true);
  EXPECT_EQ(std::vector(graph.senders().begin(), graph.senders().end()),
            (std::vector<int32_t>{0, 1, 0, 1, 2, 1, 2}));
}

TEST(MessageGraph, IntoKeepsTheArcsOfTheReceiversAndTheNumbersOfTheSenders) {
  const MessageGraph graph = MessageGraph::from(test::path(4), true).into(std::vector{3, 1});
  EXPECT_EQ(graph.nodes(), 2);
  EXPECT_EQ(graph.sender_nodes(), 4);
  EXPECT_THAT(graph.offsets(), testing::ElementsAre(0, 2, 5));
  EXPECT_THAT(graph.senders(), testing::ElementsAre(2, 3, 0, 1, 2));
  EXPECT_THAT(graph.sender_offsets(), testing::ElementsAre(0, 1, 2, 4, 5));
  EXPECT_THAT(graph.receivers(), testing::ElementsAre(1, 1, 0, 1, 0));
}

TEST(MessageGraph, IntoNumbersTheSendersAsListed) {
  const MessageGraph path = MessageGraph::from(test::path(4), true);
  const MessageGraph graph = path.into(std::vector{3, 2}, std::vector{1, 2, 3});
  EXPECT_EQ(graph.nodes(), 2);
  EXPECT_EQ(graph.sender_nodes(), 3);
  EXPECT_THAT(graph.offsets(), testing::ElementsAre(0, 2, 5));
  EXPECT_THAT(graph.senders(), testing::ElementsAre(1, 2, 0, 1, 2));
  EXPECT_THROW(path.into(std::vector{3}, std::vector{3}), InternalError) << "2 sends to 3";
}

TEST(MessageGraph, ArcsBySenderAreTheSameArcs) {
  const MessageGraph graph = MessageGraph::from(test::random_graph(40, 0.2, 1), true);
  std::vector<bool> seen(static_cast<size_t>(graph.arcs()));
  for (int64_t j = 0; j < graph.nodes(); ++j) {
    for (int64_t p = graph.sender_offsets()[static_cast<size_t>(j)];
         p < graph.sender_offsets()[static_cast<size_t>(j) + 1]; ++p) {
      const int32_t arc = graph.arc_of()[static_cast<size_t>(p)];
      const int32_t receiver = graph.receivers()[static_cast<size_t>(p)];
      EXPECT_EQ(graph.senders()[static_cast<size_t>(arc)], j);
      EXPECT_GE(arc, graph.offsets()[static_cast<size_t>(receiver)]);
      EXPECT_LT(arc, graph.offsets()[static_cast<size_t>(receiver) + 1]);
      EXPECT_FALSE(seen[static_cast<size_t>(arc)]);
      seen[static_cast<size_t>(arc)] = true;
    }
  }
}

TEST(RowPlan, CoversEveryEntryOnceAndCutsHubs) {
  const std::vector<int64_t> offsets = {0, 3, 3, 5003, 5004, 9000};
  const RowPlan plan = plan_rows(offsets);
  int64_t next = 0;
  std::vector<int> rows(5, 0);
  for (const RowPiece& piece : plan.pieces) {
    EXPECT_EQ(piece.begin, next);
    EXPECT_LE(piece.end - piece.begin, kPieceEntries);
    next = piece.end;
    ++rows[static_cast<size_t>(piece.row)];
  }
  EXPECT_EQ(next, 9000);
  EXPECT_EQ(rows, (std::vector<int>{1, 1, 5, 1, 4}));
  EXPECT_EQ(plan.long_rows.size(), 2u);
  EXPECT_EQ(plan.parts, 9);
  EXPECT_EQ(plan.block_offsets.back(), static_cast<int64_t>(plan.pieces.size()));
}

TEST(RowPlan, AnEmptyMatrixHasNoBlocks) {
  EXPECT_EQ(plan_rows(std::vector<int64_t>{0}).blocks(), 0);
}

}  // namespace
}  // namespace dgat::tensor
