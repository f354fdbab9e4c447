#include "dgat/core/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <stdexcept>
#include <string>

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

TEST(ThreadScope, RestoresTheOuterLimit) {
  const ThreadScope outer(3);
  {
    const ThreadScope inner(1);
    EXPECT_EQ(thread_count(), 1);
  }
  EXPECT_EQ(thread_count(), 3);
}

}  // namespace dgat
