#include "dgat/core/side_task.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <stdexcept>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/subnormals.h"

namespace dgat {

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

}  // namespace dgat
