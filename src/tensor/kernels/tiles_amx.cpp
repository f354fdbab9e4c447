// The tiles of processors with AMX. Only this file may use their instructions.
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kernels/tile_blocks.h"

namespace dgat::tensor::amx {
namespace {

/// Palette 1 as the manual defines it, eight tiles of 16 rows of 64 bytes. It is not asked for
/// through CPUID: some virtual machines have the tiles and hide the leaves that describe them.
struct alignas(64) TileConfig {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
constexpr TileConfig kConfig;

/// Tiles 0 to 3 are the sums, 4 and 5 the left operand, 6 and 7 the right one.
struct Unit {
  static void configure() { _tile_loadconfig(&kConfig); }
  static void release() { _tile_release(); }
  static void zero() {
    _tile_zero(0);
    _tile_zero(1);
    _tile_zero(2);
    _tile_zero(3);
  }
  static void load(const float* c, int64_t stride) {
    const int64_t bytes = stride * static_cast<int64_t>(sizeof(float));
    const float* const lower = c + kTileSide * stride;
    _tile_loadd(0, c, bytes);
    _tile_loadd(1, c + kTileSide, bytes);
    _tile_loadd(2, lower, bytes);
    _tile_loadd(3, lower + kTileSide, bytes);
  }
  static void store(float* c, int64_t stride) {
    const int64_t bytes = stride * static_cast<int64_t>(sizeof(float));
    float* const lower = c + kTileSide * stride;
    _tile_stored(0, c, bytes);
    _tile_stored(1, c + kTileSide, bytes);
    _tile_stored(2, lower, bytes);
    _tile_stored(3, lower + kTileSide, bytes);
  }
  static void multiply(const uint16_t* a0, const uint16_t* a1, const uint16_t* b0,
                       const uint16_t* b1) {
    constexpr int64_t kRow = 64;
    _tile_loadd(4, a0, kRow);
    _tile_loadd(6, b0, kRow);
    _tile_loadd(5, a1, kRow);
    _tile_loadd(7, b1, kRow);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
  }
};

/// Which parts of the processor's state the system saves when it changes threads.
uint64_t saved_states() {
  uint32_t low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t{high} << 32) | low;
}

}  // namespace

bool available() {
  constexpr uint32_t kOsSaves = 1U << 27, kBf16 = 1U << 22, kTile = 1U << 24;
  constexpr uint64_t kTileStates = uint64_t{3} << 17;
  constexpr long kAskForState = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  uint32_t a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsSaves) == 0) return false;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0) return false;
  if ((d & kTile) == 0 || (d & kBf16) == 0) return false;
  if ((saved_states() & kTileStates) != kTileStates) return false;
  return syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
}

void multiply_panels(const PanelProduct& product) {
  multiply_blocks<Unit>(product);
}

}  // namespace dgat::tensor::amx
