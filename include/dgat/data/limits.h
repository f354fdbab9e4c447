#pragma once

#include <cstdint>
#include <string>

/// How much memory a reader may take. A header of a few bytes can claim any size, and deflate
/// makes up to 1032 bytes of one. So the limit is a multiple of the bytes that the file really
/// has.
namespace dgat::data {

inline constexpr int64_t kFreeMemory = int64_t{64} << 20;  ///< bytes that every file may take
inline constexpr int64_t kMemoryPerByte = 256;  ///< further bytes per byte of the file, by default
inline constexpr int64_t kMemoryPerNode = 32;   ///< what a node without features takes, at least
inline constexpr int64_t kMaxSplits = 10'000;
/// Label values must lie below; larger ones are more likely ids than classes.
inline constexpr int32_t kMaxClasses = 1 << 15;
inline constexpr int64_t kMaxNodes = 2'147'483'646;

/// Replaces kMemoryPerByte (--memory-per-byte).
void set_memory_per_byte(int64_t bytes);

/// kFreeMemory + memory per byte * bytes of the file.
int64_t allowed_memory(int64_t file_bytes);

/// Throws: InputError "where: what needs ..." when `bytes` is above allowed_memory().
void check_memory(int64_t bytes, int64_t file_bytes, const std::string& where,
                  const std::string& what);

/// Throws: InputError when a file of this size cannot mean a graph with that many nodes.
void check_node_count(int64_t nodes, int64_t file_bytes, const std::string& where);

}  // namespace dgat::data
