#pragma once

#include <algorithm>
#include <cstdint>

namespace dgat::tensor {

/// Rows per block of a loop over a rows x cols matrix, a function of the shape only: at least 4096
/// numbers, so that a block is worth handing to a thread, and at most 256 blocks, so that what is
/// kept per block stays small.
inline int64_t row_grain(int64_t rows, int64_t cols) {
  const int64_t least = 4096 / std::max<int64_t>(1, cols);
  return std::max<int64_t>({1, least, (rows + 255) / 256});
}

}  // namespace dgat::tensor
