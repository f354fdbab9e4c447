#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>

#include "dgat/data/npz.h"

/// Elements of a .npy array as C++ numbers.
namespace dgat::data {

struct Half {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};

/// IEEE binary16: sign, 5 exponent bits, 10 fraction bits.
inline float widen(Half half) {
  const int exponent = (half.bits >> 10) & 0x1F, fraction = half.bits & 0x3FF;
  float magnitude = 0;
  if (exponent == 0x1F) {
    magnitude = fraction == 0 ? std::numeric_limits<float>::infinity()
                              : std::numeric_limits<float>::quiet_NaN();
  } else if (exponent == 0) {
    magnitude = std::ldexp(static_cast<float>(fraction), -24);
  } else {
    magnitude = std::ldexp(static_cast<float>(fraction + 0x400), exponent - 25);
  }
  return (half.bits & 0x8000) != 0 ? -magnitude : magnitude;
}
inline uint8_t widen(Bool value) {
  return value.byte != 0 ? 1 : 0;
}
template <class T>
requires std::integral<T> || std::floating_point<T> T widen(T value) {
  return value;
}

/// value as To, or nothing when To cannot hold it (a fraction, too large, not a number). Floats
/// take every integer and round; a finite double too large for float is refused.
template <class To, class From>
std::optional<To> converted(From value) {
  if constexpr (std::floating_point<To>) {
    const To result = static_cast<To>(value);
    if constexpr (sizeof(From) > sizeof(To) && std::floating_point<From>) {
      if (std::isinf(result) && !std::isinf(value)) return std::nullopt;
    }
    return result;
  } else if constexpr (std::floating_point<From>) {
    // Both bounds are powers of two, so they are exact in every floating-point type.
    constexpr auto kLow = static_cast<From>(std::numeric_limits<To>::min());
    const auto high = std::ldexp(static_cast<From>(1), std::numeric_limits<To>::digits);
    if (!(value >= kLow && value < high) || value != std::trunc(value)) return std::nullopt;
    return static_cast<To>(value);
  } else {
    if (!std::in_range<To>(value)) return std::nullopt;
    return static_cast<To>(value);
  }
}

/// Calls visit.template operator()<Stored>() with the type that the array is stored as.
template <class Visit>
decltype(auto) with_stored_type(DType dtype, Visit&& visit) {
  switch (dtype) {
    case DType::kBool:
      return visit.template operator()<Bool>();
    case DType::kInt8:
      return visit.template operator()<int8_t>();
    case DType::kInt16:
      return visit.template operator()<int16_t>();
    case DType::kInt32:
      return visit.template operator()<int32_t>();
    case DType::kInt64:
      return visit.template operator()<int64_t>();
    case DType::kUInt8:
      return visit.template operator()<uint8_t>();
    case DType::kUInt16:
      return visit.template operator()<uint16_t>();
    case DType::kUInt32:
      return visit.template operator()<uint32_t>();
    case DType::kUInt64:
      return visit.template operator()<uint64_t>();
    case DType::kFloat16:
      return visit.template operator()<Half>();
    case DType::kFloat32:
      return visit.template operator()<float>();
    case DType::kFloat64:
      break;
  }
  return visit.template operator()<double>();
}

}  // namespace dgat::data
