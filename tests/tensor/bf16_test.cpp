// Products of operands that are rounded to bf16: conversion, packing, the emulated tiles, and the
// three products of a linear layer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "bf16_product.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/precision.h"
#include "dgat/tensor/simd.h"
#include "kernels/kernels.h"
#include "support/emulated_tiles.h"
#include "support/gradcheck.h"

namespace dgat::tensor {
namespace {
using test::EmulatedTiles;
using test::random_matrix;
using testing::ElementsAreArray;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

float value_of(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

/// To nearest, ties to even, by comparing distances in double. Above the largest bf16 number the
/// next one would be 2^128, which stands for infinity.
uint16_t nearest(float x) {
  const auto below = static_cast<uint16_t>(std::bit_cast<uint32_t>(x) >> 16);
  if (std::isinf(x)) return below;
  const auto above = static_cast<uint16_t>(below + 1);
  const auto distance = [x](uint16_t bits) {
    const double y = std::isinf(value_of(bits)) ? std::copysign(0x1p128, x) : value_of(bits);
    return std::abs(y - double{x});
  };
  if (distance(below) != distance(above)) return distance(below) < distance(above) ? below : above;
  return below % 2 == 0 ? below : above;
}

class EachLevel : public testing::TestWithParam<SimdLevel> {
 protected:
  void SetUp() override {
    if (GetParam() > best_simd_level()) GTEST_SKIP() << "this processor has no such vectors";
    set_simd_level(GetParam());
  }
  void TearDown() override { set_simd_level(best_simd_level()); }
};
INSTANTIATE_TEST_SUITE_P(Bf16, EachLevel,
                         testing::Values(SimdLevel::kBaseline, SimdLevel::kAvx2,
                                         SimdLevel::kAvx512),
                         [](const auto& level) { return to_string(level.param); });

TEST_P(EachLevel, RoundsEveryClassOfNumbersToNearestEven) {
  // Every upper half (signs, zeros, denormals, infinities, NaN) with lower halves around the tie.
  std::vector<float> all;
  for (uint32_t upper = 0; upper < 0x10000; ++upper) {
    for (const uint32_t lower : {0x0000U, 0x0001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      all.push_back(std::bit_cast<float>((upper << 16) | lower));
    }
  }
  ASSERT_EQ(all.size() % kTileSize, 0U);
  std::array<uint16_t, kTileSize> tile{};
  for (size_t first = 0; first < all.size(); first += kTileSize) {
    kernels<float>().pack_tile({all.data() + first, kTileInner, kTileSide, kTileInner, true, true},
                               tile.data());
    for (size_t i = 0; i < tile.size(); ++i) {
      const float x = all[first + i];
      if (std::isnan(x)) {
        ASSERT_TRUE(std::isnan(value_of(tile[i]))) << std::bit_cast<uint32_t>(x);
      } else {
        ASSERT_EQ(tile[i], nearest(x)) << std::bit_cast<uint32_t>(x);
      }
    }
  }
}

TEST_P(EachLevel, PacksBothSidesOfBothLayoutsAndPadsWithZeros) {
  const Matrix<float> a = random_matrix<float>(40, 40, 1);
  for (const auto& [outer, inner] :
       {std::pair<int64_t, int64_t>{16, 32}, {1, 1}, {13, 32}, {16, 31}, {7, 9}}) {
    for (const bool inner_in_rows : {false, true}) {
      for (const bool left : {false, true}) {
        std::array<uint16_t, kTileSize> tile{};
        tile.fill(0x7FC0);  // NaN: every number must be written
        kernels<float>().pack_tile({a.data(), 40, outer, inner, inner_in_rows, left}, tile.data());
        for (int64_t i = 0; i < kTileSide; ++i) {
          for (int64_t l = 0; l < kTileInner; ++l) {
            const float x = inner_in_rows ? a(i, l) : a(l, i);
            const uint16_t expected = i < outer && l < inner ? nearest(x) : 0;
            const int64_t at = left ? i * kTileInner + l : l / 2 * kTileInner + 2 * i + l % 2;
            ASSERT_EQ(tile[static_cast<size_t>(at)], expected)
                << outer << " x " << inner << (inner_in_rows ? ", in rows" : ", in columns")
                << (left ? ", left" : ", right") << " at " << i << ", " << l;
          }
        }
      }
    }
  }
}

/// The product of two tiles number by number: the reference for multiply_tile().
float flushed(float x) {
  return std::abs(x) < std::numeric_limits<float>::min() ? std::copysign(0.0F, x) : x;
}
float tile_dot(const uint16_t* left, const uint16_t* right, int64_t row, int64_t column,
               float start) {
  float first = 0, second = 0;
  for (int64_t k = 0; k < kTileInner; k += 2) {
    const auto a = [&](int64_t l) { return flushed(value_of(left[row * kTileInner + l])); };
    const auto b = [&](int64_t l) {
      return flushed(value_of(right[l / 2 * kTileInner + 2 * column + l % 2]));
    };
    first = flushed(std::fma(a(k), b(k), first));
    second = flushed(std::fma(a(k + 1), b(k + 1), second));
  }
  return flushed(flushed(start) + flushed(first + second));
}

TEST_P(EachLevel, MultipliesTilesLikeTheInstructionNumberByNumber) {
  // Random bits: numbers of every size, denormals, infinities and NaN among them.
  Random random(3);
  for (int round = 0; round < 40; ++round) {
    std::array<uint16_t, kTileSize> left{}, right{};
    std::array<float, kTileSide * kTileSide> sums{};
    const bool any = round % 2 == 0;  // else numbers near 1, whose sums have to round
    for (auto* tile : {&left, &right}) {
      for (uint16_t& bits : *tile) {
        bits = any ? static_cast<uint16_t>(random.below(0x10000))
                   : nearest(static_cast<float>(random.normal()));
      }
    }
    for (float& sum : sums) {
      sum = any ? std::bit_cast<float>(static_cast<uint32_t>(random.below(uint64_t{1} << 32)))
                : static_cast<float>(random.normal());
    }
    const auto start = sums;
    kernels<float>().multiply_tile(left.data(), right.data(), sums.data());
    for (int64_t row = 0; row < kTileSide; ++row) {
      for (int64_t column = 0; column < kTileSide; ++column) {
        const auto at = static_cast<size_t>(row * kTileSide + column);
        const float expected = tile_dot(left.data(), right.data(), row, column, start[at]);
        if (std::isnan(expected)) {
          ASSERT_TRUE(std::isnan(sums[at])) << row << ", " << column;
        } else {
          ASSERT_EQ(std::bit_cast<uint32_t>(sums[at]), std::bit_cast<uint32_t>(expected))
              << "round " << round << " at " << row << ", " << column;
        }
      }
    }
  }
}

/// One tile times one tile, of which only the first row and the first column are not zero.
struct Dot {
  std::array<uint16_t, 2 * kTileSize> left{}, right{};
  float c = 0;

  void pair(size_t k, float a0, float b0, float a1, float b1) {
    left[2 * k] = nearest(a0);
    left[2 * k + 1] = nearest(a1);
    right[32 * k] = nearest(b0);
    right[32 * k + 1] = nearest(b1);
  }
  float result(TileUnit unit) const {
    const EmulatedTiles tiles(unit);
    float out = c;
    multiply_panels({.left = left.data(),
                     .right = right.data(),
                     .left_step = kTileSize,
                     .right_step = kTileSize,
                     .rows = 1,
                     .cols = 1,
                     .inner_tiles = 1,
                     .c = &out,
                     .c_stride = 1,
                     .bias = nullptr,
                     .accumulate = true});
    return out;
  }
};

/// The emulation, and the processor's own tiles where it has them.
std::vector<TileUnit> units() {
  std::vector<TileUnit> all = {TileUnit::kEmulated};
  if (tile_unit() == TileUnit::kAmx) all.push_back(TileUnit::kAmx);
  return all;
}

TEST(Tiles, SumTheFirstAndTheSecondOfEachPairApart) {
  // 1 + 2^-24 is a tie that goes to 1, so small numbers are lost where they meet the 1 one by one.
  Dot even;
  even.pair(0, 1, 1, 0x1p-12F, 0x1p-12F);
  for (size_t k = 1; k < 16; ++k) even.pair(k, 0, 0, 0x1p-12F, 0x1p-12F);
  Dot same = even;
  for (size_t k = 1; k < 16; ++k) same.pair(k, 0x1p-12F, 0x1p-12F, 0, 0);
  Dot last;  // what was there joins at the end: 2^24 + 1 is a tie, 2^24 + 2 is a float
  last.pair(0, 1, 1, 1, 1);
  last.c = 0x1p24F;
  for (const TileUnit unit : units()) {
    EXPECT_EQ(even.result(unit), 1 + 0x1p-20F);
    EXPECT_EQ(same.result(unit), 1);
    EXPECT_EQ(last.result(unit), 0x1p24F + 2);
  }
}

TEST(Tiles, CountNumbersWithoutAFullMantissaAsZero) {
  Dot operand, product, present;
  operand.pair(0, 0x1p-130F, 0x1p100F, 0, 0);
  product.pair(0, 0x1p-70F, 0x1p-70F, 0, 0);
  present.pair(0, 1, 1, 0, 0);
  present.c = 0x1p-130F;
  for (const TileUnit unit : units()) {
    EXPECT_EQ(operand.result(unit), 0);
    EXPECT_EQ(product.result(unit), 0);
    EXPECT_EQ(present.result(unit), 1);
  }
}

TEST(Tiles, CarryInfinityAndNaN) {
  Dot infinite, unknown;
  infinite.pair(0, kInfinity, 2, 1, 1);
  unknown.pair(0, kInfinity, 0, 1, 1);
  for (const TileUnit unit : units()) {
    EXPECT_EQ(infinite.result(unit), kInfinity);
    EXPECT_TRUE(std::isnan(unknown.result(unit)));
  }
}

TEST(Tiles, WorkInAForkedProcess) {
  Dot dot;
  dot.pair(0, 3, 5, 7, 11);
  for (const TileUnit unit : units()) {
    ASSERT_EQ(dot.result(unit), 92);
    const pid_t child = fork();
    if (child == 0) _exit(dot.result(unit) == 92 ? 0 : 1);
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    EXPECT_EQ(dot.result(unit), 92);
  }
}

/// Of op(a) op(b) with rounded operands in double: the numbers, and the sums of magnitudes that
/// bound the error of any order of float sums.
struct Exact {
  Matrix<double> value, magnitude;
};
Exact exact_product(const Matrix<float>& a, bool a_turned, const Matrix<float>& b, bool b_turned) {
  const int64_t m = a_turned ? a.cols() : a.rows(), k = a_turned ? a.rows() : a.cols(),
                n = b_turned ? b.rows() : b.cols();
  Exact exact{Matrix<double>::zeros(m, n), Matrix<double>::zeros(m, n)};
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t l = 0; l < k; ++l) {
        const double product = double{value_of(nearest(a_turned ? a(l, i) : a(i, l)))} *
                               value_of(nearest(b_turned ? b(j, l) : b(l, j)));
        exact.value(i, j) += product;
        exact.magnitude(i, j) += std::abs(product);
      }
    }
  }
  return exact;
}

/// out - start must be the product, to the rounding of k float sums.
void expect_product(const Matrix<float>& out, const Exact& exact, int64_t k,
                    const std::function<double(int64_t, int64_t)>& start) {
  for (int64_t i = 0; i < out.rows(); ++i) {
    for (int64_t j = 0; j < out.cols(); ++j) {
      const double first = start(i, j);
      const double bound =
          0x1p-24 * static_cast<double>(k + 2) * (exact.magnitude(i, j) + std::abs(first));
      ASSERT_NEAR(out(i, j), first + exact.value(i, j), bound) << i << ", " << j;
    }
  }
}

struct Shape {
  int64_t nodes, in, out;
};
/// Whole tiles and every kind of rest; several panels of rows, several slabs of nodes, several
/// parts of the sum over nodes.
constexpr Shape kShapes[] = {
    {128, 160, 128}, {129, 161, 145}, {1301, 63, 33}, {33, 129, 600}, {260, 512, 40}};

TEST(Bf16Products, AreThoseOfTheRoundedOperands) {
  const EmulatedTiles tiles;
  for (const auto& [nodes, in, out] : kShapes) {
    SCOPED_TRACE(testing::Message() << nodes << " x " << in << " x " << out);
    const auto x = random_matrix<float>(nodes, in, 1), w = random_matrix<float>(out, in, 2),
               g = random_matrix<float>(nodes, out, 3), bias = random_matrix<float>(1, out, 4);
    const auto nothing = [](int64_t, int64_t) { return 0.0; };
    Matrix<float> y(nodes, out), dx(nodes, in), dw(out, in);
    ProductOptions options{.precision = Precision::kBf16};

    const Exact forward = exact_product(x, false, w, true);
    multiply_transposed_into(x, w, y, options);
    expect_product(y, forward, in, nothing);
    multiply_transposed_into(x, w, y, options, &bias);
    expect_product(y, forward, in, [&](int64_t, int64_t j) { return double{bias(0, j)}; });

    const Exact input = exact_product(g, false, w, false);
    multiply_into(g, w, dx, options);
    expect_product(dx, input, out, nothing);
    const Exact weight = exact_product(g, true, x, false);
    transposed_multiply_into(g, x, dw, options);
    expect_product(dw, weight, nodes, nothing);

    options.accumulate = true;
    dx = x.clone();
    multiply_into(g, w, dx, options);
    expect_product(dx, input, out, [&](int64_t i, int64_t j) { return double{x(i, j)}; });
    dw = w.clone();
    transposed_multiply_into(g, x, dw, options);
    expect_product(dw, weight, nodes, [&](int64_t i, int64_t j) { return double{w(i, j)}; });
  }
}

std::vector<float> copied(const Matrix<float>& a) {
  return {a.values().begin(), a.values().end()};
}

/// The numbers of all three products of a linear layer.
std::vector<float> all_products(const Shape& shape, Precision precision) {
  const auto x = random_matrix<float>(shape.nodes, shape.in, 1),
             w = random_matrix<float>(shape.out, shape.in, 2),
             g = random_matrix<float>(shape.nodes, shape.out, 3);
  Matrix<float> y(shape.nodes, shape.out), dx(shape.nodes, shape.in), dw(shape.out, shape.in);
  const ProductOptions options{.precision = precision};
  multiply_transposed_into(x, w, y, options);
  multiply_into(g, w, dx, options);
  transposed_multiply_into(g, x, dw, options);
  std::vector<float> all = copied(y);
  for (const Matrix<float>* more : {&dx, &dw}) {
    all.insert(all.end(), more->values().begin(), more->values().end());
  }
  return all;
}

TEST(Bf16Products, HaveTheSameBitsAtEveryThreadCount) {
  const EmulatedTiles tiles;
  for (const Shape& shape : kShapes) {
    std::vector<float> expected;
    for (const int threads : {1, 2, 4}) {
      const ThreadScope scope(threads);
      const std::vector<float> all = all_products(shape, Precision::kBf16);
      if (threads == 1) expected = all;
      EXPECT_EQ(all, expected) << threads << " threads";
    }
    EXPECT_NE(expected, all_products(shape, Precision::kF32)) << "nothing was rounded";
  }
}

TEST(Bf16Products, HaveTheBitsOfTheEmulationOnAmx) {
  if (tile_unit() != TileUnit::kAmx) GTEST_SKIP() << "this processor has no AMX";
  for (const Shape& shape : kShapes) {
    const std::vector<float> own = all_products(shape, Precision::kBf16);
    const EmulatedTiles tiles;
    EXPECT_EQ(own, all_products(shape, Precision::kBf16));
  }
}

TEST(Bf16Products, SmallAndNarrowOnesStayInFloat) {
  const EmulatedTiles tiles;
  for (const Shape& shape : {Shape{183, 64, 64}, Shape{3000, 512, 8}, Shape{3000, 18, 512}}) {
    EXPECT_EQ(all_products(shape, Precision::kBf16), all_products(shape, Precision::kF32));
  }
}

TEST(Bf16Products, ASumOfNothingIsZero) {
  const EmulatedTiles tiles;
  const auto x = random_matrix<float>(1, 40, 1);
  Matrix<float> out = Matrix<float>::filled(33, 40, 7);
  const Operand<float> left{x.data(), 33, true}, right{x.data(), 40, false};
  bf16_gemm(left, right, 33, 40, 0, /*accumulate=*/true, out.data(), 40);
  EXPECT_EQ(copied(out), std::vector<float>(33 * 40, 7));
  bf16_gemm(left, right, 33, 40, 0, /*accumulate=*/false, out.data(), 40);
  EXPECT_EQ(copied(out), std::vector<float>(33 * 40, 0));
}

TEST(Bf16Products, ARowDoesNotDependOnItsNeighbours) {
  const EmulatedTiles tiles;
  const auto x = random_matrix<float>(300, 200, 1), w = random_matrix<float>(150, 200, 2);
  Matrix<float> all(300, 150), some(77, 150), part(77, 200);
  std::copy_n(x.row(101), part.size(), part.data());
  multiply_transposed_into(x, w, all, {.precision = Precision::kBf16});
  multiply_transposed_into(part, w, some, {.precision = Precision::kBf16});
  EXPECT_THAT(some.values(), ElementsAreArray(all.row(101), static_cast<size_t>(some.size())));
}

/// The gradients of a small network, one after another.
template <class T>
std::vector<double> network_gradients(Precision precision) {
  auto first = test::random_parameter<T>(128, 96, 2, 0.1),
       second = test::random_parameter<T>(64, 128, 3, 0.1),
       bias = test::random_parameter<T>(1, 128, 4);
  Tape<T> tape({.training = true, .precision = precision});
  const Var<T> x = tape.constant(random_matrix<T>(300, 96, 1));
  const Var<T> hidden = gelu(tape, linear(tape, x, tape.parameter(first), tape.parameter(bias)));
  tape.backward(test::probe(tape, linear(tape, hidden, tape.parameter(second), Var<T>())));
  std::vector<double> all;
  for (const auto* parameter : {&first, &second, &bias}) {
    all.insert(all.end(), parameter->grad.values().begin(), parameter->grad.values().end());
  }
  return all;
}

TEST(Bf16Products, GiveGradientsOfDoubleUpToTheRounding) {
  const EmulatedTiles tiles;
  const std::vector<double> exact = network_gradients<double>(Precision::kF32);
  const auto error = [&exact](const std::vector<double>& found) {
    double difference = 0, size = 0;
    for (size_t i = 0; i < exact.size(); ++i) {
      difference += (found[i] - exact[i]) * (found[i] - exact[i]);
      size += exact[i] * exact[i];
    }
    return std::sqrt(difference / size);
  };
  EXPECT_LT(error(network_gradients<float>(Precision::kF32)), 1e-6);
  // An operand has a relative error of at most 2^-9; a gradient depends on three products.
  const double rounded = error(network_gradients<float>(Precision::kBf16));
  EXPECT_LT(rounded, 6 * 0x1p-9);
  EXPECT_GT(rounded, 0x1p-12) << "nothing was rounded";
}

}  // namespace
}  // namespace dgat::tensor
