#include "dgat/tensor/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "dgat/core/error.h"

namespace dgat::tensor {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kAddressable = size_t{1} << 47;

/// Sizes are rounded up to one of eight per power of two, so that buffers of nearly equal size
/// serve each other; at most an eighth of the addresses stays unused (and untouched, so unpaid).
struct SizeClass {
  size_t size, index;
};
SizeClass size_class(size_t bytes) {
  if (bytes <= 1024) {
    const size_t steps = (bytes + 127) / 128;
    return {128 * steps, steps};
  }
  const size_t power = std::bit_floor(bytes - 1), step = power / 8;
  const size_t steps = (bytes - power + step - 1) / step;  // 1 .. 8
  return {power + steps * step, 8 * static_cast<size_t>(std::bit_width(power) - 10) + steps};
}
constexpr size_t kClasses = 8 * 56;

class Pool {
 public:
  void* acquire(size_t bytes) {
    const auto [size, index] = size_class(bytes);
    const std::lock_guard lock(mutex_);
    void* memory = nullptr;
    auto& waiting = waiting_[index].memory;
    waiting_[index].size = size;
    if (waiting.empty()) {
      memory = from_system(size);
    } else {
      memory = waiting.back();
      waiting.pop_back();
    }
    statistics_.bytes_in_use += size;
    statistics_.peak_bytes_in_use =
        std::max(statistics_.peak_bytes_in_use, statistics_.bytes_in_use);
    return memory;
  }

  void release(void* memory, size_t bytes) {
    const auto [size, index] = size_class(bytes);
    const std::lock_guard lock(mutex_);
    waiting_[index].memory.push_back(memory);
    statistics_.bytes_in_use -= size;
  }

  PoolStatistics statistics() {
    const std::lock_guard lock(mutex_);
    return statistics_;
  }

  void reset_peak() {
    const std::lock_guard lock(mutex_);
    statistics_.peak_bytes_in_use = statistics_.bytes_in_use;
  }

  void trim() {
    const std::lock_guard lock(mutex_);
    for (Waiting& waiting : waiting_) {
      for (void* memory : waiting.memory) std::free(memory);
      statistics_.bytes_reserved -= waiting.size * waiting.memory.size();
      waiting.memory.clear();
    }
  }

 private:
  void* from_system(size_t size) {
    const size_t alignment = size >= kHugePage ? kHugePage : kAlignment;
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = rounded < kAddressable ? std::aligned_alloc(alignment, rounded) : nullptr;
    if (memory == nullptr) {
      throw_compute(
          "memory: the system refused {} MiB on top of {} MiB in use; use fewer hidden units, "
          "fewer "
          "layers or fewer jobs side by side",
          size >> 20, statistics_.bytes_in_use >> 20);
    }
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
    ++statistics_.system_allocations;
    statistics_.bytes_reserved += size;
    return memory;
  }

  std::mutex mutex_;
  struct Waiting {
    size_t size = 0;  // of every buffer here
    std::vector<void*> memory;
  };
  std::array<Waiting, kClasses> waiting_;
  PoolStatistics statistics_;
};

/// Never destroyed: matrices with static lifetime may outlive any order of destruction.
Pool& pool() {
  static Pool* instance = new Pool;
  return *instance;
}

}  // namespace

void* pool_acquire(size_t bytes) {
  return bytes == 0 ? nullptr : pool().acquire(bytes);
}
void pool_release(void* memory, size_t bytes) noexcept {
  if (memory != nullptr) pool().release(memory, bytes);
}
PoolStatistics pool_statistics() {
  return pool().statistics();
}
void reset_pool_peak() {
  pool().reset_peak();
}
void trim_pool() {
  pool().trim();
}

}  // namespace dgat::tensor
