#pragma once

#include "dgat/dist/rows.h"
#include "dgat/tensor/matrix.h"
#include "dgat/tensor/precision.h"

/// Matrix products through CBLAS, single-threaded calls on fixed pieces inside our own loop, so the
/// bits do not depend on the number of threads. Outputs must have the right shape; they must not
/// overlap the inputs.
namespace dgat::tensor {

struct ProductOptions {
  bool accumulate = false;  ///< add to the output instead of overwriting it
  /// The rows of `a` and of matrices with as many rows are split over ranks, those of `out` too
  /// unless it is a sum over rows. The pieces and so the bits are those of one rank.
  dist::RowShare share = {};
  /// kBf16: the operands of a large product of floats are rounded. Needs: has_bf16().
  Precision precision = Precision::kF32;
};

/// out = a b.
template <class T>
void multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                   const ProductOptions& options = {});
/// out = a b^T, plus `bias` (1 x out.cols(), may be null) in every row.
template <class T>
void multiply_transposed_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              const ProductOptions& options = {}, const Matrix<T>* bias = nullptr);
/// out = a^T b: reduces over rows, for weight gradients.
template <class T>
void transposed_multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              const ProductOptions& options = {});
/// out(0, j) = sum_i a(i, j), for bias gradients.
template <class T>
void column_sums_into(const Matrix<T>& a, Matrix<T>& out, bool accumulate = false,
                      const dist::RowShare& share = {});

}  // namespace dgat::tensor
