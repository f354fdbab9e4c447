#include "dgat/tensor/matrix.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {
constexpr int64_t kMatrixGrain = 1 << 16;

template <class T, class S>
Matrix<T> converted(int64_t rows, int64_t cols, std::span<const S> values) {
  expects(static_cast<int64_t>(values.size()) == rows * cols, "Matrix::from: one value per entry");
  Matrix<T> result(rows, cols);
  parallel_for(result.size(), kMatrixGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      result.data()[i] = static_cast<T>(values[static_cast<size_t>(i)]);
    }
  });
  return result;
}
}  // namespace

template <class T>
Matrix<T> Matrix<T>::filled(int64_t rows, int64_t cols, T value) {
  Matrix result(rows, cols);
  parallel_for(result.size(), kMatrixGrain, [&](int64_t begin, int64_t end) {
    std::fill(result.data() + begin, result.data() + end, value);
  });
  return result;
}

template <class T>
Matrix<T> Matrix<T>::from(int64_t rows, int64_t cols, std::span<const float> values) {
  return converted<T>(rows, cols, values);
}
template <class T>
Matrix<T> Matrix<T>::from(int64_t rows, int64_t cols, std::span<const double> values) {
  return converted<T>(rows, cols, values);
}

template <class T>
Matrix<T> Matrix<T>::clone() const {
  Matrix result(rows_, cols_);
  parallel_for(size(), kMatrixGrain, [&](int64_t begin, int64_t end) {
    std::copy(data_ + begin, data_ + end, result.data_ + begin);
  });
  return result;
}

template <class T>
bool all_finite(const Matrix<T>& matrix) {
  return parallel_sum<int64_t>(
             matrix.size(), kMatrixGrain, [&](int64_t begin, int64_t end) -> int64_t {
               return kernels<T>().all_finite(matrix.data() + begin, end - begin) ? 0 : 1;
             }) == 0;
}

template class Matrix<float>;
template class Matrix<double>;
template bool all_finite(const Matrix<float>&);
template bool all_finite(const Matrix<double>&);

}  // namespace dgat::tensor
