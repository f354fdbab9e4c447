#pragma once

#include "dgat/tensor/ops.h"

namespace dgat::nn {

/// Models whose mechanism lives in the space of classes keep a column per class. For two classes
/// the logit is the difference z = Z_1 - Z_0: its binary cross-entropy equals the softmax
/// cross-entropy of Z. For more, Z itself.
template <class T>
tensor::Var<T> class_logits(tensor::Tape<T>& tape, const tensor::Var<T>& z, int64_t classes) {
  if (classes != 2) return z;
  tensor::Matrix<T> difference(2, 1);
  difference(0, 0) = T{-1};
  difference(1, 0) = T{1};
  return tensor::matmul(tape, z, tape.constant(std::move(difference)));
}

}  // namespace dgat::nn
