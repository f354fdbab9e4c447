#include "dgat/tensor/pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include "dgat/core/error.h"
#include "spill_files.h"

namespace dgat::tensor {
namespace {

constexpr size_t kHugePage = size_t{2} << 20;
constexpr size_t kAddressable = size_t{1} << 47;
constexpr size_t kWorthSaving = size_t{1} << 14;  // bytes

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
/// The size of a class by its index.
size_t class_size(size_t index) {
  if (index <= 8) return 128 * index;
  const size_t power = size_t{1} << ((index - 1) / 8 + 9);
  return power + ((index - 1) % 8 + 1) * (power / 8);
}

/// The freed buffers of one thread: what it takes next is likely still in its cache, and it does
/// not wait for other threads. Others take from it only when their own list is empty.
struct alignas(64) FreeList {
  std::mutex mutex;
  struct Waiting {
    size_t size = 0;   // of every buffer here
    size_t asked = 0;  // the last request that one of them served
    std::vector<void*> memory;
  };
  std::array<Waiting, kClasses> waiting;
  int64_t bytes_in_use = 0, peak = 0;  // taken minus given back here: one alone may be negative

  void* take(size_t index) {
    auto& memory = waiting[index].memory;
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
    FreeList& mine = free_list();
    std::unique_lock lock(mine.mutex);
    void* memory = mine.take(c.index);
    if (memory == nullptr) {
      lock.unlock();
      memory = from_others(c.index);
      if (memory == nullptr && saving_ > 0) memory = larger_one(c);
      if (memory == nullptr) memory = from_system(c.size, bytes);
      lock.lock();
    }
    mine.count(static_cast<int64_t>(c.size));
    lock.unlock();
    if (may_be_file(c.size)) spill_files().take(memory);
    return memory;
  }

  void release(void* memory, size_t bytes) {
    const SizeClass c = size_class(bytes);
    FreeList& mine = free_list();
    const size_t index = class_of(memory, c.index);
    const bool kept = !may_be_file(c.size) || spill_files().give_back(memory);
    const std::lock_guard lock(mine.mutex);
    mine.count(-static_cast<int64_t>(c.size));
    FreeList::Waiting& waiting = mine.waiting[index];
    waiting.size = class_size(index);
    if (index == c.index) waiting.asked = bytes;
    if (waiting.asked == 0) waiting.asked = waiting.size;
    if (!kept) return forget(waiting);
    try {
      waiting.memory.push_back(memory);
    } catch (const std::bad_alloc&) {  // no room to remember it
      give_back(memory, waiting);
    }
  }

  void save(int more) { saving_ += more; }

  PoolStatistics statistics() {
    PoolStatistics all;
    int64_t in_use = 0, peak = 0;
    for_free_lists([&](FreeList& s) {
      in_use += s.bytes_in_use;
      peak += s.peak;
    });
    all.bytes_in_use = static_cast<size_t>(std::max<int64_t>(0, in_use));
    all.peak_bytes_in_use = static_cast<size_t>(std::max<int64_t>(0, peak));
    all.system_allocations = system_allocations_;
    all.bytes_reserved = bytes_reserved_;
    all.bytes_touched = static_cast<size_t>(std::max<int64_t>(0, bytes_touched_));
    all.peak_bytes_touched = static_cast<size_t>(std::max<int64_t>(0, peak_touched_));
    return all;
  }

  void reset_peak() {
    for_free_lists([](FreeList& s) { s.peak = s.bytes_in_use; });
    peak_touched_ = bytes_touched_.load();
  }

  void trim() {
    for_free_lists([this](FreeList& s) {
      for (FreeList::Waiting& waiting : s.waiting) give_back_all(waiting);
    });
  }

 private:
  FreeList& free_list() {
    if (here == nullptr) settle_in();
    return *here;
  }
  /// Gives the calling thread a FreeList; when it ends, the next new thread takes it over.
  void settle_in() {
    struct Place {
      Pool* pool;
      ~Place() {
        const std::lock_guard lock(pool->mutex_);
        pool->unused_lists_.push_back(std::exchange(here, &pool->common_));
      }
    };
    thread_local const Place place{this};
    here = new_free_list();
  }

  FreeList* new_free_list() {
    const std::lock_guard lock(mutex_);
    if (unused_lists_.empty()) {
      lists_.push_back(std::make_unique<FreeList>());
      return lists_.back().get();
    }
    FreeList* list = unused_lists_.back();
    unused_lists_.pop_back();
    return list;
  }

  template <class Body>
  void for_free_lists(const Body& body) {
    const std::lock_guard lock(mutex_);
    const auto visit = [&](FreeList& s) {
      const std::lock_guard inner(s.mutex);
      body(s);
    };
    visit(common_);
    for (const auto& s : lists_) visit(*s);
  }

  void* from_others(size_t index) {
    void* memory = nullptr;
    for_free_lists([&](FreeList& s) {
      if (memory == nullptr) memory = s.take(index);
    });
    return memory;
  }

  /// A waiting buffer of up to four times the size; it returns to its own class.
  void* larger_one(const SizeClass& c) {
    constexpr size_t kTwoPowers = 16;  // classes
    if (c.size < kWorthSaving) return nullptr;
    for (size_t index = c.index + 1; index <= c.index + kTwoPowers && index < kClasses; ++index) {
      if (void* memory = from_others(index)) {
        const std::lock_guard lock(mutex_);
        lent_[memory] = index;
        ++lent_count_;
        return memory;
      }
    }
    return nullptr;
  }

  /// The class that a buffer belongs to: `usual`, unless it was lent to a smaller request.
  size_t class_of(void* memory, size_t usual) {
    if (lent_count_ == 0) return usual;
    const std::lock_guard lock(mutex_);
    const auto lent = lent_.find(memory);
    if (lent == lent_.end()) return usual;
    const size_t index = lent->second;
    lent_.erase(lent);
    --lent_count_;
    return index;
  }

  /// Returns waiting buffers to the system, large ones first, until these are `size` bytes.
  void make_room(size_t size) {
    size_t returned = 0;
    for (size_t index = size_class(size).index; index-- > 0 && returned < size;) {
      for_free_lists([&](FreeList& s) {
        FreeList::Waiting& waiting = s.waiting[index];
        while (waiting.size >= kWorthSaving && !waiting.memory.empty() && returned < size) {
          give_back(waiting.memory.back(), waiting);
          waiting.memory.pop_back();
          returned += waiting.size;
        }
      });
    }
  }

  /// Files may outlive the scope that made them.
  bool may_be_file(size_t size) const {
    return files_made_ && size >= static_cast<size_t>(kSmallestFile);
  }

  void give_back(void* memory, const FreeList::Waiting& from) {
    if (may_be_file(from.size) && spill_files().owns(memory)) {
      spill_files().destroy(memory);
    } else {
      std::free(memory);
    }
    forget(from);
  }

  /// Returns the waiting buffers that are files.
  void give_back_files() {
    for_free_lists([this](FreeList& s) {
      for (FreeList::Waiting& waiting : s.waiting) {
        if (may_be_file(waiting.size)) give_back_all(waiting);
      }
    });
  }

  void give_back_all(FreeList::Waiting& waiting) {
    for (void* memory : waiting.memory) give_back(memory, waiting);
    waiting.memory.clear();
  }

  void forget(const FreeList::Waiting& from) {
    bytes_reserved_ -= from.size;
    bytes_touched_ -= static_cast<int64_t>(from.asked);
  }

  void* from_system(size_t size, size_t asked) {
    const size_t alignment = size >= kHugePage ? kHugePage : kAlignment;
    const size_t rounded = (size + alignment - 1) / alignment * alignment;
    if (saving_ > 0 && size >= kWorthSaving) make_room(size);
    void* memory = nullptr;
    const bool in_file = spill_files().on() && size >= static_cast<size_t>(kSmallestFile);
    if (in_file) {
      files_made_ = true;
      if (spill_files().is_short_of(size)) give_back_files();
      memory = spill_files().make(size);
    } else if (rounded < kAddressable) {
      memory = std::aligned_alloc(alignment, rounded);
    }
    if (memory == nullptr) {
      throw_compute(
          "memory: the system refused {} MiB on top of {} MiB in use; use fewer hidden units, "
          "fewer "
          "layers or fewer jobs side by side",
          size >> 20, statistics().bytes_in_use >> 20);
    }
    if (alignment == kHugePage && !in_file) madvise(memory, rounded, MADV_HUGEPAGE);
    ++system_allocations_;
    bytes_reserved_ += size;
    const int64_t touched = bytes_touched_ += static_cast<int64_t>(asked);
    int64_t peak = peak_touched_;
    while (touched > peak && !peak_touched_.compare_exchange_weak(peak, touched)) {
    }
    return memory;
  }

  static thread_local FreeList* here;  // of this thread; null before its first use

  std::mutex mutex_;  // guards the lists; the mutex of a FreeList is taken after it
  std::vector<std::unique_ptr<FreeList>> lists_;
  std::vector<FreeList*> unused_lists_;
  FreeList common_;  // of threads that have left their own
  std::atomic<int64_t> system_allocations_{0};
  std::atomic<size_t> bytes_reserved_{0};
  std::atomic<int64_t> bytes_touched_{0}, peak_touched_{0};  // by the last request of a class
  std::atomic<int> saving_{0};                               // how many SavePoolMemory there are
  std::atomic<bool> files_made_{false};                      // by --spill
  std::unordered_map<void*, size_t> lent_;  // class of buffers that serve a smaller request
  std::atomic<int64_t> lent_count_{0};
};
thread_local FreeList* Pool::here = nullptr;

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

SavePoolMemory::SavePoolMemory(bool on) : on_(on) {
  if (on_) pool().save(1);
}
SavePoolMemory::~SavePoolMemory() {
  if (on_) pool().save(-1);
}

}  // namespace dgat::tensor
