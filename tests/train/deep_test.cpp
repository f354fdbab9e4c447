// Recipe deep in the training loop: bits, weight files and interruptions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/train/trainer.h"
#include "dgat/train/weights.h"
#include "support/small_run.h"
#include "support/temp_dir.h"
#include "support/test_names.h"

namespace dgat::train {
namespace {
using testing::ElementsAreArray;

class DeepTraining : public testing::TestWithParam<std::string> {
 protected:
  Config config(const Settings& more = {}) const {
    Settings settings = {{"recipe", "deep"}, {"layers", "3"}, {"dropout", "0.5"}};
    for (const auto& [key, value] : more) settings[key] = value;
    return test::small_config(GetParam(), settings);
  }
  std::unique_ptr<nn::Model<float>> train(const Config& config, const TrainHooks& hooks = {}) {
    InputBuilder builder(dataset_, config, cache_);
    const auto input = builder.for_split(0);
    const SplitTask task{config, dataset_, input, 0, config.layers.first};
    auto model = make_task_model(task);
    train_split(task, *model, hooks);
    return model;
  }
  /// Weights and running statistics.
  static std::vector<float> state_of(nn::Model<float>& model) {
    std::vector<float> all;
    for (const auto& entry : model.parameters().entries()) {
      const auto values = entry.parameter.value.values();
      all.insert(all.end(), values.begin(), values.end());
    }
    for (const auto& buffer : model.buffers()) {
      all.insert(all.end(), buffer.values->values().begin(), buffer.values->values().end());
    }
    return all;
  }

  data::Dataset dataset_ = test::small_dataset();
  spectral::SpectralCache cache_;
};

TEST_P(DeepTraining, ThreadCountsAgreeBitForBit) {
  for (const char* norm : {"batch", "layer", "none"}) {
    std::vector<float> expected;
    for (const int threads : {1, 2}) {
      const ThreadScope scope(threads);
      const auto state = state_of(*train(config({{"norm", norm}})));
      if (expected.empty()) expected = state;
      EXPECT_THAT(state, ElementsAreArray(expected)) << norm << " " << threads;
    }
  }
}

TEST_P(DeepTraining, WeightFilesKeepTheRunningStatistics) {
  const Config c = config();
  const auto trained = train(c);
  ASSERT_EQ(trained->buffers().size(), 6U);
  const test::TempDir temp;
  save_weights(temp / "weights.safetensors", *trained, {});
  const auto other = train(config({{"seed", "8"}}));
  EXPECT_NE(state_of(*other), state_of(*trained));
  load_weights(read_safetensors(temp / "weights.safetensors"), *other, "weights.safetensors");
  EXPECT_THAT(state_of(*other), ElementsAreArray(state_of(*trained)));
}

TEST_P(DeepTraining, AResumedRunHasTheSameBits) {
  const Config c = config({{"checkpoint_every", "4"}});
  const auto expected = state_of(*train(c));
  for (const int64_t stop : {1, 6, 11}) {
    const test::TempDir temp;
    TrainHooks hooks;
    hooks.checkpoint = temp / "state.safetensors";
    hooks.on_evaluation = [&](const StepRecord& r) {
      if (r.step == stop) request_interrupt();
    };
    EXPECT_THROW(train(c, hooks), Interrupted);
    request_interrupt(false);
    hooks.on_evaluation = nullptr;
    EXPECT_THAT(state_of(*train(c, hooks)), ElementsAreArray(expected)) << stop;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DeepTraining, testing::Values("gcn", "sage", "gat", "dgat"),
                         test::name_of_parameter<std::string>);

/// gat-sep reads N(i) only: the message graph has one arc less per node.
TEST(SelfLoops, AreLeftOutWhereTheOptionSaysSo) {
  const data::Dataset dataset = test::small_dataset();
  spectral::SpectralCache cache;
  for (const auto& [model, loops] : {std::pair{"gat", 60}, {"gat-sep", 0}, {"dgat-sep", 60}}) {
    const Config config = test::small_config(model, {{"rewire", "none"}});
    InputBuilder builder(dataset, config, cache);
    EXPECT_EQ(builder.for_split(0).messages->graph.arcs(), dataset.graph.arcs() + loops) << model;
  }
}

}  // namespace
}  // namespace dgat::train
