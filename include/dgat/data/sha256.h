#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace dgat::data {

/// SHA-256 (FIPS 180-4) of bytes that arrive in pieces; computed by libcrypto.
class Sha256 {
 public:
  Sha256();
  ~Sha256();

  void update(std::string_view bytes);
  /// The length, then the bytes of the values, so that two lists differ from their concatenation.
  template <class T>
  void update_list(std::span<const T> values) {
    update(std::to_string(values.size()) + ":");
    update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
  }
  /// 64 lower-case hexadecimal digits; ends the computation.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Reads the file once. Throws InputError when it cannot be read.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace dgat::data
