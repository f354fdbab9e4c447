#include "dgat/dist/rows.h"

#include <gtest/gtest.h>

#include "dgat/core/random.h"
#include "dgat/dist/threads.h"

namespace dgat::dist {
namespace {

TEST(RowSplit, CoversAllRowsInUnitsThatDoNotDependOnTheRanks) {
  for (const int64_t rows : {0, 1, 16, 183, 2000, 10000, 11758}) {
    const int64_t unit = 16 * std::max<int64_t>(1, (rows + 255) / 256);
    for (const int ranks : {1, 2, 3, 4, 8, 20}) {
      const RowSplit split = split_rows(rows, ranks);
      EXPECT_EQ(split.ranks(), ranks);
      EXPECT_EQ(split.begin(0), 0);
      EXPECT_EQ(split.rows(), rows);
      for (int r = 0; r < ranks; ++r) {
        EXPECT_LE(split.begin(r), split.end(r));
        if (split.end(r) < rows) {
          EXPECT_EQ(split.end(r) % unit, 0);
        }
        if (split.count(r) > 0) {
          EXPECT_EQ(split.owner(split.begin(r)), r);
          EXPECT_EQ(split.owner(split.end(r) - 1), r);
        }
      }
    }
  }
}

TEST(RowSplit, GivesEveryBlockToTheRankThatHasMostOfIt) {
  const RowSplit rows{{0, 10, 10, 32, 40}};
  EXPECT_EQ(split_blocks(rows, 8).offsets, (std::vector<int64_t>{0, 8, 8, 32, 40}));
  EXPECT_EQ(split_blocks(rows, 40).offsets, (std::vector<int64_t>{0, 0, 0, 40, 40}));
  EXPECT_EQ(split_blocks(rows, 12).offsets, (std::vector<int64_t>{0, 12, 12, 36, 40}));
  EXPECT_EQ(split_blocks(rows, 1).offsets, rows.offsets);
}

TEST(Rows, RegroupedRowsStandWhereTheOtherSplitSays) {
  const RowSplit from = split_rows(50, 3), to = split_blocks(from, 7);
  run_ranks(3, [&](Communicator& ranks) {
    std::vector<int64_t> mine, got(static_cast<size_t>(to.count(ranks.rank())));
    for (int64_t i = from.begin(ranks.rank()); i < from.end(ranks.rank()); ++i) mine.push_back(i);
    regroup_rows(ranks, from, to, reinterpret_cast<const std::byte*>(mine.data()), 8,
                 reinterpret_cast<std::byte*>(got.data()));
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], to.begin(ranks.rank()) + static_cast<int64_t>(i));
    }
  });
}

TEST(Rows, APatternBringsEveryRowThatARankReadsAndNoOther) {
  constexpr int64_t kRows = 70, kRead = 45;
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> targets;
  Random random(5);
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t e = 0; e < i % 4; ++e) {
      targets.push_back(static_cast<int32_t>(random.uniform() * kRead));
    }
    offsets.push_back(std::ssize(targets));
  }
  const RowSplit rows = split_rows(kRows, 3), read = split_rows(kRead, 3);
  run_ranks(3, [&](Communicator& ranks) {
    const int me = ranks.rank();
    const Needed needed = needed_rows(ranks, offsets, targets, rows, read);
    std::vector<int32_t> mine, got(static_cast<size_t>(needed.pattern.rows()));
    for (int64_t i = read.begin(me); i < read.end(me); ++i) mine.push_back(static_cast<int32_t>(i));
    exchange_rows(ranks, needed.pattern, reinterpret_cast<const std::byte*>(mine.data()), 4,
                  reinterpret_cast<std::byte*>(got.data()));
    EXPECT_EQ(got, needed.order);
    std::vector<char> used(kRead);
    for (int64_t e = offsets[static_cast<size_t>(rows.begin(me))];
         e < offsets[static_cast<size_t>(rows.end(me))]; ++e) {
      const int32_t target = targets[static_cast<size_t>(e)];
      used[static_cast<size_t>(target)] = 1;
      EXPECT_EQ(got[static_cast<size_t>(needed.place(target))], target);
    }
    EXPECT_EQ(std::ranges::count(used, 1), std::ssize(got));
  });
}

}  // namespace
}  // namespace dgat::dist
