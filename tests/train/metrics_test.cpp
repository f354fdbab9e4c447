#include "dgat/train/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dgat/core/random.h"

namespace dgat::train {
namespace {
using graph::NodeId;

std::vector<NodeId> all(size_t n) {
  std::vector<NodeId> nodes(n);
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

TEST(Metrics, PredictedClassIsTheFirstOfTheLargest) {
  EXPECT_EQ(predicted_class(std::vector<float>{1, 3, 3}), 1);
  EXPECT_EQ(predicted_class(std::vector<float>{0.1F}), 1);
  EXPECT_EQ(predicted_class(std::vector<float>{0.0F}), 0);
}

TEST(Metrics, AccuracySkipsUnlabelledNodesAndNodesOutsideTheList) {
  const std::vector<float> scores = {1, 0, 0, 1, 1, 0, 1, 0};
  const std::vector<int32_t> labels = {0, 1, -1, 1};
  EXPECT_DOUBLE_EQ(accuracy({scores, 2}, labels, all(4)), 2.0 / 3.0);
  EXPECT_DOUBLE_EQ(accuracy({scores, 2}, labels, std::vector<NodeId>{0, 1}), 1.0);
  EXPECT_TRUE(std::isnan(accuracy({scores, 2}, labels, std::vector<NodeId>{2})));
}

TEST(Metrics, RocAucCountsPairsAndHalvesTies) {
  Random random(3);
  for (int trial = 0; trial < 20; ++trial) {
    const size_t n = 30;
    std::vector<float> scores(n);
    std::vector<int32_t> labels(n);
    for (size_t i = 0; i < n; ++i) {
      scores[i] = static_cast<float>(random.below(6));  // few values: many ties
      labels[i] = static_cast<int32_t>(random.below(3)) - 1;
    }
    double pairs = 0, good = 0;
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        if (labels[i] != 1 || labels[j] != 0) continue;
        pairs += 1;
        good += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
      }
    }
    EXPECT_DOUBLE_EQ(roc_auc({scores, 1}, labels, all(n)), good / pairs);
  }
}

TEST(Metrics, RocAucOfTwoColumnsUsesTheirDifference) {
  const std::vector<float> scores = {5, 6, 1, 0, 0, 3, 2, 2};
  const std::vector<int32_t> labels = {1, 0, 1, 0};
  const std::vector<float> difference = {1, -1, 3, 0};
  EXPECT_DOUBLE_EQ(roc_auc({scores, 2}, labels, all(4)), roc_auc({difference, 1}, labels, all(4)));
}

TEST(Metrics, RocAucNeedsBothClasses) {
  EXPECT_TRUE(
      std::isnan(roc_auc({std::vector<float>{1, 2}, 1}, std::vector<int32_t>{1, 1}, all(2))));
}

TEST(Metrics, MacroF1OfAHandCountedTable) {
  // labels 0 0 0 1 1 2, predictions 0 0 1 1 2 2: F1 = 4/5, 2/4, 2/3
  const std::vector<int32_t> labels = {0, 0, 0, 1, 1, 2}, guesses = {0, 0, 1, 1, 2, 2};
  std::vector<float> scores(18, 0);
  for (size_t i = 0; i < 6; ++i) scores[i * 3 + static_cast<size_t>(guesses[i])] = 1;
  EXPECT_NEAR(macro_f1({scores, 3}, labels, all(6)), (0.8 + 0.5 + 2.0 / 3.0) / 3, 1e-15);
}

TEST(Metrics, StandardDeviationDividesByNMinusOne) {
  const MeanStd s = mean_std(std::vector<double>{1, 2, 4});
  EXPECT_DOUBLE_EQ(s.mean, 7.0 / 3.0);
  EXPECT_NEAR(s.std, std::sqrt(7.0 / 3.0), 1e-15);
  EXPECT_DOUBLE_EQ(mean_std(std::vector<double>{5}).std, 0);
}

}  // namespace
}  // namespace dgat::train
