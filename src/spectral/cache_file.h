#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// Changes with the layout of a file, with its meaning and with the methods that made it.
inline constexpr std::string_view kCacheMagic = "dgat spectrum 3\n";

/// Two independent multiply-xor hashes over 64-bit words. Against accidents, not against forgers.
class Hash {
 public:
  void add(uint64_t word);
  void add_bytes(std::string_view bytes);
  std::array<uint64_t, 2> value() const;

 private:
  uint64_t a_ = 0x243F6A8885A308D3, b_ = 0x13198A2E03707344;
};

/// The bytes of a cache file: magic, checksum of the body, body.
std::string sealed(std::string_view body);
std::string body_of(const EigenResult& result);
/// Nothing when magic, checksum or layout is wrong. The numbers are as the file says: not checked;
/// `solver` is left empty.
std::optional<EigenResult> decode(std::string_view bytes);

}  // namespace dgat::spectral
