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
/// The mask of the tape's next random operation.
template <class T>
DropoutMask next_dropout_mask(Tape<T>& tape, double p) {
  return dropout_mask(tape.options().seed, tape.next_random_stream(), p);
}

}  // namespace dgat::tensor
