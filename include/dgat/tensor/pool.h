#pragma once

#include <cstddef>
#include <cstdint>

/// Memory for matrices. Freed buffers are kept and used again. A training loop whose shapes repeat
/// allocates nothing after its second step and has no page faults. Large buffers ask the system for
/// huge pages. Every function may be called from any thread.
namespace dgat::tensor {

inline constexpr size_t kAlignment = 64;

/// At least `bytes` bytes, aligned to kAlignment, not cleared; null for 0.
/// Throws ComputeError when the system has no memory left; it says how much was asked for.
void* pool_acquire(size_t bytes);
/// Gives back what pool_acquire(bytes) returned; `bytes` must be the same number.
void pool_release(void* memory, size_t bytes) noexcept;

struct PoolStatistics {
  int64_t system_allocations = 0;  ///< buffers that had to be asked from the system
  size_t bytes_in_use = 0;         ///< handed out now
  /// Largest value of the above since reset_pool_peak(). With several threads it is the sum of each
  /// thread's largest value, an upper bound.
  size_t peak_bytes_in_use = 0;
  size_t bytes_reserved = 0;  ///< in use or waiting for reuse
  size_t bytes_touched = 0;   ///< of the reserved ones, what was asked for: the rest is not paid
  size_t peak_bytes_touched = 0;  ///< largest value of the above since reset_pool_peak()
};
PoolStatistics pool_statistics();
void reset_pool_peak();
/// Returns all waiting buffers to the system (between jobs of different size).
void trim_pool();

/// As long as one exists, memory comes before time: a buffer may serve a request a quarter of its
/// size, and smaller waiting buffers go back to the system before it is asked for a larger one.
class SavePoolMemory {
 public:
  explicit SavePoolMemory(bool on = true);
  ~SavePoolMemory();
  SavePoolMemory(const SavePoolMemory&) = delete;
  SavePoolMemory& operator=(const SavePoolMemory&) = delete;

 private:
  bool on_;
};

}  // namespace dgat::tensor
