#include "kernels/tile_unit.h"

#include <atomic>

#include "dgat/core/error.h"
#include "dgat/tensor/precision.h"

namespace dgat::tensor {
namespace {

TileUnit own_unit() {
#ifdef DGAT_X86_KERNELS
  static const bool amx = amx::available();
  if (amx) return TileUnit::kAmx;
#endif
  return TileUnit::kNone;
}

std::atomic<TileUnit>& unit_in_use() {
  static std::atomic<TileUnit> unit{own_unit()};
  return unit;
}

}  // namespace

TileUnit tile_unit() {
  return unit_in_use().load(std::memory_order_relaxed);
}

void use_tile_unit(TileUnit unit) {
  if (unit == TileUnit::kAmx && own_unit() != TileUnit::kAmx) {
    throw_input("tiles: this processor has no AMX");
  }
  unit_in_use() = unit;
}

bool has_bf16() {
  return tile_unit() != TileUnit::kNone;
}

void multiply_panels(const PanelProduct& product) {
  expects(has_bf16(), "multiply_panels: there are tiles");
#ifdef DGAT_X86_KERNELS
  if (tile_unit() == TileUnit::kAmx) return amx::multiply_panels(product);
#endif
  emulated::multiply_panels(product);
}

}  // namespace dgat::tensor
