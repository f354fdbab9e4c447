#include "dgat/core/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace dgat {

// Known answers published with the Random123 library for philox4x32-10.
TEST(Philox, MatchesThePublishedKnownAnswers) {
  EXPECT_EQ(Philox(0, 0)(0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(0xffffffffffffffff, 0xffffffffffffffff)(0xffffffffffffffff),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox(0x299f31d0a4093822, 0x0370734413198a2e)(0x85a308d3243f6a88),
            (Philox::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, UniformHasTheMomentsOfTheUniformDistribution) {
  Random random(7);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double u = random.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kDraws, 0.5, 4 * 0.2887 / std::sqrt(kDraws));
  EXPECT_NEAR(squares / kDraws, 1.0 / 3, 0.003);
}

TEST(Random, NormalHasTheMomentsOfTheNormalDistribution) {
  Random random(7);
  constexpr int kDraws = 200000;
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double x = random.normal();
    sum += x;
    squares += x * x;
    fourth += x * x * x * x;
  }
  EXPECT_NEAR(sum / kDraws, 0, 0.01);
  EXPECT_NEAR(squares / kDraws, 1, 0.015);
  EXPECT_NEAR(fourth / kDraws, 3, 0.15);
}

TEST(Random, BelowIsUniform) {
  Random random(11);
  std::vector<int> counts(7, 0);
  for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 400);
}

TEST(Random, ShuffleIsAPermutationAndDependsOnTheSeed) {
  std::vector<int> a(100), b(100);
  std::iota(a.begin(), a.end(), 0);
  b = a;
  Random(1).shuffle(a);
  Random(2).shuffle(b);
  EXPECT_NE(a, b);
  std::sort(a.begin(), a.end());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a[static_cast<size_t>(i)], i);
}

}  // namespace dgat
