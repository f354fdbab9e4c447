// Every instruction set against plain loops with the C library in double. Widths are chosen around
// the vector lengths; tolerances are a few units in the last place of float.
#include "kernels/kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/tensor/simd.h"
#include "support/gradcheck.h"

namespace dgat::tensor {

/// GoogleTest prints an instruction set by its name.
inline void PrintTo(SimdLevel level, std::ostream* out) {
  *out << to_string(level);
}

namespace {

class Level : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > best_simd_level()) GTEST_SKIP() << "this processor has no such instructions";
    before_ = simd_level();
    set_simd_level(GetParam());
  }
  void TearDown() override {
    if (GetParam() <= best_simd_level()) set_simd_level(before_);
  }
  SimdLevel before_ = SimdLevel::kBaseline;
};

double exact(Activation a, double x) {
  switch (a) {
    case Activation::kGelu:
      return 0.5 * x * std::erfc(-x / std::sqrt(2.0));
    case Activation::kElu:
      return x > 0 ? x : std::expm1(x);
    case Activation::kRelu:
      return std::max(0.0, x);
    case Activation::kLeakyRelu:
      return x > 0 ? x : 0.2 * x;
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
  }
  return 0;
}
double exact_derivative(Activation a, double x) {
  const double y = exact(a, x);
  switch (a) {
    case Activation::kGelu:
      return 0.5 * std::erfc(-x / std::sqrt(2.0)) +
             x * std::exp(-0.5 * x * x) / std::sqrt(2 * std::numbers::pi);
    case Activation::kElu:
      return x > 0 ? 1 : std::exp(x);
    case Activation::kRelu:
      return x > 0 ? 1 : 0;
    case Activation::kLeakyRelu:
      return x > 0 ? 1 : 0.2;
    case Activation::kTanh:
      return 1 - y * y;
    case Activation::kSigmoid:
      return y * (1 - y);
  }
  return 0;
}

TEST_P(Level, AdamMatchesDoubleForGradientsOfEverySize) {
  const AdamStep step{.lr = 0.01,
                      .beta1 = 0.9,
                      .beta2 = 0.999,
                      .epsilon = 1e-8,
                      .correction1 = 0.1,
                      .correction2 = 0.001,
                      .l2 = 0.5,
                      .shrink = 0.75,
                      .gradient_scale = 2};
  // From zero over squares that vanish in float to squares that overflow; an odd number of them.
  std::vector<float> gradient = {0, -1e-30F, 1e-20F, 3e18F, 1e25F, 1e-8F, -2e-8F};
  for (double size = 1e-12; size < 1e12; size *= 1.37) {
    gradient.push_back(static_cast<float>(gradient.size() % 2 == 0 ? size : -size));
  }
  const size_t n = gradient.size();
  std::vector<float> value(n, 1.5F), first(n, 0.125F), second(n, 0.25F);
  for (size_t i = 0; i < n; i += 3) value[i] = first[i] = second[i] = 0;
  const std::vector<float> v = value, m = first, s = second;
  kernels<float>().adam(value.data(), gradient.data(), first.data(), second.data(),
                        static_cast<int64_t>(n), step);
  for (size_t i = 0; i < n; ++i) {
    const double g = 2.0 * double{gradient[i]} + 0.5 * double{v[i]};
    const double mean = 0.9 * double{m[i]} + 0.1 * g, square = 0.999 * double{s[i]} + 0.001 * g * g;
    const double change = 0.01 / 0.1 * mean / (std::sqrt(square / 0.001) + 1e-8);
    EXPECT_NEAR(first[i], mean, 1e-6 * std::abs(mean)) << gradient[i];
    if (square > 1e38) {  // what overflows gives some finite step
      EXPECT_LE(std::abs(value[i]), 2) << gradient[i];
      continue;
    }
    EXPECT_NEAR(value[i], 0.75 * double{v[i]} - change, 1e-6 * (std::abs(change) + 1))
        << gradient[i];
  }
}

TEST_P(Level, ActivationsMatchTheCLibrary) {
  std::vector<float> x;
  for (double v = -20; v <= 20; v += 0.00137) x.push_back(static_cast<float>(v));
  const int64_t n = static_cast<int64_t>(x.size());
  for (const Activation a : {Activation::kGelu, Activation::kElu, Activation::kRelu,
                             Activation::kLeakyRelu, Activation::kTanh, Activation::kSigmoid}) {
    std::vector<float> y(x.size()), g(x.size(), 1.0f);
    kernels<float>().activate(a, 0.2f, x.data(), y.data(), n);
    kernels<float>().activate_backward(a, 0.2f, x.data(), g.data(), n);
    double worst = 0, worst_derivative = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      const double e = exact(a, x[i]), d = exact_derivative(a, x[i]);
      worst = std::max(worst, std::abs(y[i] - e) / (1 + std::abs(e)));
      worst_derivative = std::max(worst_derivative, std::abs(g[i] - d));
    }
    EXPECT_LT(worst, 4e-7) << "activation " << static_cast<int>(a);
    EXPECT_LT(worst_derivative, 6e-7) << "activation " << static_cast<int>(a);
  }
}

TEST_P(Level, ExponentialIsRelativelyAccurateAndHandlesTheEnds) {
  std::vector<float> x;
  for (double v = -87; v <= 88.7; v += 0.0031) x.push_back(static_cast<float>(v));
  std::vector<float> y(x.size());
  kernels<float>().exponential(x.data(), y.data(), static_cast<int64_t>(x.size()));
  double worst = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double e = std::exp(static_cast<double>(x[i]));
    worst = std::max(worst, std::abs(y[i] - e) / e);
  }
  EXPECT_LT(worst, 2e-7);
  const float inf = std::numeric_limits<float>::infinity();
  const float ends[] = {-inf, -200, 200, inf, std::nanf(""), 0};
  float out[6];
  kernels<float>().exponential(ends, out, 6);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
  EXPECT_EQ(out[2], inf);
  EXPECT_EQ(out[3], inf);
  EXPECT_TRUE(std::isnan(out[4]));
  EXPECT_EQ(out[5], 1);
}

TEST_P(Level, TailsOfEveryLengthEqualTheWholeVectors) {
  const Matrix<float> x = test::random_matrix<float>(1, 64, 3);
  float whole[64], part[64];
  kernels<float>().activate(Activation::kGelu, 0, x.data(), whole, 64);
  for (int64_t n = 0; n <= 64; ++n) {
    kernels<float>().activate(Activation::kGelu, 0, x.data(), part, n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(part[i], whole[i]);
  }
}

TEST_P(Level, DropoutBitsArePhiloxAndTheSameEverywhere) {
  const DropoutMask mask{0x123456789ABCDEFull, (uint64_t{7} << 32) + 5, 20000, 1};
  const Philox philox(mask.seed, mask.stream);
  const int64_t n = 1500, position = 64 * 11;
  std::vector<float> ones(n, 1.0f), y(n);
  kernels<float>().dropout(mask, position, ones.data(), y.data(), n);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t group = (position + i) / 64, word = (position + i) % 64 / 4, half = i % 4;
    const auto block = philox(static_cast<uint64_t>(group * 8 + word % 8));
    const size_t first = word < 8 ? 0 : 2;
    const uint64_t pair = block[first] | (uint64_t{block[first + 1]} << 32);
    const uint32_t bits = static_cast<uint32_t>(pair >> (16 * half)) & 0xFFFF;
    EXPECT_EQ(y[static_cast<size_t>(i)], bits >= mask.threshold ? 1.0f : 0.0f) << i;
  }
  // The same bits from any starting position.
  std::vector<float> signs(100, 1.0f);
  kernels<float>().negate_dropped(mask, position + 77, signs.data(), 100);
  for (size_t i = 0; i < 100; ++i) EXPECT_EQ(signs[i] > 0, y[77 + i] > 0);
}

TEST_P(Level, LayerNormMatchesTheFormula) {
  for (const int64_t cols : {1, 7, 16, 33, 512}) {
    const Matrix<float> x = test::random_matrix<float>(3, cols, 1, 5),
                        w = test::random_matrix<float>(1, cols, 2);
    const Matrix<float> b = test::random_matrix<float>(1, cols, 3);
    Matrix<float> out(3, cols), stats(3, 2);
    kernels<float>().layer_norm(x.data(), w.data(), b.data(), 1e-5f, out.data(), stats.data(), 3,
                                cols);
    for (int64_t i = 0; i < 3; ++i) {
      double mean = 0, variance = 0;
      for (int64_t c = 0; c < cols; ++c) mean += x(i, c) / static_cast<double>(cols);
      for (int64_t c = 0; c < cols; ++c) {
        variance += (x(i, c) - mean) * (x(i, c) - mean) / static_cast<double>(cols);
      }
      for (int64_t c = 0; c < cols; ++c) {
        const double e = (x(i, c) - mean) / std::sqrt(variance + 1e-5) * w(0, c) + b(0, c);
        EXPECT_NEAR(out(i, c), e, 1e-5 * (1 + std::abs(e))) << cols;
      }
    }
  }
}

TEST_P(Level, SparseRowsMatchPlainLoops) {
  // One row is empty, and some entries belong to no row.
  const int64_t begins[] = {1, 3, 3, 9}, ends[] = {3, 3, 8, 20};
  std::vector<int32_t> columns;
  for (int32_t e = 0; e < 20; ++e) columns.push_back(e * 7 % 6);
  const Matrix<float> values = test::random_matrix<float>(1, 20, 2);
  for (const int64_t width : {1, 9, 16, 32, 64, 128, 130}) {
    const Matrix<float> x = test::random_matrix<float>(6, width, 1);
    for (const bool far : {false, true}) {
      Matrix<float> out = Matrix<float>::filled(5, width, 77);
      kernels<float>().sparse_rows({begins, ends, 4, columns.data(), values.data()}, x.data(),
                                   width, far, out.data());
      for (int64_t c = 0; c < width; ++c) {
        for (int64_t i = 0; i < 4; ++i) {
          double expected = 0;
          for (int64_t e = begins[i]; e < ends[i]; ++e) {
            expected += static_cast<double>(values(0, e)) * x(columns[static_cast<size_t>(e)], c);
          }
          EXPECT_NEAR(out(i, c), expected, 1e-5) << width;
        }
        EXPECT_EQ(out(4, c), 77) << "no row too many";
      }
    }
  }
}

TEST_P(Level, GatheringKernelsMatchPlainLoops) {
  for (const int64_t d : {1, 2, 3, 4, 6, 8, 15, 16, 17, 32, 64}) {
    for (const int64_t heads : {1, 3, 8}) {
      const int64_t width = heads * d, count = 11;
      const Matrix<float> data = test::random_matrix<float>(6, width, 1);
      const Matrix<float> weights = test::random_matrix<float>(count, heads, 2);
      const Matrix<float> x = test::random_matrix<float>(1, width, 3),
                          a = test::random_matrix<float>(1, width, 4);
      const int32_t index[] = {0, 5, 2, 2, 1, 4, 3, 0, 5, 1, 2};
      const IndexedRows<float> rows{data.data(), index, width};
      Matrix<float> sum = Matrix<float>::zeros(1, width), dots(count, heads), v2(count, heads);
      kernels<float>().weighted_sum(rows, weights.data(), heads, count, sum.data());
      kernels<float>().dots(x.data(), rows, heads, count, dots.data());
      Matrix<float> own(6, heads);
      kernels<float>().head_dots(data.data(), x.data(), heads, d, 6, own.data());
      for (int64_t e = 0; e < count; ++e) {
        for (int64_t h = 0; h < heads; ++h) EXPECT_EQ(own(index[e], h), dots(e, h));
      }
      kernels<float>().gatv2_scores(x.data(), rows, a.data(), 0.2f, heads, count, v2.data());
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t c = h * d; c < (h + 1) * d; ++c) {
          double expected = 0;
          for (int64_t e = 0; e < count; ++e) {
            expected += static_cast<double>(weights(e, h)) * data(index[e], c);
          }
          EXPECT_NEAR(sum(0, c), expected, 1e-5);
        }
        for (int64_t e = 0; e < count; ++e) {
          double dot = 0, score = 0;
          for (int64_t c = h * d; c < (h + 1) * d; ++c) {
            dot += static_cast<double>(x(0, c)) * data(index[e], c);
            score +=
                static_cast<double>(a(0, c)) *
                exact(Activation::kLeakyRelu, static_cast<double>(x(0, c)) + data(index[e], c));
          }
          EXPECT_NEAR(dots(e, h), dot, 3e-5);
          EXPECT_NEAR(v2(e, h), score, 3e-5);
        }
      }
    }
  }
}

/// GCC joins every product and sum of the kernels, as their flags ask; clang joins some of them.
#ifdef __clang__
constexpr bool kSameRounding = false;
#else
constexpr bool kSameRounding = true;
#endif

/// One arc after another, as the kernels of this level add a product.
float added(float sum, float a, float b) {
  return simd_level() == SimdLevel::kBaseline ? sum + a * b : std::fma(a, b, sum);
}

TEST_P(Level, WeightedSumsAddArcAfterArcAtEveryWidth) {
  const int32_t index[] = {0, 5, 2, 2, 1, 4, 3, 0, 5, 1, 2};
  const int64_t count = std::ssize(index);
  for (const int64_t width : {16, 32, 64, 128, 192, 256, 512, 520, 1024}) {
    for (const int64_t heads : {1, 2, 4, 8}) {
      const auto data = test::random_matrix<float>(6, width, 1),
                 weights = test::random_matrix<float>(count, heads, 2);
      Matrix<float> sum = test::random_matrix<float>(1, width, 3);
      const Matrix<float> before = sum.clone();
      kernels<float>().weighted_sum({data.data(), index, width}, weights.data(), heads, count,
                                    sum.data());
      for (int64_t c = 0; c < width; ++c) {
        float expected = before(0, c);
        for (int64_t e = 0; e < count; ++e) {
          expected = added(expected, data(index[e], c), weights(e, c / (width / heads)));
        }
        // Heads shorter than a vector are added apart from what was there.
        if (!kSameRounding || width / heads < 16) {
          ASSERT_NEAR(sum(0, c), expected, 1e-5);
        } else {
          ASSERT_EQ(sum(0, c), expected) << width << ", " << heads << " heads, column " << c;
        }
      }
    }
  }
}

TEST_P(Level, DotsOfLongHeadsHaveTheBitsOfOneHeadAlone) {
  constexpr int64_t kHeads = 8;
  const int32_t index[] = {0, 5, 2, 2, 1, 4, 3, 0, 5, 1, 2}, in_order[] = {0, 1, 2, 3, 4, 5};
  const int64_t count = std::ssize(index);
  for (const int64_t d : {32, 48, 64, 128}) {
    const auto data = test::random_matrix<float>(6, kHeads * d, 1),
               x = test::random_matrix<float>(1, kHeads * d, 2);
    Matrix<float> dots(count, kHeads);
    kernels<float>().dots(x.data(), {data.data(), index, kHeads * d}, kHeads, count, dots.data());
    for (int64_t h = 0; h < kHeads; ++h) {
      Matrix<float> head(6, d), alone(6, 1);
      for (int64_t i = 0; i < 6; ++i) std::copy_n(data.row(i) + h * d, d, head.row(i));
      kernels<float>().dots(x.data() + h * d, {head.data(), in_order, d}, 1, 6, alone.data());
      for (int64_t e = 0; e < count; ++e) {
        if (!kSameRounding) {
          ASSERT_NEAR(dots(e, h), alone(index[e], 0), 3e-5);
          continue;
        }
        ASSERT_EQ(dots(e, h), alone(index[e], 0)) << d << " columns, head " << h;
      }
    }
  }
}

TEST_P(Level, SoftmaxPartsMatchPlainLoopsForEveryNumberOfHeads) {
  for (const int64_t heads : {1, 3, 4, 8, 12, 16}) {
    for (const int64_t count : {1, 2, 9}) {
      const Matrix<float> scores = test::random_matrix<float>(count, heads, 7, 10);
      Matrix<float> powers = scores.clone(), max(1, heads), sum(1, heads);
      kernels<float>().softmax_parts(powers.data(), heads, count, max.data(), sum.data());
      for (int64_t h = 0; h < heads; ++h) {
        float largest = scores(0, h);
        for (int64_t e = 0; e < count; ++e) largest = std::max(largest, scores(e, h));
        EXPECT_EQ(max(0, h), largest);
        double total = 0;
        for (int64_t e = 0; e < count; ++e) {
          const double power = std::exp(static_cast<double>(scores(e, h) - largest));
          EXPECT_NEAR(powers(e, h), power, 2e-7 * power + 1e-37) << heads << " heads";
          total += power;
        }
        EXPECT_NEAR(sum(0, h), total, 1e-6 * total) << heads << " heads";
      }
    }
  }
}

TEST_P(Level, OneEntryThatIsNotFiniteIsSeenWhereverItStands) {
  for (const int64_t n : {1, 7, 8, 33, 100}) {
    Matrix<float> x = test::random_matrix<float>(1, n, 1);
    x(0, 0) = std::numeric_limits<float>::max();
    EXPECT_TRUE(kernels<float>().all_finite(x.data(), n));
    for (int64_t i = 0; i < n; ++i) {
      for (const float bad : {std::numeric_limits<float>::infinity(),
                              -std::numeric_limits<float>::infinity(), std::nanf("")}) {
        const float before = std::exchange(x.data()[i], bad);
        EXPECT_FALSE(kernels<float>().all_finite(x.data(), n));
        x.data()[i] = before;
      }
    }
  }
}

TEST_P(Level, SmallProductsMatchPlainLoops) {
  // Every rest of rows and columns, an inner dimension of several chunks, both layouts of the left
  // side, and the three ways to begin.
  for (const int64_t rows : {1, 2, 13, 29}) {
    for (const int64_t cols : {1, 5, 8, 19, 29, 40}) {
      for (const int64_t inner : {1, 9, 300}) {
        const Matrix<float> a = test::random_matrix<float>(rows, inner, 1),
                            b = test::random_matrix<float>(inner, cols, 2),
                            bias = test::random_matrix<float>(1, cols, 3),
                            before = test::random_matrix<float>(rows, cols, 4);
        Matrix<float> at(inner, rows);
        kernels<float>().turn(a.data(), inner, rows, inner, at.data());
        for (const bool turned : {false, true}) {
          for (const char* start : {"nothing", "bias", "before"}) {
            const bool accumulate = start == std::string("before");
            const float* first = start == std::string("bias") ? bias.data() : nullptr;
            Matrix<float> c = before.clone();
            kernels<float>().small_product({.a = turned ? at.data() : a.data(),
                                            .a_row = turned ? 1 : inner,
                                            .a_column = turned ? rows : 1,
                                            .b = b.data(),
                                            .b_stride = cols,
                                            .c = c.data(),
                                            .c_stride = cols,
                                            .bias = first,
                                            .rows = rows,
                                            .cols = cols,
                                            .inner = inner,
                                            .accumulate = accumulate});
            for (int64_t i = 0; i < rows; ++i) {
              for (int64_t j = 0; j < cols; ++j) {
                double sum = accumulate ? before(i, j) : first != nullptr ? bias(0, j) : 0;
                for (int64_t l = 0; l < inner; ++l) sum += static_cast<double>(a(i, l)) * b(l, j);
                ASSERT_NEAR(c(i, j), sum, 1e-4)
                    << rows << " x " << inner << " x " << cols << " from " << start << ", "
                    << (turned ? "turned" : "plain");
              }
            }
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(InstructionSets, Level,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2,
                                         SimdLevel::kAvx512),
                         [](const auto& tested) { return to_string(tested.param); });

TEST(Simd, ALevelTheProcessorLacksIsRefused) {
  if (best_simd_level() == SimdLevel::kAvx512) GTEST_SKIP() << "this processor has all levels";
  EXPECT_THROW(set_simd_level(SimdLevel::kAvx512), InputError);
}

}  // namespace
}  // namespace dgat::tensor
