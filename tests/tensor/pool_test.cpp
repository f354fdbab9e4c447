#include "dgat/tensor/pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/adam.h"
#include "dgat/tensor/attention.h"
#include "dgat/tensor/ops.h"
#include "support/gradcheck.h"
#include "support/tiny_graphs.h"

namespace dgat::tensor {
namespace {

TEST(Pool, BuffersAreAlignedAndReused) {
  void* first = pool_acquire(1000);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % kAlignment, 0u);
  pool_release(first, 1000);
  const int64_t before = pool_statistics().system_allocations;
  void* second = pool_acquire(1000);
  EXPECT_EQ(pool_statistics().system_allocations, before);
  pool_release(second, 1000);
}

TEST(Pool, TrimReturnsWaitingBuffers) {
  pool_release(pool_acquire(5 << 20), 5 << 20);
  EXPECT_GT(pool_statistics().bytes_reserved, pool_statistics().bytes_in_use);
  trim_pool();
  EXPECT_EQ(pool_statistics().bytes_reserved, pool_statistics().bytes_in_use);
}

TEST(Pool, BuffersFreedByOtherThreadsAreFoundBeforeTheSystemIsAsked) {
  constexpr size_t kBytes = 123456;
  const auto pass_on = [&] {  // taken here, given back there
    void* memory = pool_acquire(kBytes);
    std::thread([&] { pool_release(memory, kBytes); }).join();
  };
  pass_on();
  const int64_t before = pool_statistics().system_allocations;
  const size_t in_use = pool_statistics().bytes_in_use;
  for (int i = 0; i < 20; ++i) pass_on();
  EXPECT_EQ(pool_statistics().system_allocations, before);
  EXPECT_EQ(pool_statistics().bytes_in_use, in_use);
}

TEST(SavePoolMemory, ASmallerRequestTakesAWaitingBuffer) {
  trim_pool();
  const SavePoolMemory saving;
  constexpr size_t kLarge = 3 << 20, kHalf = kLarge / 2, kTiny = kLarge / 8;
  void* const large = pool_acquire(kLarge);
  pool_release(large, kLarge);
  void* const tiny = pool_acquire(kTiny);
  EXPECT_NE(tiny, large) << "seven eighths would lie idle";
  void* const half = pool_acquire(kHalf);
  EXPECT_EQ(half, large);
  pool_release(half, kHalf);
  EXPECT_EQ(pool_acquire(kLarge), large) << "it is as large as before";
  pool_release(large, kLarge);
  pool_release(tiny, kTiny);
  trim_pool();
  EXPECT_EQ(pool_statistics().bytes_reserved, pool_statistics().bytes_in_use);
}

TEST(SavePoolMemory, SmallerBuffersMakeRoomForALargerOne) {
  trim_pool();
  const size_t before = pool_statistics().bytes_reserved;
  constexpr size_t kSmall = 1 << 20, kLarge = 4 << 20;
  const auto grow = [&] {
    std::vector<void*> small;
    for (int i = 0; i < 4; ++i) small.push_back(pool_acquire(kSmall));
    for (void* memory : small) pool_release(memory, kSmall);
    reset_pool_peak();
    pool_release(pool_acquire(kLarge), kLarge);
    return pool_statistics().bytes_reserved - before;
  };
  EXPECT_EQ(grow(), 4 * kSmall + kLarge);
  trim_pool();
  const SavePoolMemory saving;
  EXPECT_EQ(grow(), kLarge);
  EXPECT_EQ(pool_statistics().bytes_touched, pool_statistics().peak_bytes_touched);
  trim_pool();
}

TEST(Pool, TrimReachesTheBuffersOfEveryThread) {
  std::atomic<bool> freed{false}, done{false};
  std::thread other([&] {
    pool_release(pool_acquire(1 << 20), 1 << 20);
    freed = true;
    freed.notify_one();
    done.wait(false);  // its buffers are still its own
  });
  freed.wait(false);
  trim_pool();
  EXPECT_EQ(pool_statistics().bytes_reserved, pool_statistics().bytes_in_use);
  done = true;
  done.notify_one();
  other.join();
}

TEST(Pool, ARequestTheSystemRefusesIsAClearError) {
  EXPECT_THROW(pool_acquire(size_t{1} << 60), ComputeError);
}

TEST(Pool, ATrainingLoopAllocatesNothingAfterItsSecondStep) {
  const ThreadScope one(1);  // which of several threads meet in a loop, each with scratch, varies
  const MessageGraph graph = MessageGraph::from(test::random_graph(200, 0.05, 1), true);
  constexpr int64_t kHidden = 24, kHeads = 4;
  std::vector<Parameter<float>> p;
  p.push_back(test::random_parameter<float>(kHidden, 5, 1, 0.3));
  p.push_back(test::random_parameter<float>(1, kHidden, 2, 0.3));
  p.push_back(test::random_parameter<float>(kHeads, kHidden, 3, 0.3));
  p.push_back(test::random_parameter<float>(3, kHidden, 4, 0.3));
  const Matrix<float> features = test::random_matrix<float>(200, 5, 5);
  std::vector<int32_t> labels, rows;
  for (int32_t i = 0; i < 200; ++i) {
    labels.push_back(i % 3);
    rows.push_back(i);
  }
  Tape<float> tape;
  std::vector<AdamMoments<float>> moments(p.size());
  const auto forward = [&] {
    Var<float> x =
        linear(tape, tape.reference(features), tape.parameter(p[0]), tape.parameter(p[1]));
    x = dropout_gelu(tape, x, 0.2);
    const Var<float> s = linear(tape, x, tape.parameter(p[2]));
    x = add_dropout(tape, x, additive_attention<float>(tape, graph, x, s, s, {}, {.heads = kHeads}),
                    0.2);
    x = linear(tape, x, tape.parameter(p[3]));
    return cross_entropy<float>(tape, x, labels, rows);
  };
  int64_t settled = 0;  // the second step meets the gradients that the first one left
  for (int64_t step = 1; step <= 5; ++step) {
    for (auto& parameter : p) parameter.clear_grad();
    tape.begin({.training = true, .seed = 1, .step = static_cast<uint64_t>(step)});
    tape.backward(forward());
    for (size_t i = 0; i < p.size(); ++i) adam_update(p[i], moments[i], {.lr = 0.01}, step);
    tape.begin({.training = false});
    EXPECT_TRUE(std::isfinite(forward().value()(0, 0)));
    if (step == 2) settled = pool_statistics().system_allocations;
  }
  EXPECT_EQ(pool_statistics().system_allocations, settled);
}

}  // namespace
}  // namespace dgat::tensor
