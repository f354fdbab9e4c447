#include "dgat/synth/minesweeper.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/data/load.h"
#include "same_dataset.h"
#include "support/temp_dir.h"

namespace dgat::synth {
namespace {

using graph::NodeId;

std::vector<double> column_sums(const data::Dataset& set) {
  std::vector<double> sums(static_cast<size_t>(set.features.cols()), 0.0);
  const std::vector<float> x = set.features.to_dense();
  for (size_t k = 0; k < x.size(); ++k) sums[k % sums.size()] += x[k];
  return sums;
}

int64_t mines(const data::Dataset& set) {
  return std::accumulate(set.labels.begin(), set.labels.end(), int64_t{0});
}

/// Known cells show min(5, mines around); the row has a single 1.
void expect_counts_are_true(const data::Dataset& set) {
  const std::vector<float> x = set.features.to_dense();
  for (NodeId i = 0; i < set.graph.nodes(); ++i) {
    const float* row = x.data() + 7 * static_cast<size_t>(i);
    EXPECT_EQ(std::accumulate(row, row + 7, 0.0F), 1.0F);
    if (row[0] == 1) continue;
    int near = 0;
    for (const NodeId j : set.graph.neighbors(i)) near += set.labels[static_cast<size_t>(j)];
    EXPECT_EQ(row[1 + std::min(near, 5)], 1.0F) << i;
  }
}

TEST(Minesweeper, MeetsItsSharesExactly) {
  const data::Dataset set = minesweeper({});
  EXPECT_EQ(set.graph.nodes(), 10000);
  EXPECT_EQ(set.graph.edges(), 39402);
  EXPECT_EQ(mines(set), 2000);
  EXPECT_EQ(column_sums(set)[0], 5000);
  ASSERT_EQ(set.splits.size(), 10U);
  for (const data::Split& split : set.splits) {
    EXPECT_EQ(split.train.size(), 5000U);
    EXPECT_EQ(split.val.size(), 2500U);
    EXPECT_EQ(split.test.size(), 2500U);
  }
  expect_counts_are_true(set);
}

TEST(Minesweeper, EqualsTheRealFileWhereNothingIsRandom) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  const data::Dataset real =
      data::load_dataset((test::shared_datasets() / "minesweeper.npz").string());
  const data::Dataset made = minesweeper({.seed = 3});
  EXPECT_EQ(made.graph, real.graph);
  EXPECT_EQ(made.features.cols(), real.features.cols());
  EXPECT_EQ(mines(made), mines(real));
  EXPECT_EQ(column_sums(made)[0], column_sums(real)[0]);
  EXPECT_EQ(made.splits.size(), real.splits.size());
  for (size_t k = 0; k < real.splits.size(); ++k) {
    EXPECT_EQ(made.splits[k].train.size(), real.splits[k].train.size());
    EXPECT_EQ(made.splits[k].val.size(), real.splits[k].val.size());
    EXPECT_EQ(made.splits[k].test.size(), real.splits[k].test.size());
  }
  expect_counts_are_true(real);  // and its features follow the rule that ours follow
  // What is random agrees in distribution: 5000 known cells, five deviations.
  for (size_t c = 1; c < 7; ++c) {
    EXPECT_NEAR(column_sums(made)[c], column_sums(real)[c],
                5 * std::sqrt(2 * column_sums(real)[c]));
  }
}

TEST(Minesweeper, BoardsOfAnyShapeHaveTheirEdges) {
  for (const auto& [h, w] : {std::pair{1, 1}, {1, 9}, {9, 1}, {2, 2}, {3, 5}, {7, 4}}) {
    const data::Dataset set = minesweeper({.height = h, .width = w, .splits = 1});
    const int64_t expected = h * (w - 1) + (h - 1) * w + 2 * (h - 1) * (w - 1);
    EXPECT_EQ(set.graph.edges(), expected) << h << "x" << w;
    EXPECT_EQ(mines(set), std::llround(0.2 * h * w));
    expect_counts_are_true(set);
  }
}

TEST(Minesweeper, KnowsItsNeighboursByTheCoordinates) {
  const data::Dataset set = minesweeper({.height = 5, .width = 6, .splits = 0});
  for (NodeId i = 0; i < 30; ++i) {
    for (NodeId j = 0; j < 30; ++j) {
      const bool near = i != j && std::abs(i / 6 - j / 6) <= 1 && std::abs(i % 6 - j % 6) <= 1;
      EXPECT_EQ(set.graph.has_arc(i, j), near);
    }
  }
}

TEST(Minesweeper, IsAFunctionOfTheSeedAlone) {
  const auto make = [](int threads, uint64_t seed) {
    const ThreadScope scope(threads);
    return minesweeper({.height = 80, .width = 120, .splits = 2, .seed = seed});
  };
  const data::Dataset one = make(1, 5);
  EXPECT_TRUE(test::same_dataset(one, make(3, 5)));
  EXPECT_NE(make(1, 6).labels, one.labels);
}

TEST(Minesweeper, ComesBackFromItsFile) {
  const test::TempDir folder;
  const data::Dataset made = minesweeper({.height = 20, .width = 30, .splits = 3});
  data::save_dataset(made, folder / "board.npz");
  EXPECT_TRUE(test::same_dataset(data::load_dataset((folder / "board.npz").string()), made));
}

TEST(Minesweeper, RefusesImpossibleBoards) {
  EXPECT_THROW(minesweeper({.height = 0}), InputError);
  EXPECT_THROW(minesweeper({.height = 100000, .width = 100000}), InputError);
  EXPECT_THROW(minesweeper({.mines = 1.2}), InputError);
  EXPECT_THROW(minesweeper({.unknown = -0.1}), InputError);
}

}  // namespace
}  // namespace dgat::synth
