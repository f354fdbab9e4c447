// The product of two panels by blocks of 2 x 2 tiles. Included by one file per unit of tiles.
#pragma once

#include <algorithm>

#include "kernels/tile_unit.h"

namespace dgat::tensor {

inline void copy_block(const float* from, int64_t from_stride, float* to, int64_t to_stride,
                       int64_t rows, int64_t cols) {
  for (int64_t r = 0; r < rows; ++r) {
    std::copy_n(from + r * from_stride, cols, to + r * to_stride);
  }
}

/// A unit holds the sums of one block and has the operations
///   configure(), release()    before the first and after the last of the others
///   zero()                    sums = 0
///   load(c, stride)           sums = the block at c; stride 0: the same row 32 times
///   store(c, stride)          the block at c = sums
///   multiply(a0, a1, b0, b1)  sums += [a0; a1] [b0 b1], each a tile
template <class Unit>
void multiply_blocks(const PanelProduct& p) {
  alignas(64) float room[kTileBlock * kTileBlock] = {};  // of blocks that reach over the edge
  Unit unit;
  unit.configure();
  for (int64_t j = 0; j < p.cols; j += kTileBlock) {
    const uint16_t* const right = p.right + j / kTileSide * p.right_step;
    for (int64_t i = 0; i < p.rows; i += kTileBlock) {
      const uint16_t* const left = p.left + i / kTileSide * p.left_step;
      const int64_t rows = std::min(kTileBlock, p.rows - i),
                    cols = std::min(kTileBlock, p.cols - j);
      const bool whole = rows == kTileBlock && cols == kTileBlock;
      float* const c = p.c + i * p.c_stride + j;
      float* const block = whole ? c : room;
      const int64_t stride = whole ? p.c_stride : kTileBlock;
      if (p.accumulate) {
        if (!whole) copy_block(c, p.c_stride, room, kTileBlock, rows, cols);
        unit.load(block, stride);
      } else if (p.bias != nullptr) {
        unit.load(p.bias + j, 0);
      } else {
        unit.zero();
      }
      for (int64_t t = 0; t < p.inner_tiles * kTileSize; t += kTileSize) {
        unit.multiply(left + t, left + p.left_step + t, right + t, right + p.right_step + t);
      }
      unit.store(block, stride);
      if (!whole) copy_block(room, kTileBlock, c, p.c_stride, rows, cols);
    }
  }
  unit.release();
}

}  // namespace dgat::tensor
