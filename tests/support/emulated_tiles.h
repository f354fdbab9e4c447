#pragma once

#include "kernels/tile_unit.h"

namespace dgat::test {

/// Precision bf16 on any machine, until the end of the test. Needs src/tensor among the include
/// folders.
class EmulatedTiles {
 public:
  explicit EmulatedTiles(tensor::TileUnit unit = tensor::TileUnit::kEmulated) {
    tensor::use_tile_unit(unit);
  }
  ~EmulatedTiles() { tensor::use_tile_unit(before_); }
  EmulatedTiles(const EmulatedTiles&) = delete;
  EmulatedTiles& operator=(const EmulatedTiles&) = delete;

 private:
  tensor::TileUnit before_ = tensor::tile_unit();
};

}  // namespace dgat::test
