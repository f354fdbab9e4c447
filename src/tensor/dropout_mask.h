#pragma once

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/tensor/tape.h"
#include "kernels/kernels.h"

namespace dgat::tensor {

/// The mask of one random operation.
inline DropoutMask dropout_mask(uint64_t seed, uint64_t stream, double p) {
  expects(p >= 0 && p < 1, "dropout: p lies in [0, 1)");
  DropoutMask mask{seed, stream, 0, 1};
  mask.threshold = std::min<uint32_t>(static_cast<uint32_t>(std::lround(p * 65536)), 65535);
  mask.scale = 65536.0 / (65536.0 - mask.threshold);
  return mask;
}
/// y[i] = x[i] * mask, for entries that begin at any position of the mask. y may be x.
template <class T>
void dropout_at(const DropoutMask& mask, int64_t position, const T* x, T* y, int64_t n) {
  constexpr int64_t kStep = 64;  // the kernel wants a multiple
  const int64_t before = position % kStep, head = before == 0 ? 0 : std::min(kStep - before, n);
  if (head > 0) {
    T room[kStep] = {};
    std::copy_n(x, head, room + before);
    kernels<T>().dropout(mask, position - before, room, room, kStep);
    std::copy_n(room + before, head, y);
  }
  if (head < n) kernels<T>().dropout(mask, position + head, x + head, y + head, n - head);
}
/// Where the entries of a matrix begin among those of the whole matrix, whose positions count.
template <class T>
int64_t any_first_position(const Var<T>& x) {
  return x.share() ? x.share().first() * x.cols() : 0;
}
/// The same for kernels that need a multiple of 64.
template <class T>
int64_t first_position(const Var<T>& x) {
  const int64_t position = any_first_position(x);
  expects(position % 64 == 0, "dropout: the rows of a rank begin at a multiple of 64 numbers");
  return position;
}
/// The mask of the tape's next random operation.
template <class T>
DropoutMask next_dropout_mask(Tape<T>& tape, double p) {
  return dropout_mask(tape.options().seed, tape.next_random_stream(), p);
}

}  // namespace dgat::tensor
