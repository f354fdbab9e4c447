#include "dgat/tensor/gemm.h"

#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {
using test::random_matrix;

template <class T>
void expect_near(const Matrix<T>& a, const Matrix<T>& b, double tolerance) {
  ASSERT_TRUE(a.same_shape(b));
  for (int64_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a.data()[i], b.data()[i], tolerance) << i;
}

Matrix<double> naive(const Matrix<double>& a, const Matrix<double>& b) {
  Matrix<double> out = Matrix<double>::zeros(a.rows(), b.cols());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t k = 0; k < a.cols(); ++k) {
      for (int64_t j = 0; j < b.cols(); ++j) out(i, j) += a(i, k) * b(k, j);
    }
  }
  return out;
}
Matrix<double> turned(const Matrix<double>& a) {
  Matrix<double> out(a.cols(), a.rows());
  for (int64_t i = 0; i < a.rows(); ++i) {
    for (int64_t j = 0; j < a.cols(); ++j) out(j, i) = a(i, j);
  }
  return out;
}

TEST(Gemm, AllFormsMatchTheTripleLoop) {
  // Small ones with every kind of rest (rows, columns, an inner dimension longer than a chunk), cut
  // and not cut; the tall shape is the library's and cut into several tasks.
  for (const auto& [m, k, n] : {std::array<int64_t, 3>{1, 1, 1},
                                {5, 7, 3},
                                {183, 64, 64},
                                {64, 183, 64},
                                {20, 300, 13},
                                {9, 129, 8},
                                {7, 2, 31},
                                {1500, 70, 65}}) {
    const Matrix<double> a = random_matrix<double>(m, k, 1), b = random_matrix<double>(k, n, 2);
    const Matrix<double> expected = naive(a, b), bt = turned(b), at = turned(a);
    Matrix<double> out(m, n);
    multiply_into(a, b, out);
    expect_near(out, expected, 1e-11);
    multiply_transposed_into(a, bt, out);
    expect_near(out, expected, 1e-11);
    multiply_into(a, b, out, {.accumulate = true});
    for (int64_t i = 0; i < out.size(); ++i) out.data()[i] /= 2;
    expect_near(out, expected, 1e-11);
    const Matrix<double> g = random_matrix<double>(m, n, 3);
    Matrix<double> reduced(k, n);
    transposed_multiply_into(a, g, reduced);
    expect_near(reduced, naive(at, g), 1e-10);
    transposed_multiply_into(a, g, reduced, {.accumulate = true});
    for (int64_t i = 0; i < reduced.size(); ++i) reduced.data()[i] /= 2;
    expect_near(reduced, naive(at, g), 1e-10);
    const Matrix<double> bias = random_matrix<double>(1, n, 4);
    multiply_transposed_into(a, bt, out, {}, &bias);
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) out(i, j) -= bias(0, j);
    }
    expect_near(out, expected, 1e-11);
  }
}

TEST(Gemm, ColumnSumsOverManyBlocks) {
  const Matrix<double> a = random_matrix<double>(5000, 37, 1);
  const Matrix<double> ones = Matrix<double>::filled(1, 5000, 1.0);
  Matrix<double> out(1, 37);
  column_sums_into(a, out);
  expect_near(out, naive(ones, a), 1e-10);
}

void expect_same_bits_at_every_thread_count(int64_t m, int64_t k, int64_t n) {
  const Matrix<float> a = random_matrix<float>(m, k, 1), b = random_matrix<float>(k, n, 2);
  const Matrix<float> g = random_matrix<float>(m, n, 3);
  Matrix<float> reference_product(m, n), reference_reduced(k, n), reference_sums(1, k);
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    Matrix<float> product(m, n), reduced(k, n), sums(1, k);
    multiply_into(a, b, product);
    transposed_multiply_into(a, g, reduced);
    column_sums_into(a, sums);
    if (threads == 1) {
      reference_product = std::move(product);
      reference_reduced = std::move(reduced);
      reference_sums = std::move(sums);
      continue;
    }
    EXPECT_EQ(std::vector(product.values().begin(), product.values().end()),
              std::vector(reference_product.values().begin(), reference_product.values().end()));
    EXPECT_EQ(std::vector(reduced.values().begin(), reduced.values().end()),
              std::vector(reference_reduced.values().begin(), reference_reduced.values().end()));
    EXPECT_EQ(std::vector(sums.values().begin(), sums.values().end()),
              std::vector(reference_sums.values().begin(), reference_sums.values().end()));
  }
}

TEST(Gemm, SameBitsAtEveryThreadCount) {
  expect_same_bits_at_every_thread_count(3001, 130, 67);
  expect_same_bits_at_every_thread_count(183, 64, 64);
}

TEST(Gemm, WrongShapesAreRefused) {
  const Matrix<float> a(2, 3), b(2, 3);
  Matrix<float> out(2, 3);
  EXPECT_THROW(multiply_into(a, b, out), InternalError);
}

TEST(Gemm, EmptyMatricesGiveZeros) {
  const Matrix<float> a(0, 3), b(0, 2);
  Matrix<float> out = Matrix<float>::filled(3, 2, 7.0f);
  transposed_multiply_into(a, b, out);
  for (const float value : out.values()) EXPECT_EQ(value, 0.0f);
}

}  // namespace
}  // namespace dgat::tensor
