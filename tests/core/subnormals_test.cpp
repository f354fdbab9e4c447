#include "dgat/core/subnormals.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/side_task.h"

namespace dgat {
namespace {

/// Half of the smallest normal float: 0 where such numbers are flushed. Volatile, so that it is
/// computed here and now.
float half_of_the_smallest() {
  volatile float smallest = 1.17549435e-38F;
  volatile float half = 0.5F;
  return smallest * half;
}

#if defined(__x86_64__)

TEST(FlushSubnormals, HoldsWhileItLives) {
  EXPECT_GT(half_of_the_smallest(), 0);
  {
    const FlushSubnormals outer;
    EXPECT_EQ(half_of_the_smallest(), 0);
    { const FlushSubnormals inner; }
    EXPECT_EQ(half_of_the_smallest(), 0);
  }
  EXPECT_GT(half_of_the_smallest(), 0);
}

TEST(FlushSubnormals, ALoopDoesAsTheThreadThatStartsIt) {
  const ThreadScope scope(4);
  std::vector<float> found(1000);
  const auto compute = [&] {
    parallel_for(std::ssize(found), 1, [&](int64_t begin, int64_t) {
      found[static_cast<size_t>(begin)] = half_of_the_smallest();
    });
  };
  for (int round = 0; round < 20;
       ++round) {  // the workers stay: they have to change and change back
    {
      const FlushSubnormals flush;
      compute();
      for (const float value : found) ASSERT_EQ(value, 0);
    }
    compute();
    for (const float value : found) ASSERT_GT(value, 0);
  }
}

TEST(FlushSubnormals, ASideTaskDoesAsTheThreadThatStartsIt) {
  const ThreadScope scope(2);
  for (int round = 0; round < 20; ++round) {
    std::atomic<float> inside{-1}, outside{-1};
    SideTask task;
    {
      const FlushSubnormals flush;
      task.start([&] { inside = half_of_the_smallest(); });
      task.wait();
    }
    task.start([&] { outside = half_of_the_smallest(); });
    task.wait();
    ASSERT_EQ(inside, 0);
    ASSERT_GT(outside, 0);
  }
}

#endif

}  // namespace
}  // namespace dgat
