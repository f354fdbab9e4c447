#include "dgat/data/features.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/random.h"

namespace dgat::data {
namespace {

/// rows x cols values of which about `filled` are not zero.
std::vector<float> random_values(int64_t rows, int64_t cols, double filled, uint64_t seed) {
  Random random(seed);
  std::vector<float> values(static_cast<size_t>(rows * cols));
  for (float& v : values) {
    if (random.uniform() < filled) v = static_cast<float>(random.normal());
  }
  return values;
}

TEST(Features, CompactKeepsEveryValueInWhicheverForm) {
  for (const double filled : {0.0, 0.02, 0.2, 0.3, 1.0}) {
    const std::vector<float> values = random_values(31, 17, filled, 7);
    const Features compact = Features::compact(31, 17, values);
    EXPECT_EQ(compact.is_sparse(), filled < Features::kSparseBelow) << filled;
    EXPECT_EQ(compact.to_dense(), values);
    EXPECT_EQ(compact, Features::dense(31, 17, values));
    EXPECT_EQ(compact.nonzeros(), Features::dense(31, 17, values).nonzeros());
  }
}

TEST(Features, RowsAreThoseOfTheMatrix) {
  const std::vector<float> values = random_values(9, 40, 0.1, 3);
  const Features sparse = Features::compact(9, 40, values);
  ASSERT_TRUE(sparse.is_sparse());
  std::vector<float> row(40, -1.0F);
  for (int64_t i = 0; i < 9; ++i) {
    sparse.copy_row(i, row);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), values.begin() + i * 40)) << i;
  }
}

TEST(Features, SelectedRowsComeInTheOrderAsked) {
  const std::vector<float> values = random_values(6, 30, 0.1, 5);
  const std::vector<int32_t> order{4, 0, 4};
  const Features sparse = Features::compact(6, 30, values).select_rows(order);
  EXPECT_EQ(sparse, Features::dense(6, 30, values).select_rows(order));
  EXPECT_TRUE(sparse.is_sparse());
  std::vector<float> row(30);
  sparse.copy_row(1, row);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), values.begin()));
}

TEST(Features, MatricesThatDifferInOneEntryDiffer) {
  std::vector<float> values = random_values(5, 50, 0.1, 11);
  const Features before = Features::compact(5, 50, values);
  values[77] += 1.0F;
  EXPECT_FALSE(before == Features::compact(5, 50, values));
  EXPECT_FALSE(before == Features::dense(5, 50, values));
  EXPECT_FALSE(before == Features::dense(10, 25, before.to_dense()));
}

TEST(Features, RefusesRowsThatAreNotSorted) {
  EXPECT_THROW(Features::sparse(1, 3, {0, 2}, {2, 1}, {1, 1}), InternalError);
  EXPECT_THROW(Features::sparse(1, 3, {0, 1}, {3}, {1}), InternalError);
  EXPECT_THROW(Features::sparse(1, 3, {0, 1}, {0}, {0}), InternalError);
  EXPECT_THROW(Features::dense(2, 2, {1, 2, 3}), InternalError);
}

TEST(Features, NoColumnsMeansNoFeatures) {
  EXPECT_TRUE(Features().empty());
  EXPECT_TRUE(Features::dense(4, 0, {}).empty());
  EXPECT_FALSE(Features::dense(0, 4, {}).empty());
}

}  // namespace
}  // namespace dgat::data
