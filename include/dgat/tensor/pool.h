#pragma once

#include <cstddef>
#include <cstdint>

/// Memory for matrices. Freed buffers are kept and handed out again, so a training loop whose
/// shapes repeat allocates nothing after its second step and takes no page faults. Large buffers
/// ask the system for huge pages. Every function may be called from any thread.
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
  /// Largest value of the above since reset_pool_peak(); when several threads take buffers, the sum
  /// of what each had at most, which is no less.
  size_t peak_bytes_in_use = 0;
  size_t bytes_reserved = 0;  ///< in use or waiting for reuse
};
PoolStatistics pool_statistics();
void reset_pool_peak();
/// Returns all waiting buffers to the system (between jobs of different size).
void trim_pool();

}  // namespace dgat::tensor
