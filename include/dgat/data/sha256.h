#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace dgat::data {

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces.
class Sha256 {
 public:
  void update(std::string_view bytes);
  /// The length, then the bytes of the values: two lists in a row are not one longer list.
  template <class T>
  void update_list(std::span<const T> values) {
    update(std::to_string(values.size()) + ":");
    update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  /// 64 lower-case hexadecimal digits; ends the computation.
  std::string finish();

 private:
  void compress(const unsigned char* block);
  std::array<uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> block_{};
  size_t filled_ = 0;
  uint64_t bytes_ = 0;
};

/// Reads the file once. Throws InputError when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace dgat::data
