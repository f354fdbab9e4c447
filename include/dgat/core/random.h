#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <utility>

/// Counter-based random numbers (Philox 4x32-10, Salmon et al. 2011): a pure function of
/// (seed, stream, position), so parallel code draws the same numbers whatever the thread count,
/// and a mask can be recomputed instead of stored.
namespace dgat {

class Philox {
 public:
  using Block = std::array<uint32_t, 4>;

  explicit constexpr Philox(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  /// The four 32-bit words at a position.
  constexpr Block operator()(uint64_t position) const {
    uint32_t c0 = static_cast<uint32_t>(position), c1 = static_cast<uint32_t>(position >> 32);
    uint32_t c2 = static_cast<uint32_t>(stream_), c3 = static_cast<uint32_t>(stream_ >> 32);
    uint32_t k0 = static_cast<uint32_t>(seed_), k1 = static_cast<uint32_t>(seed_ >> 32);
    for (int round = 0; round < 10; ++round) {
      const uint64_t p0 = uint64_t{0xD2511F53} * c0;
      const uint64_t p1 = uint64_t{0xCD9E8D57} * c2;
      const uint32_t n0 = static_cast<uint32_t>(p1 >> 32) ^ c1 ^ k0;
      const uint32_t n2 = static_cast<uint32_t>(p0 >> 32) ^ c3 ^ k1;
      c1 = static_cast<uint32_t>(p1);
      c3 = static_cast<uint32_t>(p0);
      c0 = n0;
      c2 = n2;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return {c0, c1, c2, c3};
  }

 private:
  uint64_t seed_, stream_;
};

/// Uniform in [0, 1) with 53 bits.
constexpr double to_unit(uint32_t high, uint32_t low) {
  return static_cast<double>((uint64_t{high} << 21) | (low >> 11)) * 0x1.0p-53;
}

/// A sequence taken from a Philox stream, for serial code.
class Random {
 public:
  explicit constexpr Random(uint64_t seed, uint64_t stream = 0) : philox_(seed, stream) {}

  uint32_t bits32() {
    if (used_ == 4) {
      block_ = philox_(position_++);
      used_ = 0;
    }
    return block_[static_cast<size_t>(used_++)];
  }
  uint64_t bits64() {
    const uint64_t high = bits32();
    return (high << 32) | bits32();
  }
  /// Uniform in [0, 1).
  double uniform() {
    const uint32_t high = bits32();
    return to_unit(high, bits32());
  }
  /// Uniform in {0, ..., n-1}, without bias; n > 0.
  uint64_t below(uint64_t n) {
    const uint64_t limit = UINT64_MAX - UINT64_MAX % n;
    uint64_t x = bits64();
    while (x >= limit) x = bits64();
    return x % n;
  }
  /// Standard normal (Box-Muller).
  double normal() {
    const double u = 1.0 - uniform(), v = uniform();
    return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
  }
  /// Fisher-Yates.
  template <class Container>
  void shuffle(Container& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  Philox philox_;
  Philox::Block block_{};
  uint64_t position_ = 0;
  int used_ = 4;
};

}  // namespace dgat
