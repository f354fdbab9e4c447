#include "thread_team.h"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <mutex>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "dgat/core/memory_limits.h"
#include "dgat/core/progress.h"

namespace dgat::detail {
namespace {

/// How long a thread looks for work before it sleeps: waking one takes a quarter of it.
constexpr auto kSpinTime = std::chrono::microseconds(100);
constexpr int kLooks = 64;  // between two looks at the clock
constexpr uint32_t kOpen = 1, kWorker = 2;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

/// Returns when `value` is no longer `old`.
uint32_t wait_for_change(const std::atomic<uint32_t>& value, uint32_t old) {
  using Clock = std::chrono::steady_clock;  // a pause takes ten times as long on some processors
  const Clock::time_point end = Clock::now() + kSpinTime;
  do {
    for (int look = 0; look < kLooks; ++look) {
      const uint32_t now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      relax();
    }
  } while (Clock::now() < end);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

std::atomic<uint64_t> forks{0};

/// Said once: every team of the process meets the same limit.
void report_refused_threads(int wanted, int started) {
  static std::once_flag once;
  std::call_once(once, [&] {
    notice(fmt::format("the system has room for {} of {} threads; continuing with {}", started,
                       wanted, started));
  });
}

}  // namespace

uint64_t fork_generation() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); }); });
  return forks.load(std::memory_order_relaxed);
}

struct ThreadTeam::Shared {
  // The loop. Written while the gate is closed and no thread is inside.
  BlockFunction function = nullptr;
  void* context = nullptr;
  int threads = 0;  // caller and helpers of this loop

  /// Blocks of one thread that no thread has taken yet. A thread begins with its own, so that the
  /// same rows stay in the same cache from loop to loop, and then helps the others.
  struct alignas(64) Share {
    std::atomic<int64_t> next{0};
    int64_t end = 0;
  };
  std::vector<Share> shares;       // of the caller, then of the helpers
  std::atomic<uint32_t> gate{0};   // kOpen while the loop runs, plus kWorker per worker inside
  std::atomic<uint32_t> epoch{0};  // counts loops: what idle workers watch
  std::atomic<bool> stop{false};

  std::atomic<Job*> job{nullptr};     // posted, and no worker has begun
  std::atomic<uint32_t> finished{0};  // jobs that workers have run

  void run_job() {
    Job* const taken = job.exchange(nullptr);
    if (taken == nullptr) return;
    taken->function(taken->context);
    taken->done = true;  // its owner may destroy it from here on
    finished.fetch_add(1);
    finished.notify_one();
  }

  void hand_out(int64_t blocks) {
    for (int t = 0; t < threads; ++t) {
      shares[static_cast<size_t>(t)].next = blocks * t / threads;
      shares[static_cast<size_t>(t)].end = blocks * (t + 1) / threads;
    }
  }
  void take_blocks(int thread) {
    for (int k = 0; k < threads; ++k) {
      Share& share = shares[static_cast<size_t>((thread + k) % threads)];
      for (int64_t b = share.next.fetch_add(1); b < share.end; b = share.next.fetch_add(1)) {
        function(context, b);
      }
    }
  }
  bool enter() {
    uint32_t state = gate.load();
    while ((state & kOpen) != 0) {
      if (gate.compare_exchange_weak(state, state + kWorker)) return true;
    }
    return false;
  }
  void leave() {
    gate.fetch_sub(kWorker);
    gate.notify_one();
  }
};

void ThreadTeam::work(Shared& shared, int index) {
  uint32_t seen = 0;
  while (true) {
    seen = wait_for_change(shared.epoch, seen);
    if (shared.stop) return;
    shared.run_job();
    if (!shared.enter()) continue;
    if (index < shared.threads) shared.take_blocks(index);
    shared.leave();
  }
}

int ThreadTeam::grow(int workers) {
  if (!shared_) shared_ = std::make_unique<Shared>();
  if (static_cast<int>(workers_.size()) < workers && !refused_) {
    const int wanted = workers;
    const int64_t room = threads_with_room();
    const auto started = std::ssize(workers_);
    if (room < workers - started) {
      refused_ = true;
      workers = static_cast<int>(started + room);
    }
    try {
      workers_.reserve(static_cast<size_t>(workers));
      if (shared_->shares.size() <= static_cast<size_t>(workers)) {
        shared_->shares = std::vector<Shared::Share>(static_cast<size_t>(workers) + 1);
      }
      while (static_cast<int>(workers_.size()) < workers) {
        const int index = static_cast<int>(workers_.size()) + 1;
        workers_.emplace_back([shared = shared_.get(), index] { work(*shared, index); });
      }
    } catch (const std::exception&) {  // std::system_error or std::bad_alloc
      refused_ = true;
    }
    if (refused_) report_refused_threads(wanted + 1, static_cast<int>(workers_.size()) + 1);
  }
  return std::min(workers, static_cast<int>(workers_.size()));
}

void ThreadTeam::run(int64_t blocks, int threads, BlockFunction function, void* context) {
  threads = 1 + grow(threads - 1);
  if (threads == 1) {
    for (int64_t b = 0; b < blocks; ++b) function(context, b);
    return;
  }
  Shared& s = *shared_;
  s.function = function;
  s.context = context;
  s.threads = threads;
  s.hand_out(blocks);
  s.gate = kOpen;
  s.epoch.fetch_add(1);
  s.epoch.notify_all();
  s.take_blocks(0);
  s.gate.fetch_and(~kOpen);
  for (uint32_t state = s.gate; state != 0;) state = wait_for_change(s.gate, state);
}

bool ThreadTeam::post(Job& job) {
  if (grow(1) == 0) return false;
  Shared& s = *shared_;
  job.done = false;
  Job* none = nullptr;
  if (!s.job.compare_exchange_strong(none, &job)) return false;
  s.epoch.fetch_add(1);
  s.epoch.notify_all();
  return true;
}

bool ThreadTeam::settle(Job& job) {
  Shared& s = *shared_;
  Job* waiting = &job;
  if (s.job.compare_exchange_strong(waiting, nullptr)) return false;
  for (uint32_t seen = s.finished; !job.done;) seen = wait_for_change(s.finished, seen);
  return true;
}

ThreadTeam::ThreadTeam() = default;

ThreadTeam::~ThreadTeam() {
  if (!shared_) return;
  shared_->stop = true;
  shared_->epoch.fetch_add(1);
  shared_->epoch.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

}  // namespace dgat::detail
