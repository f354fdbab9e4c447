// Tiles in plain C++, for tests on machines without AMX: slow, and with the result of TDPBF16PS as
// Intel's manual defines it.
#include <bit>
#include <cmath>
#include <limits>

#include "dgat/core/error.h"
#include "kernels/tile_blocks.h"

namespace dgat::tensor::emulated {
namespace {

/// Numbers too small for a full mantissa count as zero, as operands and as results.
float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}

float from_bf16(uint16_t x) {
  return flushed(std::bit_cast<float>(uint32_t{x} << 16));
}

struct Unit {
  float sums[2][2][kTileSide][kTileSide];
  bool configured = false;

  void configure() { configured = true; }
  void release() { configured = false; }
  template <class Use>
  void each(Use use) {
    expects(configured, "tiles: configured");
    for (int64_t i = 0; i < kTileBlock; ++i) {
      for (int64_t j = 0; j < kTileBlock; ++j) {
        use(sums[i / kTileSide][j / kTileSide][i % kTileSide][j % kTileSide], i, j);
      }
    }
  }
  void zero() {
    each([](float& sum, int64_t, int64_t) { sum = 0; });
  }
  void load(const float* c, int64_t stride) {
    each([=](float& sum, int64_t i, int64_t j) { sum = c[i * stride + j]; });
  }
  void store(float* c, int64_t stride) {
    each([=](const float& sum, int64_t i, int64_t j) { c[i * stride + j] = sum; });
  }
  void multiply(const uint16_t* a0, const uint16_t* a1, const uint16_t* b0, const uint16_t* b1) {
    expects(configured, "tiles: configured");
    const uint16_t *const left[] = {a0, a1}, *const right[] = {b0, b1};
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) dot(left[i], right[j], sums[i][j]);
    }
  }

  /// The first and the second numbers of the pairs are summed apart, in order, by fused
  /// multiply-adds; then both sums are added, and the result to what was there. Each operation
  /// rounds to nearest even.
  static void dot(const uint16_t* left, const uint16_t* right, float (&sum)[kTileSide][kTileSide]) {
    for (int64_t m = 0; m < kTileSide; ++m) {
      float even[kTileSide] = {}, odd[kTileSide] = {};
      for (int64_t k = 0; k < kTileInner; k += 2) {
        const float first = from_bf16(left[m * kTileInner + k]);
        const float second = from_bf16(left[m * kTileInner + k + 1]);
        const uint16_t* const pairs = right + k * kTileSide;
        for (int64_t n = 0; n < kTileSide; ++n) {
          even[n] = flushed(std::fma(first, from_bf16(pairs[2 * n]), even[n]));
          odd[n] = flushed(std::fma(second, from_bf16(pairs[2 * n + 1]), odd[n]));
        }
      }
      for (int64_t n = 0; n < kTileSide; ++n) {
        sum[m][n] = flushed(flushed(sum[m][n]) + flushed(even[n] + odd[n]));
      }
    }
  }
};

}  // namespace

void multiply_panels(const PanelProduct& product) {
  multiply_blocks<Unit>(product);
}

}  // namespace dgat::tensor::emulated
