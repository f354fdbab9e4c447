#include "dgat/tensor/ops.h"
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

}  // namespace
}  // namespace dgat::tensor
