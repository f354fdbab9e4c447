#include "dgat/tensor/tape.h"

#include "dgat/core/error.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
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
  const Var<double> aside = gelu(tape, tape.parameter(unused));
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

TEST(Tape, ALossThatIsNotANumberIsRefused) {
  Parameter<float> p = test::random_parameter<float>(2, 2, 1);
  Tape<float> tape({.training = true});
  EXPECT_THROW(tape.backward(tape.parameter(p)), InternalError);
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
