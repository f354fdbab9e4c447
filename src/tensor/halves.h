#pragma once

#include <cstddef>
#include <cstdint>

namespace dgat::tensor {

/// Whether a matrix fits into what a core has as a cache of its own, more or less.
template <class T>
constexpr bool is_near(int64_t rows, int64_t cols) {
  return static_cast<size_t>(rows * cols) * sizeof(T) <= size_t{1} << 20;
}

/// The weights of a sparse layer, if they are near, have two halves of rows: product, gradient and
/// update do all of the first half before the second, and since loops give the same blocks to the
/// same thread, each of two cores keeps a half to itself. (Cut by the rows of the result, each
/// would read what the other has just written, and a write to what another core has read costs many
/// times one to what it has not.)
constexpr int64_t first_half(int64_t rows) {
  return rows / 2;
}

}  // namespace dgat::tensor
