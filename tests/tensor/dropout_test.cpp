#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/tensor/ops.h"
#include "dgat/tensor/simd.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {

Matrix<float> masked_ones(const TapeOptions& options, double p, int operations = 1) {
  Tape<float> tape(options);
  const Var<float> ones = tape.constant(Matrix<float>::filled(300, 101, 1.0f));
  Var<float> out;
  for (int i = 0; i < operations; ++i) out = dropout(tape, ones, p);
  return out.value().clone();
}
bool equal(const Matrix<float>& a, const Matrix<float>& b) {
  return std::equal(a.values().begin(), a.values().end(), b.values().begin(), b.values().end());
}

TEST(Dropout, DropsTheShareAskedForAndKeepsTheMean) {
  const double p = 0.2;
  const Matrix<float> y = masked_ones({.training = true, .seed = 3, .step = 1}, p);
  double sum = 0, dropped = 0;
  for (const float v : y.values()) {
    sum += v;
    dropped += v == 0 ? 1 : 0;
    if (v != 0) {
      EXPECT_NEAR(v, 1 / (1 - p), 1e-5);
    }
  }
  const double n = static_cast<double>(y.size()), deviation = std::sqrt(p * (1 - p) / n);
  EXPECT_NEAR(dropped / n, p, 4 * deviation);
  EXPECT_NEAR(sum / n, 1, 6 * deviation);
}

TEST(Dropout, MaskIsAFunctionOfSeedStepAndOperation) {
  const TapeOptions base{.training = true, .seed = 3, .step = 1};
  const Matrix<float> y = masked_ones(base, 0.5);
  EXPECT_TRUE(equal(y, masked_ones(base, 0.5)));
  EXPECT_FALSE(equal(y, masked_ones({.training = true, .seed = 4, .step = 1}, 0.5)));
  EXPECT_FALSE(equal(y, masked_ones({.training = true, .seed = 3, .step = 2}, 0.5)));
  EXPECT_FALSE(equal(y, masked_ones(base, 0.5, 2)));
}

TEST(Dropout, IsTheIdentityOutsideTrainingAndAtZero) {
  EXPECT_TRUE(equal(masked_ones({.training = false}, 0.5), Matrix<float>::filled(300, 101, 1.0f)));
  EXPECT_TRUE(equal(masked_ones({.training = true}, 0), Matrix<float>::filled(300, 101, 1.0f)));
}

TEST(Dropout, FusedFormsEqualTheirParts) {
  const Matrix<float> x = test::random_matrix<float>(57, 33, 1),
                      y = test::random_matrix<float>(57, 33, 2);
  const TapeOptions options{.training = true, .seed = 8, .step = 4};
  Tape<float> a(options), b(options);
  EXPECT_TRUE(equal(dropout_gelu(a, a.reference(x), 0.3).value(),
                    gelu(b, dropout(b, b.reference(x), 0.3)).value()));
  const auto gradient = [&](const auto& forward) {
    Parameter<float> p;
    p.value = x.clone();
    Tape<float> tape(options);
    tape.backward(mean(tape, forward(tape, tape.parameter(p))));
    return std::move(p.grad);
  };
  const Matrix<float> at_once =
      gradient([](auto& t, const auto& v) { return dropout_gelu(t, v, 0.3); });
  const Matrix<float> by_parts =
      gradient([](auto& t, const auto& v) { return gelu(t, dropout(t, v, 0.3)); });
  for (int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(at_once.data()[i], by_parts.data()[i], 1e-9);  // of at most 1e-3
  }
  // Not to the last bit: in one pass, the product and the sum may be one instruction.
  const Var<float> fused = add_dropout(a, a.reference(x), a.reference(y), 0.3);
  const Var<float> parts = add(b, b.reference(x), dropout(b, b.reference(y), 0.3));
  for (int64_t i = 0; i < x.size(); ++i) {
    EXPECT_NEAR(fused.value().data()[i], parts.value().data()[i], 1e-6);
  }
}

/// Value, gradients and running statistics of dropout(ReLU(norm(a + b))).
struct NormPass {
  Matrix<float> value, da, db, dweight, dbias, mean, variance;
};
template <class Forward>
NormPass norm_pass(int64_t rows, int64_t cols, bool training, const Forward& forward) {
  Parameter<float> a = test::random_parameter<float>(rows, cols, 1),
                   b = test::random_parameter<float>(rows, cols, 2),
                   weight = test::random_parameter<float>(1, cols, 3),
                   bias = test::random_parameter<float>(1, cols, 4);
  BatchNormState<float> state;
  state.mean = test::random_matrix<float>(1, cols, 5);
  state.variance = Matrix<float>::filled(1, cols, 0.7F);
  Tape<float> tape({.training = training, .seed = 8, .step = 4});
  const Var<float> y = forward(tape, tape.parameter(a), tape.parameter(b), tape.parameter(weight),
                               tape.parameter(bias), state);
  Matrix<float> value = y.value().clone();
  if (training) tape.backward(test::probe(tape, y));
  return {std::move(value),         std::move(a.grad),    std::move(b.grad),
          std::move(weight.grad),   std::move(bias.grad), std::move(state.mean),
          std::move(state.variance)};
}

class NormReluDropout : public testing::TestWithParam<SimdLevel> {};

TEST_P(NormReluDropout, HasTheBitsOfItsParts) {
  if (GetParam() > best_simd_level()) GTEST_SKIP() << "this processor has no such instructions";
  const SimdLevel before = simd_level();
  set_simd_level(GetParam());
  for (const int64_t cols : {1, 7, 16, 33, 64, 256}) {
    for (const double p : {0.0, 0.4}) {
      for (const bool training : {true, false}) {
        const NormPass fused = norm_pass(
            1031, cols, training,
            [p](auto& t, const auto& a, const auto& b, const auto& w, const auto& c, auto& state) {
              return batch_norm_relu_dropout(t, a, b, w, c, state, p);
            });
        const NormPass parts = norm_pass(
            1031, cols, training,
            [p](auto& t, const auto& a, const auto& b, const auto& w, const auto& c, auto& state) {
              const auto y = batch_norm(t, add(t, a, b), w, c, state);
              return dropout(t, activate(t, y, Activation::kRelu), p);
            });
        EXPECT_TRUE(equal(fused.value, parts.value)) << cols << " " << p << " " << training;
        EXPECT_TRUE(equal(fused.da, parts.da)) << cols << " " << p;
        EXPECT_TRUE(equal(fused.db, parts.db)) << cols << " " << p;
        EXPECT_TRUE(equal(fused.dweight, parts.dweight)) << cols << " " << p;
        EXPECT_TRUE(equal(fused.dbias, parts.dbias)) << cols << " " << p;
        EXPECT_TRUE(equal(fused.mean, parts.mean)) << cols << " " << p;
        EXPECT_TRUE(equal(fused.variance, parts.variance)) << cols << " " << p;
      }
    }
  }
  set_simd_level(before);
}

INSTANTIATE_TEST_SUITE_P(Levels, NormReluDropout,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2,
                                         SimdLevel::kAvx512),
                         [](const auto& info) { return to_string(info.param); });

TEST(ReluDropout, HasTheBitsOfItsParts) {
  const auto pass = [](const auto& forward) {
    Parameter<float> x = test::random_parameter<float>(57, 33, 1);
    Tape<float> tape({.training = true, .seed = 8, .step = 4});
    const Var<float> y = forward(tape, tape.parameter(x));
    Matrix<float> value = y.value().clone();
    tape.backward(test::probe(tape, y));
    return std::pair(std::move(value), std::move(x.grad));
  };
  const auto fused = pass([](auto& t, const auto& x) { return relu_dropout(t, x, 0.4); });
  const auto parts = pass(
      [](auto& t, const auto& x) { return dropout(t, activate(t, x, Activation::kRelu), 0.4); });
  EXPECT_TRUE(equal(fused.first, parts.first));
  EXPECT_TRUE(equal(fused.second, parts.second));
}

}  // namespace
}  // namespace dgat::tensor
