#include "dgat/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/loop_sharing.h"

namespace dgat {

TEST(ParallelFor, VisitsEveryIndexOnce) {
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    std::vector<int> seen(1003, 0);
    parallel_for(1003, 10, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++seen[static_cast<size_t>(i)];
    });
    for (const int count : seen) EXPECT_EQ(count, 1);
  }
}

TEST(ParallelSum, IsTheSameBitsAtEveryThreadCount) {
  const auto sum = [](int threads) {
    const ThreadScope scope(threads);
    return parallel_sum<double>(100000, 777, [](int64_t begin, int64_t end) {
      double s = 0;
      for (int64_t i = begin; i < end; ++i) s += std::sin(static_cast<double>(i)) * 1e-3;
      return s;
    });
  };
  EXPECT_EQ(sum(1), sum(2));
  EXPECT_EQ(sum(1), sum(4));
}

TEST(ParallelFor, RethrowsTheFirstBlocksException) {
  const ThreadScope scope(4);
  try {
    parallel_blocks(100, 1, [](int64_t block, int64_t, int64_t) {
      if (block >= 40) throw std::runtime_error(std::to_string(block));
    });
    FAIL() << "the exception was lost";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "40");
  }
}

TEST(ParallelFor, NestedLoopsRunToTheEnd) {
  const ThreadScope scope(4);
  std::atomic<int> count{0};
  parallel_for(8, 1,
               [&](int64_t, int64_t) { parallel_for(8, 1, [&](int64_t, int64_t) { ++count; }); });
  EXPECT_EQ(count, 64);
}

TEST(ParallelFor, ManyShortLoopsOfManyCallersLoseNothing) {
  // Late workers, workers that sleep, and callers of other teams at the same time.
  std::vector<std::thread> callers;
  std::atomic<int64_t> wrong{0};
  for (int caller = 0; caller < 3; ++caller) {
    callers.emplace_back([&wrong, caller] {
      for (int round = 0; round < 500; ++round) {
        const ThreadScope scope(2 + (round + caller) % 3);
        const int64_t n = 1 + round % 17;
        std::vector<int64_t> seen(static_cast<size_t>(n), 0);
        parallel_for(n, 1, [&](int64_t begin, int64_t) { seen[static_cast<size_t>(begin)] += 1; });
        for (const int64_t count : seen) wrong += count != 1;
        if (round % 100 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, 0);
}

// ThreadSanitizer ends a child of a process with threads as soon as it starts a thread of its own.
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define DGAT_UNDER_TSAN
#endif
#elif defined(__SANITIZE_THREAD__)
#define DGAT_UNDER_TSAN
#endif

TEST(ParallelFor, WorksInAForkedChild) {
#ifdef DGAT_UNDER_TSAN
  GTEST_SKIP() << "ThreadSanitizer does not allow threads in a forked child";
#endif
  const auto sum = [] {
    const ThreadScope scope(2);
    return parallel_sum<int64_t>(1000, 10, [](int64_t begin, int64_t end) { return end - begin; });
  };
  ASSERT_EQ(sum(), 1000);  // the parent has workers now
  const pid_t child = fork();
  if (child == 0) _exit(sum() == 1000 ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(LoneLoops, StayOnTheCallerWhileASideTaskGoesToAHelper) {
  const ThreadScope threads(4);
  const auto threads_of_a_loop = [] {
    std::set<std::thread::id> seen;
    std::mutex mutex;
    parallel_for(32, 1, [&](int64_t, int64_t) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));  // long enough for helpers to come
      const std::lock_guard lock(mutex);
      seen.insert(std::this_thread::get_id());
    });
    return seen;
  };
  {
    const LoneLoops alone(true);
    EXPECT_EQ(threads_of_a_loop(), std::set{std::this_thread::get_id()});
    {
      const LoneLoops inner(false);  // the innermost one counts
    }
    EXPECT_EQ(threads_of_a_loop(), std::set{std::this_thread::get_id()});
    std::atomic<bool> begun{false};
    std::thread::id helper;
    SideTask task;
    task.start([&] {
      helper = std::this_thread::get_id();
      begun = true;
      begun.notify_one();
    });
    begun.wait(false);
    task.wait();
    EXPECT_NE(helper, std::this_thread::get_id());
  }
  std::latch both(2);
  parallel_for(2, 1, [&](int64_t, int64_t) { both.arrive_and_wait(); });  // shared again
}

TEST(LoopSharing, KeepsTheFasterWayAndAsksAgain) {
  LoopSharing sharing;
  const auto period = [&](double shared_seconds, double alone_seconds) {
    int64_t shared = 0;
    for (int64_t i = 0; i < LoopSharing::kPeriod; ++i) {
      shared += sharing.shared() ? 1 : 0;
      sharing.record(sharing.shared() ? shared_seconds : alone_seconds);
    }
    return shared;
  };
  EXPECT_EQ(period(1, 2), LoopSharing::kPeriod - LoopSharing::kSamples);
  EXPECT_EQ(period(3, 2), LoopSharing::kSamples);
  EXPECT_EQ(period(1, 2), LoopSharing::kPeriod - LoopSharing::kSamples);
}

TEST(SideTask, RunsOnceWhileTheCallersLoopsGoOn) {
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    SideTask task;
    for (int round = 0; round < 500; ++round) {
      std::atomic<int> runs{0};
      std::atomic<int64_t> inner{0}, outer{0};
      task.start([&] {
        ++runs;
        parallel_for(20, 1, [&](int64_t, int64_t) { ++inner; });
      });
      EXPECT_TRUE(task.pending());
      for (int loop = 0; loop < round % 5; ++loop) {
        parallel_for(10, 1, [&](int64_t, int64_t) { ++outer; });
      }
      task.wait();
      EXPECT_FALSE(task.pending());
      ASSERT_EQ(runs, 1);
      ASSERT_EQ(inner, 20);
      ASSERT_EQ(outer, 10 * (round % 5));
    }
  }
}

TEST(SideTask, WaitRethrowsAndTheNextOneRuns) {
  for (const int threads : {1, 2}) {
    const ThreadScope scope(threads);
    SideTask task;
    task.start([] { throw std::runtime_error("side"); });
    EXPECT_THROW(task.wait(), std::runtime_error);
    int value = 0;
    task.start([&] { value = 7; });
    task.wait();
    EXPECT_EQ(value, 7);
    task.wait();  // nothing pending: returns
  }
}

TEST(SideTask, SeveralOfOneCallerAllRunOnceWhateverTheOrderOfWaiting) {
  constexpr size_t kTasks = 20;
  for (const int threads : {1, 2, 3}) {
    const ThreadScope scope(threads);
    for (int round = 0; round < 200; ++round) {
      std::array<SideTask, kTasks> tasks;
      std::array<std::atomic<int>, kTasks> runs{};
      for (size_t i = 0; i < kTasks; ++i) tasks[i].start([&runs, i] { ++runs[i]; });
      for (size_t i = 0; i < kTasks; ++i) {
        const size_t next = round % 2 == 0 ? i : kTasks - 1 - i;
        tasks[next].wait();
        ASSERT_EQ(runs[next], 1);
      }
    }
  }
}

TEST(SideTask, StartingOneThatIsPendingIsRefused) {
  const ThreadScope scope(2);
  SideTask task;
  task.start([] {});
  EXPECT_THROW(task.start([] {}), InternalError);
  task.wait();
}

TEST(SideTask, IsFinishedWhenItIsDestroyed) {
  const ThreadScope scope(2);
  std::atomic<int> runs{0};
  {
    SideTask task;
    task.start([&] { ++runs; });
  }
  EXPECT_EQ(runs, 1);
}

TEST(ThreadScope, RestoresTheOuterLimit) {
  const ThreadScope outer(3);
  {
    const ThreadScope inner(1);
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), 3);
}

}  // namespace dgat
