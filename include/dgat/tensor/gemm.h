#pragma once

#include "dgat/tensor/matrix.h"

/// Matrix products through CBLAS, single-threaded calls on fixed pieces inside our own loop, so the
/// bits do not depend on the number of threads. `accumulate` adds to the output instead of
/// overwriting it. Outputs must have the right shape; they must not overlap the inputs.
namespace dgat::tensor {

/// out = a b.
template <class T>
void multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out, bool accumulate = false);
/// out = a b^T, plus `bias` (1 x out.cols(), may be null) in every row.
template <class T>
void multiply_transposed_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate = false, const Matrix<T>* bias = nullptr);
/// out = a^T b: reduces over rows, for weight gradients.
template <class T>
void transposed_multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate = false);
/// out(0, j) = sum_i a(i, j), for bias gradients.
template <class T>
void column_sums_into(const Matrix<T>& a, Matrix<T>& out, bool accumulate = false);

}  // namespace dgat::tensor
