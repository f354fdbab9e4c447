#pragma once

#include <cstdint>

#include "dgat/core/parallel.h"
#include "dgat/tensor/matrix.h"

namespace dgat::tensor {

template <class T>
void scale_in_place(Matrix<T>& x, T factor) {
  parallel_for(x.size(), 1 << 15, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) x.data()[i] *= factor;
  });
}

}  // namespace dgat::tensor
