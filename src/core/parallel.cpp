#include "dgat/core/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/side_task.h"
#include "dgat/core/subnormals.h"
#include "thread_team.h"

namespace dgat {
namespace {
std::atomic<int> global_threads{0};
thread_local int scoped_threads = 0;
thread_local bool inside_loop = false;

/// The calling thread's workers; new ones in a forked child, whose parent's stay behind.
detail::ThreadTeam& team() {
  thread_local uint64_t generation = detail::fork_generation();
  thread_local auto mine = std::make_unique<detail::ThreadTeam>();
  if (generation != detail::fork_generation()) {
    (void)mine.release();
    mine = std::make_unique<detail::ThreadTeam>();
    generation = detail::fork_generation();
  }
  return *mine;
}

/// A loop whose blocks may throw: keeps the first exception by block order.
struct GuardedLoop {
  detail::BlockFunction function;
  void* context;
  std::exception_ptr first;
  int64_t first_block;
  uint32_t subnormals;  // as on the thread that started the loop
  std::mutex mutex;

  static void run(void* raw, int64_t block) {
    auto& loop = *static_cast<GuardedLoop*>(raw);
    inside_loop = true;
    detail::set_subnormal_mode(loop.subnormals);
    try {
      loop.function(loop.context, block);
    } catch (...) {
      const std::lock_guard lock(loop.mutex);
      if (block < loop.first_block) {
        loop.first_block = block;
        loop.first = std::current_exception();
      }
    }
    inside_loop = false;
  }
};
}  // namespace

void set_thread_count(int threads) {
  if (threads < 0) throw_input("threads: must be 0 (all cores) or positive, got {}", threads);
  global_threads = threads;
}

int thread_count() {
  if (scoped_threads > 0) return scoped_threads;
  const int set = global_threads.load(std::memory_order_relaxed);
  return set > 0 ? set : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

ThreadScope::ThreadScope(int threads) : previous_(scoped_threads) {
  scoped_threads = threads;
}
ThreadScope::~ThreadScope() {
  scoped_threads = previous_;
}

SideTask::~SideTask() {
  try {
    wait();
  } catch (...) {  // a destructor must not throw
  }
}

void SideTask::start(std::function<void()> work) {
  expects(!pending_, "SideTask: the one before is done");
  work_ = std::move(work);
  error_ = nullptr;
  pending_ = true;
  posted_ = false;
  if (thread_count() <= 1 || inside_loop) return;
  subnormals_ = detail::subnormal_mode();
  job_.context = this;
  job_.function = [](void* raw) {
    auto& task = *static_cast<SideTask*>(raw);
    inside_loop = true;
    detail::set_subnormal_mode(task.subnormals_);
    task.run();
    inside_loop = false;
  };
  posted_ = team().post(job_);
}

void SideTask::wait() {
  if (!pending_) return;
  if (!posted_ || !team().settle(job_)) run();
  pending_ = false;
  work_ = nullptr;
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void SideTask::run() noexcept {
  try {
    work_();
  } catch (...) {
    error_ = std::current_exception();
  }
}

namespace detail {

void run_blocks(int64_t blocks, BlockFunction function, void* context) {
  const int threads = static_cast<int>(std::min<int64_t>(thread_count(), blocks));
  if (threads <= 1 || inside_loop) {
    for (int64_t b = 0; b < blocks; ++b) function(context, b);
    return;
  }
  GuardedLoop loop{function, context, nullptr, blocks, subnormal_mode(), {}};
  team().run(blocks, threads, GuardedLoop::run, &loop);
  if (loop.first) std::rethrow_exception(loop.first);
}

}  // namespace detail
}  // namespace dgat
