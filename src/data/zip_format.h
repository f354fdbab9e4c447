#pragma once

#include <cstddef>
#include <cstdint>

/// The numbers of the zip file format that reader and writer share.
namespace dgat::data::zip {

inline constexpr uint32_t kLocalSignature = 0x04034b50, kCentralSignature = 0x02014b50,
                          kEndSignature = 0x06054b50, kEnd64Signature = 0x06064b50,
                          kLocatorSignature = 0x07064b50;
inline constexpr size_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56,
                        kLocatorSize = 20;
inline constexpr uint16_t kStored = 0, kDeflated = 8;
inline constexpr uint16_t kEncrypted = 1;  // flag
inline constexpr uint16_t kZip64Extra = 1;
inline constexpr uint64_t kMax32 = 0xFFFFFFFF, kMax16 = 0xFFFF;  // "see the zip64 field"

}  // namespace dgat::data::zip
