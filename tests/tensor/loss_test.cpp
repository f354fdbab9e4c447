#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/tensor/adam.h"
#include "dgat/tensor/ops.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {

TEST(Loss, UniformLogitsCostTheLogarithmOfTheClasses) {
  Tape<double> tape;
  const std::vector<int32_t> labels = {0, 3, 1}, rows = {0, 1, 2};
  const Var<double> loss =
      cross_entropy<double>(tape, tape.constant(Matrix<double>::filled(3, 4, 5.0)), labels, rows);
  EXPECT_NEAR(loss.value()(0, 0), std::log(4.0), 1e-14);
}

TEST(Loss, ExtremeLogitsStayFinite) {
  Tape<float> tape;
  const std::vector<int32_t> labels = {0, 1}, rows = {0, 1};
  const Var<float> wide =
      tape.constant(Matrix<float>::from(2, 2, std::vector<float>{1e4f, -1e4f, 1e4f, -1e4f}));
  EXPECT_NEAR(cross_entropy<float>(tape, wide, labels, rows).value()(0, 0), 1e4, 1);
  const Var<float> one = tape.constant(Matrix<float>::from(2, 1, std::vector<float>{-1e4f, -1e4f}));
  EXPECT_NEAR(binary_cross_entropy<float>(tape, one, labels, rows).value()(0, 0), 5e3, 1);
}

TEST(Loss, BinaryIsTheTwoClassSoftmaxWithOneLogitAtZero) {
  Tape<double> tape;
  const Matrix<double> z = test::random_matrix<double>(6, 1, 1);
  Matrix<double> pair = Matrix<double>::zeros(6, 2);
  for (int64_t i = 0; i < 6; ++i) pair(i, 1) = z(i, 0);
  const std::vector<int32_t> labels = {0, 1, 1, 0, 1, 0}, rows = {5, 1, 2};
  EXPECT_NEAR(binary_cross_entropy<double>(tape, tape.reference(z), labels, rows).value()(0, 0),
              cross_entropy<double>(tape, tape.reference(pair), labels, rows).value()(0, 0), 1e-14);
}

TEST(Loss, ALabelOutsideTheClassesIsRefused) {
  Tape<float> tape;
  const std::vector<int32_t> labels = {4}, rows = {0};
  EXPECT_THROW(cross_entropy<float>(tape, tape.constant(Matrix<float>::zeros(1, 4)), labels, rows),
               InternalError);
}

/// The textbook recurrences, one entry, in double.
double adam_by_hand(double x, const std::vector<double>& gradients, const AdamOptions& o) {
  double m = 0, v = 0;
  for (size_t t = 1; t <= gradients.size(); ++t) {
    double g = gradients[t - 1];
    if (o.decoupled) {
      x -= o.lr * o.weight_decay * x;
    } else {
      g += o.weight_decay * x;
    }
    m = o.beta1 * m + (1 - o.beta1) * g;
    v = o.beta2 * v + (1 - o.beta2) * g * g;
    const double step = static_cast<double>(t);
    x -= o.lr * (m / (1 - std::pow(o.beta1, step))) /
         (std::sqrt(v / (1 - std::pow(o.beta2, step))) + o.epsilon);
  }
  return x;
}

TEST(Adam, MatchesTheTextbookWithBothKindsOfDecay) {
  const std::vector<double> gradients = {0.5, -1, 0.25, 3};
  for (const bool decoupled : {true, false}) {
    const AdamOptions options{.lr = 0.1, .weight_decay = 0.05, .decoupled = decoupled};
    Parameter<double> p = test::random_parameter<double>(3, 5, 1);
    const double start = p.value(1, 2);
    AdamMoments<double> moments;
    for (size_t t = 0; t < gradients.size(); ++t) {
      p.grad = Matrix<double>::filled(3, 5, gradients[t] / 2);
      p.has_grad = true;
      adam_update(p, moments, options, static_cast<int64_t>(t) + 1, 2);
    }
    EXPECT_NEAR(p.value(1, 2), adam_by_hand(start, gradients, options), 1e-13);
  }
}

TEST(Adam, ManyParametersAtOnceAreUpdatedAsEachAlone) {
  std::array<Parameter<float>, 3> alone{test::random_parameter<float>(200, 100, 1),
                                        test::random_parameter<float>(1, 7, 2),
                                        test::random_parameter<float>(3, 3, 3)};
  std::array<Parameter<float>, 3> together;
  std::array<AdamMoments<float>, 3> moments, moments_together;
  std::array<Parameter<float>*, 3> pointers;
  for (size_t i = 0; i < 3; ++i) {
    alone[i].weight_decay = i != 1;
    together[i].value = alone[i].value.clone();
    together[i].weight_decay = alone[i].weight_decay;
    pointers[i] = &together[i];
  }
  const AdamOptions options{.lr = 0.1, .weight_decay = 0.05};
  for (int64_t step = 1; step <= 3; ++step) {
    for (size_t i = 0; i < 3; ++i) {
      if (i == 2 && step == 2) {  // one step without a gradient
        alone[i].clear_grad();
        together[i].clear_grad();
        continue;
      }
      const Matrix<float>& value = alone[i].value;
      alone[i].grad = test::random_matrix<float>(value.rows(), value.cols(),
                                                 static_cast<uint64_t>(10 * step) + i);
      together[i].grad = alone[i].grad.clone();
      alone[i].has_grad = together[i].has_grad = true;
      adam_update(alone[i], moments[i], options, step);
    }
    adam_update<float>(pointers, moments_together, options, step);
  }
  for (size_t i = 0; i < 3; ++i) {
    for (int64_t k = 0; k < alone[i].value.size(); ++k) {
      ASSERT_EQ(alone[i].value.data()[k], together[i].value.data()[k]) << i << " entry " << k;
    }
  }
}

TEST(Adam, NamesTheFirstGradientThatIsNotFinite) {
  std::array<Parameter<float>, 3> parameters;
  std::array<Parameter<float>*, 3> pointers;
  std::array<AdamMoments<float>, 3> moments;
  for (size_t i = 0; i < 3; ++i) {
    parameters[i].value = Matrix<float>::filled(300, 100, 1);
    parameters[i].grad = Matrix<float>::zeros(300, 100);
    parameters[i].has_grad = true;
    pointers[i] = &parameters[i];
  }
  const auto first = [&] { return adam_update<float>(pointers, moments, {}, 1); };
  EXPECT_EQ(first(), -1);
  parameters[2].grad(299, 99) = std::numeric_limits<float>::infinity();
  EXPECT_EQ(first(), 2);
  parameters[1].grad(0, 0) = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(first(), 1);
  EXPECT_EQ(parameters[1].value(0, 0), 1) << "no value is spoilt";
  EXPECT_EQ(parameters[2].value(299, 99), 1);
  parameters[1].clear_grad();
  EXPECT_EQ(first(), 2);
}

TEST(Adam, LeavesAParameterWithoutGradientAlone) {
  Parameter<float> p = test::random_parameter<float>(2, 2, 1);
  const float before = p.value(0, 0);
  AdamMoments<float> moments;
  adam_update(p, moments, {.lr = 1, .weight_decay = 1}, 1);
  EXPECT_EQ(p.value(0, 0), before);
}

TEST(Adam, AParameterMayHaveItsOwnLearningRateAndDecay) {
  for (const bool decoupled : {true, false}) {
    Parameter<double> p = test::random_parameter<double>(1, 1, 1);
    p.lr_scale = 0.5;
    p.own_weight_decay = 0.05;
    const double start = p.value(0, 0);
    AdamMoments<double> moments;
    for (int64_t t = 1; t <= 3; ++t) {
      p.grad = Matrix<double>::filled(1, 1, 0.25);
      p.has_grad = true;
      adam_update(p, moments, {.lr = 0.2, .weight_decay = 7, .decoupled = decoupled}, t);
    }
    const AdamOptions meant{.lr = 0.1, .weight_decay = 0.05, .decoupled = decoupled};
    EXPECT_NEAR(p.value(0, 0), adam_by_hand(start, {0.25, 0.25, 0.25}, meant), 1e-13);
  }
}

TEST(Adam, DecayRespectsTheParametersFlag) {
  Parameter<double> p = test::random_parameter<double>(1, 1, 1);
  p.weight_decay = false;
  p.grad = Matrix<double>::zeros(1, 1);
  p.has_grad = true;
  const double before = p.value(0, 0);
  AdamMoments<double> moments;
  adam_update(p, moments, {.lr = 0.1, .weight_decay = 0.5}, 1);
  EXPECT_EQ(p.value(0, 0), before);
}

}  // namespace
}  // namespace dgat::tensor
