// Conversion to bf16, packing into tiles, and the emulated product of two tiles. See kernels.h for
// the contract.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"
#include "kernels/products.h"
#include "kernels/tile_unit.h"
#include "kernels/vector.h"

namespace dgat::tensor::DGAT_LEVEL {

/// The upper half of the float after rounding to nearest, ties to even. NaN stays NaN; what is
/// larger than every bf16 number becomes infinite; denormals are rounded like other numbers.
inline uint32_t bf16_bits(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const uint32_t rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40;
  return (bits & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded;
}

/// 16 rows of 32 numbers.
template <class T>
inline void tile_of_rows(const T* from, int64_t stride, uint16_t* tile) {
  for (int64_t r = 0; r < kTileSide; ++r) {
    for (int64_t c = 0; c < kTileInner; ++c) {
      tile[r * kTileInner + c] =
          static_cast<uint16_t>(bf16_bits(static_cast<float>(from[r * stride + c])));
    }
  }
}

/// 32 rows of 16 numbers, the pairs of rows side by side.
template <class T>
inline void tile_of_pairs(const T* from, int64_t stride, uint16_t* tile) {
  for (int64_t p = 0; p < kTileSide; ++p) {
    const T *const first = from + 2 * p * stride, *const second = first + stride;
    uint32_t words[kTileSide];
    for (int64_t c = 0; c < kTileSide; ++c) {
      words[c] = bf16_bits(static_cast<float>(first[c])) |
                 (bf16_bits(static_cast<float>(second[c])) << 16);
    }
    __builtin_memcpy(tile + p * kTileInner, words, sizeof words);
  }
}

template <class T>
void pack_tile(const TileSource<T>& source, uint16_t* tile) {
  const T* from = source.from;
  int64_t stride = source.stride;
  const int64_t rows = source.inner_in_rows ? source.outer : source.inner;
  const int64_t cols = source.inner_in_rows ? source.inner : source.outer;
  T padded[kTileSize];
  if (source.outer < kTileSide || source.inner < kTileInner) {
    for (T& x : padded) x = 0;
    stride = source.inner_in_rows ? kTileInner : kTileSide;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t c = 0; c < cols; ++c) padded[r * stride + c] = from[r * source.stride + c];
    }
    from = padded;
  }
  if (source.inner_in_rows == source.left) {
    return source.left ? tile_of_rows(from, stride, tile) : tile_of_pairs(from, stride, tile);
  }
  alignas(64) uint16_t other[kTileSize];  // the tile of the other side, which is turned by pairs
  if (source.left) {
    tile_of_pairs(from, stride, other);
  } else {
    tile_of_rows(from, stride, other);
  }
  turn(reinterpret_cast<const float*>(other), kTileSide, kTileSide, kTileSide,
       reinterpret_cast<float*>(tile));
}

/// Numbers too small for a full mantissa as zeros of their sign.
inline Vector<float> without_small(Vector<float> x) {
  Bits<float> bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const Bits<float> magnitude = bits & 0x7FFFFFFF;
  bits &= ~(magnitude & (magnitude < 0x00800000));
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

/// a b + c, rounded once at every level.
inline Vector<float> fused(Vector<float> a, Vector<float> b, Vector<float> c) {
#if defined(__FMA__)
  return a * b + c;
#else
  for (int i = 0; i < kLanes<float>; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}

/// The numbers of bf16 in the upper halves of the words.
inline Vector<float> upper_halves(Bits<float> words) {
  words &= static_cast<int32_t>(0xFFFF0000);
  Vector<float> x;
  __builtin_memcpy(&x, &words, sizeof x);
  return without_small(x);
}

template <class T>
void multiply_tile(const uint16_t* left, const uint16_t* right, float* sums) {
  constexpr int64_t kPairs = kTileInner / 2;
  for (int64_t column = 0; column < kTileSide; column += kLanes<float>) {
    Vector<float> first[kPairs], second[kPairs];  // of the pairs of these columns
    for (int64_t p = 0; p < kPairs; ++p) {
      const auto words = get<Bits<float>>(right + p * kTileInner + 2 * column);
      first[p] = upper_halves(words << 16);
      second[p] = upper_halves(words);
    }
    for (int64_t row = 0; row < kTileSide; ++row) {
      Vector<float> of_first{}, of_second{};
      for (int64_t p = 0; p < kPairs; ++p) {
        const auto pair = get<int32_t>(left + row * kTileInner + 2 * p);
        const Bits<float> words = pair - Bits<float>{};
        of_first = without_small(fused(upper_halves(words << 16), first[p], of_first));
        of_second = without_small(fused(upper_halves(words), second[p], of_second));
      }
      float* const sum = sums + row * kTileSide + column;
      store(sum, without_small(without_small(load(sum)) + without_small(of_first + of_second)));
    }
  }
}

}  // namespace dgat::tensor::DGAT_LEVEL
