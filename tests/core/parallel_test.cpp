#include "dgat/core/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>

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

TEST(ParallelFor, UsesFewerThreadsWhereTheSystemStartsNoMore) {
#if defined(DGAT_UNDER_TSAN) || defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "a sanitizer needs more address space than the test allows";
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
  GTEST_SKIP() << "a sanitizer needs more address space than the test allows";
#endif
#endif
  const pid_t child = fork();
  if (child == 0) {
    // No room for the stack of another thread.
    long pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const auto limit = static_cast<rlim_t>(pages) * 4096 + (1 << 20);
    const rlimit space{limit, limit};
    if (setrlimit(RLIMIT_AS, &space) != 0) _exit(2);
    const ThreadScope scope(64);
    const auto sum =
        parallel_sum<int64_t>(1000, 10, [](int64_t begin, int64_t end) { return end - begin; });
    _exit(sum == 1000 ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
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
