// Products of matrices so small that a library spends its time on copying them into its own
// layout: here the operands are read where they stand. See kernels.h for the contract.
#pragma once

#include <type_traits>

#include "kernels/heads.h"

namespace dgat::tensor::DGAT_LEVEL {

// Twelve sums, what sixteen registers can hold: six rows of two vectors, or twelve of one.
constexpr int kSums = 12, kTileVectors = 2;

/// Rows [0, kRows) and kVectors vectors of columns of the product, all sums in registers.
template <class V, int kRows, int kVectors, class T>
inline void product_tile(const SmallProduct<T>& p, const T* a, const T* b, const T* bias, T* c) {
  constexpr int kWidth = kLanesOf<V, T>;
  V sum[kRows][kVectors];
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = p.accumulate      ? get<V>(c + r * p.c_stride + v * kWidth)
                  : bias != nullptr ? get<V>(bias + v * kWidth)
                                    : V{};
    }
  }
  for (int64_t l = 0; l < p.inner; ++l) {
    V row[kVectors];
    for (int v = 0; v < kVectors; ++v) row[v] = get<V>(b + l * p.b_stride + v * kWidth);
    for (int r = 0; r < kRows; ++r) {
      const T factor = a[r * p.a_row + l * p.a_column];
      for (int v = 0; v < kVectors; ++v) sum[r][v] += row[v] * factor;
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int v = 0; v < kVectors; ++v) put(c + r * p.c_stride + v * kWidth, sum[r][v]);
  }
}

/// All rows of kVectors vectors of columns.
template <class V, int kVectors, class T>
inline void product_columns(const SmallProduct<T>& p, const T* b, const T* bias, T* c) {
  int64_t i = 0;
  const auto rest = [&](auto rows) {
    product_tile<V, decltype(rows)::value, kVectors>(p, p.a + i * p.a_row, b, bias,
                                                     c + i * p.c_stride);
    i += decltype(rows)::value;
  };
  constexpr int kRows = kSums / kVectors;
  while (i + kRows <= p.rows) rest(std::integral_constant<int, kRows>{});
  while (i + 3 <= p.rows) rest(std::integral_constant<int, 3>{});
  while (i < p.rows) rest(std::integral_constant<int, 1>{});
}

/// The last columns, fewer than a narrow vector: both sides go through padded copies.
template <class T>
inline void product_tail(const SmallProduct<T>& p, int64_t j) {
  constexpr int64_t kChunk = 128;
  const int64_t width = p.cols - j;
  T b[kChunk * kNarrowLanes<T>], c[kSums * kNarrowLanes<T>] = {};
  for (int64_t first = 0; first < p.inner || first == 0; first += kChunk) {
    const int64_t inner = first + kChunk < p.inner ? kChunk : p.inner - first;
    for (int64_t l = 0; l < inner; ++l) {
      for (int64_t k = 0; k < kNarrowLanes<T>; ++k) {
        b[l * kNarrowLanes<T> + k] = k < width ? p.b[(first + l) * p.b_stride + j + k] : T{0};
      }
    }
    const bool add = first > 0 || p.accumulate;
    for (int64_t i = 0; i < p.rows; i += kSums) {
      const int64_t rows = i + kSums < p.rows ? kSums : p.rows - i;
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < width; ++k) {
          c[r * kNarrowLanes<T> + k] = add                 ? p.c[(i + r) * p.c_stride + j + k]
                                       : p.bias != nullptr ? p.bias[j + k]
                                                           : T{0};
        }
      }
      const SmallProduct<T> padded{.a = p.a + i * p.a_row + first * p.a_column,
                                   .a_row = p.a_row,
                                   .a_column = p.a_column,
                                   .b = b,
                                   .b_stride = kNarrowLanes<T>,
                                   .c = c,
                                   .c_stride = kNarrowLanes<T>,
                                   .bias = nullptr,
                                   .rows = rows,
                                   .cols = kNarrowLanes<T>,
                                   .inner = inner,
                                   .accumulate = true};
      product_columns<Narrow<T>, 1, T>(padded, b, nullptr, c);
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t k = 0; k < width; ++k) {
          p.c[(i + r) * p.c_stride + j + k] = c[r * kNarrowLanes<T> + k];
        }
      }
    }
  }
}

/// Four numbers at a time: blocks of 4 x 4 are turned in registers.
using Quad = float __attribute__((vector_size(16)));

inline void turn_block(const float* from, int64_t stride, float* to, int64_t to_stride) {
  Quad a = get<Quad>(from), b = get<Quad>(from + stride), c = get<Quad>(from + 2 * stride),
       d = get<Quad>(from + 3 * stride);
  const Quad ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  put(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  put(to + to_stride, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  put(to + 2 * to_stride, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
  put(to + 3 * to_stride, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
}

template <class T>
void turn(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to) {
  int64_t whole_rows = 0, whole_cols = 0;
  if constexpr (sizeof(T) == sizeof(float)) {
    whole_rows = rows / 4 * 4;
    whole_cols = cols / 4 * 4;
    for (int64_t i = 0; i < whole_rows; i += 4) {
      for (int64_t j = 0; j < whole_cols; j += 4) {
        turn_block(from + i * stride + j, stride, to + j * rows + i, rows);
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_cols : 0; j < cols; ++j) {
      to[j * rows + i] = from[i * stride + j];
    }
  }
}

template <class T>
void small_product(const SmallProduct<T>& p) {
  constexpr int64_t kWide = kTileVectors * kLanes<T>;
  int64_t j = 0;
  const auto bias = [&] { return p.bias != nullptr ? p.bias + j : nullptr; };
  for (; j + kWide <= p.cols; j += kWide) {
    product_columns<Vector<T>, kTileVectors>(p, p.b + j, bias(), p.c + j);
  }
  for (; j + kLanes<T> <= p.cols; j += kLanes<T>) {
    product_columns<Vector<T>, 1>(p, p.b + j, bias(), p.c + j);
  }
  for (; j + kNarrowLanes<T> <= p.cols; j += kNarrowLanes<T>) {
    product_columns<Narrow<T>, 1>(p, p.b + j, bias(), p.c + j);
  }
  if (j < p.cols) product_tail(p, j);
}

}  // namespace dgat::tensor::DGAT_LEVEL
