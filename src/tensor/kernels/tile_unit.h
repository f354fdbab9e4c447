#pragma once

#include <cstdint>

/// Products of bf16 numbers on tiles: 16 rows of 64 bytes that a processor with AMX multiplies at
/// once. Packing, panels and tails are the same for the processor's tiles and for an emulation that
/// every machine has; only the six operations of a unit (tile_blocks.h) differ.
///
/// A tile of the left operand holds 16 rows with 32 numbers of the inner dimension each. One of the
/// right operand holds 16 pairs of the inner dimension, each for 16 columns: pair p of column c is
/// at 32 p + 2 c.
namespace dgat::tensor {

constexpr int64_t kTileSide = 16;                      ///< rows or columns of a tile
constexpr int64_t kTileInner = 32;                     ///< numbers of the inner dimension in a tile
constexpr int64_t kTileSize = kTileSide * kTileInner;  ///< numbers in a tile
constexpr int64_t kTileBlock = 2 * kTileSide;          ///< rows and columns that are summed at once

/// c (+)= left right, or bias in every row + left right. Panels are padded with zeros to whole
/// tiles, an even number along rows and columns.
struct PanelProduct {
  const uint16_t *left, *right;   ///< tiles, those of the inner dimension one after another
  int64_t left_step, right_step;  ///< numbers from one row (column) of tiles to the next
  int64_t rows, cols, inner_tiles;
  float* c;
  int64_t c_stride;
  const float* bias;  ///< or null; padded like the columns; not together with `accumulate`
  bool accumulate;
};

enum class TileUnit { kNone, kAmx, kEmulated };

/// What multiply_panels() uses: the tiles of this processor, or none.
TileUnit tile_unit();
/// For tests; not while an operation runs. Throws: InputError for AMX on a processor without it.
void use_tile_unit(TileUnit unit);

/// On the calling thread. The state of the tiles is loaded and released inside, so that threads,
/// signal handlers and forked processes never meet it. Needs: tile_unit() is not kNone.
void multiply_panels(const PanelProduct& product);

namespace amx {
bool available();
void multiply_panels(const PanelProduct& product);
}  // namespace amx
namespace emulated {
void multiply_panels(const PanelProduct& product);
}  // namespace emulated

}  // namespace dgat::tensor
