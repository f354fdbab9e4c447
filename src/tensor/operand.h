#pragma once

#include <algorithm>
#include <cstdint>

#include "dgat/tensor/matrix.h"

namespace dgat::tensor {

/// A matrix as one side of a product: as it is stored, or turned.
template <class T>
struct Operand {
  const T* data;
  int64_t stride;  ///< numbers from one stored row to the next
  bool turned;
  /// Address of the element (i, j) of the operand as it is used.
  const T* at(int64_t i, int64_t j) const {
    return turned ? data + j * stride + i : data + i * stride + j;
  }
  /// What begins at the element (i, j).
  Operand from(int64_t i, int64_t j) const { return {at(i, j), stride, turned}; }
};
template <class T>
Operand<T> plain(const Matrix<T>& a) {
  return {a.data(), std::max<int64_t>(1, a.cols()), false};
}
template <class T>
Operand<T> turned(const Matrix<T>& a) {
  return {a.data(), std::max<int64_t>(1, a.cols()), true};
}

}  // namespace dgat::tensor
