#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "json.h"

// Arrays of a page travel as base64 of little-endian numbers, with the type in front:
// "f64:", "f32:", "i32:", "i16:", "u16:", "u8:".
namespace dgat::report {

static_assert(std::endian::native == std::endian::little, "arrays are written as they lie");

template <class T>
std::string packed(const char* prefix, const std::vector<T>& values) {
  const std::span<const T> all(values);
  const auto bytes = std::as_bytes(all);
  return prefix + base64({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()});
}

/// Each value as one byte.
template <class T>
std::string packed_bytes(const std::vector<T>& values) {
  std::vector<uint8_t> codes(values.size());
  std::transform(values.begin(), values.end(), codes.begin(),
                 [](T value) { return static_cast<uint8_t>(value); });
  return packed("u8:", codes);
}

/// Numbers that are not negative: 16 bits each where that is enough.
inline std::string packed_indices(const std::vector<int32_t>& values) {
  constexpr int32_t kMost = std::numeric_limits<uint16_t>::max();
  if (std::ranges::any_of(values, [](int32_t v) { return v > kMost; })) {
    return packed("i32:", values);
  }
  return packed("u16:", std::vector<uint16_t>(values.begin(), values.end()));
}

/// The last 8 bits of a number. They and any value within 127 units in the last place give the
/// number back.
inline uint8_t last_byte(double value) {
  return static_cast<uint8_t>(std::bit_cast<uint64_t>(value) & 0xFFU);
}

}  // namespace dgat::report
