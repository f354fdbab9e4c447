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

TEST(Tape, KeepsAProductForThePassWithTheSameWeights) {
  Parameter<double> w = test::random_parameter<double>(2, 3, 1),
                    other = test::random_parameter<double>(2, 3, 2);
  const Matrix<double> x = test::random_matrix<double>(4, 3, 4);
  Tape<double> tape;
  const auto evaluate = [&](uint64_t weights) {
    tape.begin({.weights = weights});
    tape.keep(w, linear(tape, tape.reference(x), tape.parameter(w)));
  };
  evaluate(7);
  tape.begin({.training = true, .weights = 7});
  EXPECT_TRUE(tape.take_kept(other).empty());
  const Matrix<double> kept = tape.take_kept(w);
  EXPECT_EQ(kept.rows(), 4);
  EXPECT_TRUE(tape.take_kept(w).empty()) << "it is given away once";

  // With the product taken over, the gradient is the same.
  tape.backward(mean(tape, linear(tape, tape.reference(x), tape.parameter(w), {}, kept.clone())));
  const Matrix<double> grad = w.grad.clone();
  w.clear_grad();
  tape.begin({.training = true});
  tape.backward(mean(tape, linear(tape, tape.reference(x), tape.parameter(w))));
  for (int64_t i = 0; i < grad.size(); ++i) EXPECT_EQ(grad.data()[i], w.grad.data()[i]);

  evaluate(7);
  tape.begin({.training = true, .weights = 8});
  EXPECT_TRUE(tape.take_kept(w).empty()) << "the weights have changed";
  evaluate(0);
  tape.begin({.training = true, .weights = 0});
  EXPECT_TRUE(tape.take_kept(w).empty()) << "0 promises nothing";
}

TEST(Tape, CopiesWhatAnotherTapeKeeps) {
  Parameter<double> w = test::random_parameter<double>(2, 3, 1);
  const Matrix<double> x = test::random_matrix<double>(4, 3, 4);
  Tape<double> one({.weights = 7}), two({.weights = 6});
  one.keep(w, linear(one, one.reference(x), one.parameter(w)));
  two.copy_kept(one);
  two.begin({.training = true, .weights = 7});
  const Matrix<double> copy = two.take_kept(w), original = one.take_kept(w);
  ASSERT_EQ(copy.rows(), 4);
  EXPECT_NE(copy.data(), original.data());
  for (int64_t i = 0; i < copy.size(); ++i) EXPECT_EQ(copy.data()[i], original.data()[i]);
}

/// One weight is used twice, so that its second gradient has to wait for the first.
TEST(Tape, GradientsComputedAsideHaveTheSameBits) {
  Parameter<float> w = test::random_parameter<float>(48, 48, 1),
                   last = test::random_parameter<float>(48, 48, 2),
                   bias = test::random_parameter<float>(1, 48, 3);
  const Matrix<float> x = test::random_matrix<float>(150, 48, 4);
  const auto gradients = [&](int threads, bool aside) {
    const ThreadScope scope(threads);
    for (auto* p : {&w, &last, &bias}) p->clear_grad();
    Tape<float> tape({.training = true, .gradients_aside = aside});
    Var<float> y =
        gelu(tape, linear(tape, tape.reference(x), tape.parameter(w), tape.parameter(bias)));
    y = gelu(tape, linear(tape, y, tape.parameter(w), tape.parameter(bias)));
    tape.backward(mean(tape, linear(tape, y, tape.parameter(last))));
    std::vector<float> all;
    for (const auto* p : {&w, &last, &bias}) {
      all.insert(all.end(), p->grad.data(), p->grad.data() + p->grad.size());
    }
    return all;
  };
  const std::vector<float> expected = gradients(1, false);
  for (int round = 0; round < 50; ++round) {
    for (const int threads : {1, 2, 3}) ASSERT_EQ(gradients(threads, true), expected);
  }
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
