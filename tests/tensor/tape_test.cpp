#include "dgat/tensor/tape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
#include "dgat/tensor/profile.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {

TEST(Tape, GradientsOfTwoPassesAddUpUntilCleared) {
  Parameter<double> p = test::random_parameter<double>(2, 3, 1);
  Tape<double> tape;
  const auto pass = [&] {
    tape.begin({.training = true});
    tape.backward(mean(tape, tape.parameter(p)));
  };
  pass();
  EXPECT_NEAR(p.grad(0, 0), 1.0 / 6, 1e-15);
  pass();
  EXPECT_NEAR(p.grad(0, 0), 2.0 / 6, 1e-15);
  p.clear_grad();
  pass();
  EXPECT_NEAR(p.grad(0, 0), 1.0 / 6, 1e-15);
}

TEST(Tape, AParameterUsedTwiceGetsBothGradients) {
  Parameter<double> p = test::random_parameter<double>(1, 1, 1);
  Tape<double> tape({.training = true});
  const Var<double> a = tape.parameter(p), b = tape.parameter(p);
  tape.backward(multiply(tape, a, b));
  EXPECT_NEAR(p.grad(0, 0), 2 * p.value(0, 0), 1e-15);
}

TEST(Tape, UnusedBranchesCostNothingInBackward) {
  Parameter<double> used = test::random_parameter<double>(1, 1, 1),
                    unused = test::random_parameter<double>(4, 4, 2);
  Tape<double> tape({.training = true});
  const Var<double> unrelated = gelu(tape, tape.parameter(unused));
  tape.backward(mean(tape, tape.parameter(used)));
  EXPECT_TRUE(used.has_grad);
  EXPECT_FALSE(unused.has_grad);
}

TEST(Tape, EvaluationFreesIntermediatesAtOnce) {
  constexpr int64_t kRows = 1000, kCols = 100;
  const size_t one = kRows * kCols * sizeof(float);
  const Matrix<float> input = test::random_matrix<float>(kRows, kCols, 1);
  Tape<float> tape({.training = false});
  Var<float> x = tape.reference(input);
  const size_t before = pool_statistics().bytes_in_use;
  reset_pool_peak();
  for (int i = 0; i < 10; ++i) x = gelu(tape, x);
  EXPECT_LE(pool_statistics().peak_bytes_in_use - before, 3 * one);
}

TEST(Tape, BackwardReleasesEverything) {
  Parameter<float> w = test::random_parameter<float>(64, 64, 1);
  const Matrix<float> input = test::random_matrix<float>(500, 64, 2);
  w.grad = Matrix<float>(64, 64);
  Tape<float> tape;
  const size_t before = pool_statistics().bytes_in_use;
  {
    tape.begin({.training = true});
    const Var<float> weight = tape.parameter(w);
    Var<float> x = tape.reference(input);
    for (int i = 0; i < 4; ++i) x = gelu(tape, linear(tape, x, weight));
    x = mean(tape, x);
    tape.backward(x);
  }
  EXPECT_EQ(pool_statistics().bytes_in_use, before);
}

/// The gradients of a chain of norms, maps and activations, and the memory that its values take.
struct ChainResult {
  std::vector<float> gradients;
  size_t held = 0;  // after the forward pass
};
ChainResult chain(bool save_memory) {
  constexpr int64_t kRows = 300, kWidth = 64;
  Parameter<float> weight = test::random_parameter<float>(kWidth, kWidth, 1),
                   bias = test::random_parameter<float>(1, kWidth, 2),
                   scale = test::random_parameter<float>(1, kWidth, 3),
                   shift = test::random_parameter<float>(1, kWidth, 4);
  const Matrix<float> input = test::random_matrix<float>(kRows, kWidth, 5);
  ChainResult result;
  Tape<float> tape({.training = true, .seed = 3, .step = 1, .save_memory = save_memory});
  const size_t before = pool_statistics().bytes_in_use;
  Var<float> x = tape.reference(input);
  for (int layer = 0; layer < 3; ++layer) {
    const Var<float> y = layer_norm(tape, x, tape.parameter(scale), tape.parameter(shift));
    const Var<float> z =
        dropout_gelu(tape, linear(tape, y, tape.parameter(weight), tape.parameter(bias)), 0.3);
    x = add_dropout(tape, x, linear(tape, z, tape.parameter(weight)), 0.2);
  }
  result.held = pool_statistics().bytes_in_use - before;
  x = mean(tape, x);
  tape.backward(x);
  for (const Parameter<float>* p : {&weight, &bias, &scale, &shift}) {
    result.gradients.insert(result.gradients.end(), p->grad.values().begin(),
                            p->grad.values().end());
  }
  return result;
}

TEST(Tape, ValuesThatAreMadeAgainHaveTheSameBitsAndAreNotHeld) {
  const ChainResult kept = chain(false), saved = chain(true);
  EXPECT_EQ(kept.gradients, saved.gradients);
  // A layer keeps norm, slope, activation and its end; or the end alone, and the numbers of the
  // norm.
  EXPECT_LT(saved.held, 0.35 * static_cast<double>(kept.held));
}

TEST(Tape, AValueThatSomebodyHoldsIsNotFreed) {
  const Matrix<float> input = test::random_matrix<float>(50, 64, 1);
  Parameter<float> weight = test::random_parameter<float>(64, 64, 2);
  Tape<float> tape({.training = true, .save_memory = true});
  Var<float> x = linear(tape, tape.reference(input), tape.parameter(weight));
  const Matrix<float> bits = x.value().clone();
  const Var<float> later = x.for_backward();
  Var<float> held = x;
  const float* const before = held.value().data();
  x = Var<float>();
  EXPECT_EQ(held.value().data(), before);
  const size_t in_use = pool_statistics().bytes_in_use;
  held = Var<float>();
  EXPECT_LT(pool_statistics().bytes_in_use, in_use);
  EXPECT_EQ(later.rows(), 50) << "known without making it again";
  EXPECT_LT(pool_statistics().bytes_in_use, in_use);
  EXPECT_TRUE(std::ranges::equal(later.value().values(), bits.values()));
}

TEST(Tape, ALossThatIsNotANumberIsRefused) {
  Parameter<float> p = test::random_parameter<float>(2, 2, 1);
  Tape<float> tape({.training = true});
  EXPECT_THROW(tape.backward(tape.parameter(p)), InternalError);
}

TEST(OperationTimes, HaveTheNameOfTheFunctionAndItsCallsInBothDirections) {
  Parameter<double> p = test::random_parameter<double>(40, 40, 1);
  const auto pass = [&](bool training) {
    Tape<double> tape({.training = training});
    const Var<double> x = matmul(tape, tape.parameter(p), tape.parameter(p));
    const Var<double> loss = mean(tape, dropout_gelu(tape, matmul(tape, x, x), 0.5));
    if (training) tape.backward(loss);
  };
  pass(true);
  EXPECT_TRUE(operation_times().empty()) << "nothing is counted before it is asked for";
  profile_operations(true);
  pass(true);
  pass(false);
  std::map<std::string, OperationTime> times;
  for (const OperationTime& time : operation_times()) times[time.name] = time;
  profile_operations(false);
  EXPECT_TRUE(operation_times().empty());
  ASSERT_EQ(times.size(), 4U);  // without training, dropout_gelu() is activate()
  EXPECT_EQ(times["matmul"].calls, 4);
  EXPECT_EQ(times["dropout_gelu"].calls, 1);
  EXPECT_EQ(times["activate"].calls, 1);
  EXPECT_EQ(times["mean"].calls, 2);
  for (const auto& [name, time] : times) {
    EXPECT_GT(time.forward, 0) << name;
    EXPECT_EQ(time.backward > 0, name != "activate") << name;
  }
}

TEST(SpdInverse, TimesTheMatrixIsTheIdentityAndOthersAreRefused) {
  Tape<float> tape;
  const Var<float> a = gram(tape, tape.constant(test::random_matrix<float>(50, 6, 3)));
  const Matrix<float> one = matmul(tape, a, spd_inverse(tape, a)).value().clone();
  for (int64_t i = 0; i < 6; ++i) {
    for (int64_t j = 0; j < 6; ++j) EXPECT_NEAR(one(i, j), i == j ? 1 : 0, 1e-5);
  }
  EXPECT_THROW(spd_inverse(tape, tape.constant(Matrix<float>::filled(3, 3, 1.0f))), ComputeError);
  EXPECT_THROW(spd_inverse(tape, tape.constant(Matrix<float>::filled(2, 2, std::nanf("")))),
               ComputeError);
}

}  // namespace
}  // namespace dgat::tensor
