#include "support/npz_arrays.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace dgat::test {
namespace {

/// binary16 of a value that has one exactly (normal numbers and zero).
uint16_t to_half(double value) {
  if (value == 0) return 0;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);  // in [0.5, 1)
  const auto bits = static_cast<unsigned>(fraction * 2048) & 0x3FF;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 14) << 10 | bits);
}

template <class T>
std::vector<std::byte> bytes_of(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::vector<std::byte> element(data::DType dtype, double v) {
  using data::DType;
  switch (dtype) {
    case DType::kBool:
      return bytes_of(static_cast<uint8_t>(v != 0));
    case DType::kInt8:
      return bytes_of(static_cast<int8_t>(v));
    case DType::kInt16:
      return bytes_of(static_cast<int16_t>(v));
    case DType::kInt32:
      return bytes_of(static_cast<int32_t>(v));
    case DType::kInt64:
      return bytes_of(static_cast<int64_t>(v));
    case DType::kUInt8:
      return bytes_of(static_cast<uint8_t>(v));
    case DType::kUInt16:
      return bytes_of(static_cast<uint16_t>(v));
    case DType::kUInt32:
      return bytes_of(static_cast<uint32_t>(v));
    case DType::kUInt64:
      return bytes_of(static_cast<uint64_t>(v));
    case DType::kFloat16:
      return bytes_of(to_half(v));
    case DType::kFloat32:
      return bytes_of(static_cast<float>(v));
    case DType::kFloat64:
      break;
  }
  return bytes_of(v);
}

}  // namespace

std::vector<std::byte> stored_bytes(const data::ArrayInfo& info, std::span<const double> values) {
  std::vector<std::byte> out;
  const bool columns = info.fortran_order && info.shape.size() == 2;
  const auto rows = static_cast<size_t>(columns ? info.shape[0] : 1);
  const size_t cols = values.size() / std::max<size_t>(rows, 1);
  for (size_t k = 0; k < values.size(); ++k) {
    const size_t at = columns ? k % rows * cols + k / rows : k;
    std::vector<std::byte> bytes = element(info.dtype, values[at]);
    if (info.big_endian) std::reverse(bytes.begin(), bytes.end());
    out.insert(out.end(), bytes.begin(), bytes.end());
  }
  return out;
}

}  // namespace dgat::test
