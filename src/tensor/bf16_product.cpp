#include "bf16_product.h"

#include <algorithm>
#include <vector>

#include "dgat/core/parallel.h"
#include "kernels/kernels.h"
#include "kernels/tile_unit.h"

namespace dgat::tensor {
namespace {

/// Sizes of what is packed at once, so that it stays in the second-level cache.
constexpr int64_t kPanelRows = 128, kSlab = 512;

/// One operand as tiles: those of the inner dimension one after another, padded to whole blocks.
class Panel {
 public:
  Panel(int64_t outer, int64_t inner)
      : outer_(outer), inner_(inner), room_(1, tiles() * step() / 2) {}

  int64_t tiles() const { return 2 * block_count(outer_, kTileBlock); }
  int64_t inner_tiles() const { return block_count(inner_, kTileInner); }
  int64_t step() const { return inner_tiles() * kTileSize; }
  const uint16_t* data() const { return reinterpret_cast<const uint16_t*>(room_.data()); }

  /// Tiles [begin, end) of the outer dimension.
  void pack(const Operand<float>& from, bool left, int64_t begin, int64_t end) {
    auto* tile = reinterpret_cast<uint16_t*>(room_.data()) + begin * step();
    for (int64_t t = begin; t < end; ++t) {
      const int64_t i = std::min(t * kTileSide, outer_);
      for (int64_t l = 0; l < inner_; l += kTileInner, tile += kTileSize) {
        kernels<float>().pack_tile({.from = left ? from.at(i, l) : from.at(l, i),
                                    .stride = from.stride,
                                    .outer = std::min(kTileSide, outer_ - i),
                                    .inner = std::min(kTileInner, inner_ - l),
                                    .inner_in_rows = left != from.turned,
                                    .left = left},
                                   tile);
      }
    }
  }

 private:
  int64_t outer_, inner_;
  Matrix<float> room_;
};

void multiply_tiles(const Panel& left, const Panel& right, int64_t rows, int64_t cols,
                    const float* bias, bool accumulate, float* c, int64_t c_stride) {
  multiply_panels({.left = left.data(),
                   .right = right.data(),
                   .left_step = left.step(),
                   .right_step = right.step(),
                   .rows = rows,
                   .cols = cols,
                   .inner_tiles = left.inner_tiles(),
                   .c = c,
                   .c_stride = c_stride,
                   .bias = bias,
                   .accumulate = accumulate});
}

}  // namespace

bool fits_tiles(int64_t m, int64_t n, int64_t k) {
  return std::min({m, n, k}) >= kTileBlock;
}

void bf16_product(const Operand<float>& a, const Operand<float>& b, int64_t k, Matrix<float>& out,
                  bool accumulate, const float* bias) {
  const int64_t n = out.cols();
  Panel right(n, k);
  parallel_for(right.tiles(), 2,
               [&](int64_t begin, int64_t end) { right.pack(b, false, begin, end); });
  std::vector<float> padded;
  if (bias != nullptr) {
    padded.assign(bias, bias + n);
    padded.resize(static_cast<size_t>(right.tiles() * kTileSide));
    bias = padded.data();
  }
  parallel_for(out.rows(), kPanelRows, [&](int64_t begin, int64_t end) {
    Panel left(end - begin, k);
    left.pack(a.from(begin, 0), true, 0, left.tiles());
    multiply_tiles(left, right, end - begin, n, bias, accumulate, out.row(begin), n);
  });
}

void bf16_gemm(const Operand<float>& a, const Operand<float>& b, int64_t m, int64_t n, int64_t k,
               bool accumulate, float* c, int64_t c_stride) {
  for (int64_t l = 0; l == 0 || l < k; l += kSlab) {  // a sum of nothing is 0
    const int64_t inner = std::min(kSlab, k - l);
    Panel left(m, inner), right(n, inner);
    left.pack(a.from(0, l), true, 0, left.tiles());
    right.pack(b.from(l, 0), false, 0, right.tiles());
    multiply_tiles(left, right, m, n, nullptr, accumulate || l > 0, c, c_stride);
  }
}

}  // namespace dgat::tensor
