#pragma once

#include <cstdint>
#include <filesystem>

/// Matrices in files, for activations that are larger than memory. Nothing that is computed depends
/// on it.
namespace dgat::tensor {

/// Matrices smaller than this stay in memory.
inline constexpr int64_t kSmallestFile = int64_t{1} << 20;

/// As long as one exists, memory for large matrices comes from files that are mapped into memory.
/// The process grows by about `in_memory` bytes; beyond that, the matrices made first leave memory
/// first, which the backward pass needs last. It reads them ahead, in the reverse order.
///
/// The files have no names, so nothing is left behind, also after a kill. Their space is reserved
/// when they are made. A second scope uses the folder of the first.
/// Throws: InputError when `folder` is not a folder on a disk in which files can be made. Making a
///         matrix then throws ComputeError when the disk is full.
class SpillScope {
 public:
  SpillScope(const std::filesystem::path& folder, int64_t in_memory);
  ~SpillScope();
  SpillScope(const SpillScope&) = delete;
  SpillScope& operator=(const SpillScope&) = delete;
};

/// Throws: InputError as SpillScope does.
void check_spill_folder(const std::filesystem::path& folder);

/// While one exists, what left memory last is needed next.
class ReadBackwards {
 public:
  ReadBackwards();
  ~ReadBackwards();
  ReadBackwards(const ReadBackwards&) = delete;
  ReadBackwards& operator=(const ReadBackwards&) = delete;
};

struct SpillStatistics {
  int64_t bytes_in_files = 0;       ///< now
  int64_t peak_bytes_in_files = 0;  ///< since the outermost scope began
  int64_t bytes_written = 0;        ///< that left memory since then
};
SpillStatistics spill_statistics();

}  // namespace dgat::tensor
