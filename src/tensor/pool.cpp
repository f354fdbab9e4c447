#include "dgat/tensor/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <utility>
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

/// The freed buffers of one thread: what it takes next is likely still in its cache, and it waits
/// for nobody. Others come only for what they have run out of themselves.
struct alignas(64) Shelf {
  std::mutex mutex;
  struct Waiting {
    size_t size = 0;  // of every buffer here
    std::vector<void*> memory;
  };
  std::array<Waiting, kClasses> waiting;
  int64_t bytes_in_use = 0, peak = 0;  // taken minus given back here: one alone may be negative

  void* take(const SizeClass& c) {
    auto& memory = waiting[c.index].memory;
    if (memory.empty()) return nullptr;
    void* taken = memory.back();
    memory.pop_back();
    return taken;
  }
  void count(int64_t bytes) {
    bytes_in_use += bytes;
    peak = std::max(peak, bytes_in_use);
  }
};

class Pool {
 public:
  void* acquire(size_t bytes) {
    const SizeClass c = size_class(bytes);
    Shelf& mine = shelf();
    std::unique_lock lock(mine.mutex);
    void* memory = mine.take(c);
    if (memory == nullptr) {
      lock.unlock();
      memory = from_others(c);
      if (memory == nullptr) memory = from_system(c.size);
      lock.lock();
    }
    mine.count(static_cast<int64_t>(c.size));
    return memory;
  }

  void release(void* memory, size_t bytes) {
    const SizeClass c = size_class(bytes);
    Shelf& mine = shelf();
    const std::lock_guard lock(mine.mutex);
    mine.waiting[c.index].size = c.size;
    mine.waiting[c.index].memory.push_back(memory);
    mine.count(-static_cast<int64_t>(c.size));
  }

  PoolStatistics statistics() {
    PoolStatistics all;
    int64_t in_use = 0, peak = 0;
    for_shelves([&](Shelf& s) {
      in_use += s.bytes_in_use;
      peak += s.peak;
    });
    all.bytes_in_use = static_cast<size_t>(std::max<int64_t>(0, in_use));
    all.peak_bytes_in_use = static_cast<size_t>(std::max<int64_t>(0, peak));
    all.system_allocations = system_allocations_;
    all.bytes_reserved = bytes_reserved_;
    return all;
  }

  void reset_peak() {
    for_shelves([](Shelf& s) { s.peak = s.bytes_in_use; });
  }

  void trim() {
    for_shelves([this](Shelf& s) {
      for (Shelf::Waiting& waiting : s.waiting) {
        for (void* memory : waiting.memory) std::free(memory);
        bytes_reserved_ -= waiting.size * waiting.memory.size();
        waiting.memory.clear();
      }
    });
  }

 private:
  Shelf& shelf() {
    if (here == nullptr) settle_in();
    return *here;
  }
  /// Gives the calling thread a shelf; when it ends, the next new thread takes the shelf over.
  void settle_in() {
    struct Place {
      Pool* pool;
      ~Place() {
        const std::lock_guard lock(pool->mutex_);
        pool->free_shelves_.push_back(std::exchange(here, &pool->common_));
      }
    };
    thread_local const Place place{this};
    here = new_shelf();
  }

  Shelf* new_shelf() {
    const std::lock_guard lock(mutex_);
    if (free_shelves_.empty()) {
      shelves_.push_back(std::make_unique<Shelf>());
      return shelves_.back().get();
    }
    Shelf* shelf = free_shelves_.back();
    free_shelves_.pop_back();
    return shelf;
  }

  template <class Body>
  void for_shelves(const Body& body) {
    const std::lock_guard lock(mutex_);
    const auto visit = [&](Shelf& s) {
      const std::lock_guard inner(s.mutex);
      body(s);
    };
    visit(common_);
    for (const auto& s : shelves_) visit(*s);
  }

  void* from_others(const SizeClass& c) {
    void* memory = nullptr;
    for_shelves([&](Shelf& s) {
      if (memory == nullptr) memory = s.take(c);
    });
    return memory;
  }

  void* from_system(size_t size) {
    const size_t alignment = size >= kHugePage ? kHugePage : kAlignment;
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    void* memory = rounded < kAddressable ? std::aligned_alloc(alignment, rounded) : nullptr;
    if (memory == nullptr) {
      throw_compute(
          "memory: the system refused {} MiB on top of {} MiB in use; use fewer hidden units, "
          "fewer "
          "layers or fewer jobs side by side",
          size >> 20, statistics().bytes_in_use >> 20);
    }
    if (alignment == kHugePage) madvise(memory, rounded, MADV_HUGEPAGE);
    ++system_allocations_;
    bytes_reserved_ += size;
    return memory;
  }

  static thread_local Shelf* here;  // of this thread; null before its first use

  std::mutex mutex_;  // guards the lists of shelves; a shelf's own is taken after it
  std::vector<std::unique_ptr<Shelf>> shelves_;
  std::vector<Shelf*> free_shelves_;
  Shelf common_;  // of threads that have left their own
  std::atomic<int64_t> system_allocations_{0};
  std::atomic<size_t> bytes_reserved_{0};
};
thread_local Shelf* Pool::here = nullptr;

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
