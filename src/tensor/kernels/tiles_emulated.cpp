// Tiles in ordinary vectors, for tests and studies of accuracy on machines without AMX.
#include "dgat/core/error.h"
#include "kernels/kernels.h"
#include "kernels/tile_blocks.h"

namespace dgat::tensor::emulated {
namespace {

struct Unit {
  alignas(64) float sums[2][2][kTileSide][kTileSide];
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
      for (int j = 0; j < 2; ++j) {
        kernels<float>().multiply_tile(left[i], right[j], &sums[i][j][0][0]);
      }
    }
  }
};

}  // namespace

void multiply_panels(const PanelProduct& product) {
  multiply_blocks<Unit>(product);
}

}  // namespace dgat::tensor::emulated
