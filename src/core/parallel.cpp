#include "dgat/core/parallel.h"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>

#include "dgat/core/error.h"

namespace dgat {
namespace {
std::atomic<int> global_threads{0};
thread_local int scoped_threads = 0;
}  // namespace

void set_thread_count(int threads) {
  if (threads < 0) throw_input("threads: must be 0 (all cores) or positive, got {}", threads);
  global_threads = threads;
}

int thread_count() {
  if (scoped_threads > 0) return scoped_threads;
  const int set = global_threads.load(std::memory_order_relaxed);
  return set > 0 ? set : std::max(1, omp_get_num_procs());
}

ThreadScope::ThreadScope(int threads) : previous_(scoped_threads) {
  scoped_threads = threads;
}
ThreadScope::~ThreadScope() {
  scoped_threads = previous_;
}

namespace detail {

void run_blocks(int64_t blocks, BlockFunction function, void* context) {
  const int threads = static_cast<int>(std::min<int64_t>(thread_count(), blocks));
  if (threads <= 1 || omp_in_parallel()) {
    for (int64_t b = 0; b < blocks; ++b) function(context, b);
    return;
  }
  std::exception_ptr first;
  int64_t first_block = blocks;
  std::mutex mutex;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
  for (int64_t b = 0; b < blocks; ++b) {
    try {
      function(context, b);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (b < first_block) {
        first_block = b;
        first = std::current_exception();
      }
    }
  }
  if (first) std::rethrow_exception(first);
}

}  // namespace detail
}  // namespace dgat
