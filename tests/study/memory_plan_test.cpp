#include "dgat/study/memory_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/synth/csbm.h"
#include "dgat/tensor/pool.h"
#include "support/small_run.h"

namespace dgat::study {
namespace {
using testing::HasSubstr;

data::Dataset graph_of(graph::NodeId nodes, double degree = 10, int features = 32) {
  return synth::csbm({.nodes = nodes,
                      .classes = 3,
                      .degree = degree,
                      .features = features,
                      .splits = 1,
                      .seed = 3});
}

struct Case {
  const char *model, *recipe, *hidden, *layers;
  double degree;
};

class MemoryOfATrial : public testing::TestWithParam<Case> {};

/// The line through two small graphs meets what a graph eight times as large takes.
TEST_P(MemoryOfATrial, IsWithin15PercentOfTheEstimate) {
  const Case& c = GetParam();
  const train::Config config = train::resolve({{"model", c.model},
                                               {"recipe", c.recipe},
                                               {"hidden", c.hidden},
                                               {"heads", "2"},
                                               {"layers", c.layers},
                                               {"rewire", "none"}});
  const data::Dataset dataset = graph_of(8 * kProbeNodes, c.degree);
  const std::optional<MemoryPlan> plan = plan_memory(dataset, config);
  ASSERT_TRUE(plan.has_value());
  const auto measured = static_cast<double>(training_bytes(dataset, config, config.layers.last));
  EXPECT_NEAR(static_cast<double>(plan->trial), measured, 0.15 * measured);
}

INSTANTIATE_TEST_SUITE_P(Networks, MemoryOfATrial,
                         testing::Values(Case{"dgat", "residual", "64", "2", 10},
                                         Case{"gt", "residual", "32", "1", 4},
                                         Case{"gatv2", "classic", "32", "2", 20},
                                         Case{"gcn", "deep", "64", "3", 10},
                                         Case{"resnet", "residual", "48", "4", 6}),
                         [](const auto& tested) { return std::string(tested.param.model); });

TEST(MemoryPlan, FewerTrialsSideBySideWhereMoreDoNotFit) {
  const data::Dataset dataset = test::small_dataset(3, 8);
  train::Config config = test::small_config("gat", {{"jobs", "8"}});
  const std::optional<MemoryPlan> plan = plan_memory(dataset, config);
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->jobs, 8);
  config.memory_budget = static_cast<double>(plan->peak_with(3) + plan->trial / 2) * 1e-9;
  // The process may have grown between the two plans.
  const std::optional<MemoryPlan> tight = plan_memory(dataset, config);
  EXPECT_LE(tight->jobs, 4);
  EXPECT_EQ(tight->wanted_jobs, 8);
}

TEST(MemoryPlan, InCellsItIsABoundThatFallsWithTheShareOfAStep) {
  const data::Dataset dataset = graph_of(4000);
  const train::Settings settings = {{"hidden", "64"}, {"layers", "3"}, {"steps", "3"}};
  const train::Config whole = test::small_config("gat", settings);
  train::Config cells = whole;
  cells.cells = 40;
  cells.per_step = 2;
  const auto trial = [&](const train::Config& config) {
    return static_cast<double>(plan_memory(dataset, config)->trial);
  };
  EXPECT_LT(trial(cells), trial(whole) / 2);
  const test::SmallTask small(cells, dataset);
  const auto model = train::make_task_model(small.task);
  tensor::trim_pool();
  tensor::reset_pool_peak();
  const auto before = static_cast<double>(tensor::pool_statistics().bytes_in_use);
  train::train_split(small.task, *model);
  const double taken = static_cast<double>(tensor::pool_statistics().peak_bytes_in_use) - before;
  EXPECT_GT(trial(cells), 0.85 * taken);
  EXPECT_LT(trial(cells), 4 * taken);
}

TEST(MemoryPlan, WhatDoesNotFitIsRefusedWithWhatWould) {
  const data::Dataset dataset = graph_of(5000);
  train::Config config = test::small_config("gat", {{"hidden", "256"}, {"layers", "4"}});
  // Twice: what AddressSanitizer keeps of freed memory grows with the first plan, and counts as
  // present.
  ASSERT_TRUE(plan_memory(dataset, config).has_value());
  const std::optional<MemoryPlan> plan = plan_memory(dataset, config);
  config.memory_budget =
      static_cast<double>(plan->present + plan->shared + plan->trial / 10 * 9) * 1e-9;
  const std::optional<MemoryPlan> tight = plan_memory(dataset, config);
  ASSERT_FALSE(tight->fits());
  try {
    throw_does_not_fit(*tight, dataset, config);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("gat with 4 layers of width 256 needs about"));
    EXPECT_THAT(error.what(), HasSubstr("fits"));
  }
}

}  // namespace
}  // namespace dgat::study
