// Several ranks train the network that one process trains.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/dist/threads.h"
#include "dgat/nn/registry.h"
#include "dgat/synth/csbm.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"
#include "support/emulated_tiles.h"
#include "support/small_run.h"
#include "support/temp_dir.h"
#include "support/test_names.h"

namespace dgat::train {
namespace {
using testing::ElementsAreArray;
using testing::HasSubstr;

struct Outcome {
  std::vector<double> records;  // loss and metrics of every step
  std::vector<float> weights;
};

/// Trains split 0 as a rank of dist::current().
Outcome train(const data::Dataset& dataset, const Config& config,
              const std::filesystem::path& checkpoint = {}) {
  spectral::SpectralCache cache;
  InputBuilder builder(dataset, config, cache);
  const auto input = builder.for_split(0);
  const SplitTask task{config, dataset, input, 0, config.layers.first};
  const auto model = make_task_model(task);
  Outcome outcome;
  TrainHooks hooks;
  hooks.checkpoint = checkpoint;
  hooks.on_evaluation = [&](const StepRecord& r) {
    outcome.records.insert(outcome.records.end(), {r.loss, r.train, r.val, r.test});
  };
  train_split(task, *model, hooks);
  for (const auto& entry : model->parameters().entries()) {
    const auto values = entry.parameter.value.values();
    outcome.weights.insert(outcome.weights.end(), values.begin(), values.end());
  }
  return outcome;
}

data::Dataset dataset() {
  data::Dataset data = synth::csbm({.nodes = 700, .classes = 3, .splits = 1});
  return data;
}

Config config_of(const std::string& model, Settings more = {}) {
  more.insert({{"steps", "3"}, {"layers", "2"}, {"hidden", "32"}, {"heads", "4"}, {"lr", "0.01"}});
  return test::small_config(model, more);
}

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const nn::ModelInfo& model : nn::all_models()) {
    if (model.over_ranks) names.push_back(model.name);
  }
  return names;
}

/// Every number of ranks gives the evaluations and the weights of one process.
void expect_equal_on_ranks(const data::Dataset& data, const Config& config) {
  const Outcome expected = train(data, config);
  for (const int count : {2, 3, 4, 8}) {
    dist::run_ranks(count, [&](dist::Communicator&) {
      SCOPED_TRACE(count);
      const ThreadScope threads(count == 3 ? 2 : 1);
      const Outcome mine = train(data, config);
      EXPECT_THAT(mine.records, ElementsAreArray(expected.records));
      EXPECT_THAT(mine.weights, ElementsAreArray(expected.weights));
    });
  }
}

class Ranks : public testing::TestWithParam<std::string> {};

TEST_P(Ranks, TrainTheNetworkOfOneProcess) {
  const data::Dataset data = dataset();
  expect_equal_on_ranks(data, config_of(GetParam()));
}

struct Case {
  const char* name;
  std::string model;
  Settings settings;
  bool sparse = false;
};
class RanksOfRecipe : public testing::TestWithParam<Case> {};

TEST_P(RanksOfRecipe, TrainTheNetworkOfOneProcess) {
  data::Dataset data = dataset();
  if (GetParam().sparse) {
    std::vector<float> values(static_cast<size_t>(data.graph.nodes()) * 30, 0);
    for (size_t i = 0; i < values.size(); i += 1 + i % 11) values[i] = static_cast<float>(i % 5);
    data.features = data::Features::compact(data.graph.nodes(), 30, values);
    ASSERT_TRUE(data.features.is_sparse());
  }
  expect_equal_on_ranks(data, config_of(GetParam().model, GetParam().settings));
}
INSTANTIATE_TEST_SUITE_P(
    Recipes, RanksOfRecipe,
    testing::Values(
        Case{"deep_dgat", "dgat", {{"recipe", "deep"}}},
        Case{"deep_gcn", "gcn", {{"recipe", "deep"}, {"jk", "cat"}}},
        Case{"deep_sage_sparse", "sage", {{"recipe", "deep"}, {"input_linear", "on"}}, true},
        Case{"deep_gatv2", "gatv2", {{"recipe", "deep"}, {"norm", "layer"}, {"skip", "identity"}}},
        Case{"deep_gt", "gt", {{"recipe", "deep"}, {"norm", "none"}, {"jk", "sum"}}},
        Case{"deep_resnet", "resnet", {{"recipe", "deep"}, {"skip", "none"}}, true},
        Case{"deep_batch_norm_alone", "gat", {{"recipe", "deep"}, {"skip", "none"}}},
        Case{"classic_dgat", "dgat", {{"recipe", "classic"}, {"dropout", "0.5"}}},
        Case{"classic_dgat_sparse", "dgat", {{"recipe", "classic"}, {"dropout", "0.5"}}, true},
        Case{"classic_gat",
             "gat",
             {{"recipe", "classic"},
              {"projection", "on"},
              {"conv_bias", "on"},
              {"dropout_values", "on"}},
             true},
        Case{"classic_gatv2", "gatv2", {{"recipe", "classic"}}},
        Case{"classic_dgatv2", "dgatv2", {{"recipe", "classic"}, {"dropout_values", "on"}}},
        Case{"classic_gt", "gt", {{"recipe", "classic"}}}),
    [](const auto& tested) { return std::string(tested.param.name); });

INSTANTIATE_TEST_SUITE_P(Models, Ranks, testing::ValuesIn(models()),
                         test::name_of_parameter<std::string>);

TEST(Ranks, TrainTheNetworkOfOneProcessInBf16) {
  const test::EmulatedTiles tiles;
  const data::Dataset data = synth::csbm({.nodes = 200, .classes = 3, .splits = 1});
  Config config = config_of("dgat", {{"precision", "bf16"}, {"hidden", "160"}, {"steps", "2"}});
  const Outcome expected = train(data, config);
  for (const int count : {2, 3}) {
    dist::run_ranks(count, [&](dist::Communicator&) {
      const Outcome mine = train(data, config);
      EXPECT_THAT(mine.records, ElementsAreArray(expected.records));
      EXPECT_THAT(mine.weights, ElementsAreArray(expected.weights));
    });
  }
  config.precision = PrecisionChoice::kF32;
  EXPECT_NE(train(data, config).weights, expected.weights) << "nothing was rounded";
}

TEST(Ranks, ContinueACheckpointOfAnotherNumberOfRanks) {
  const data::Dataset data = dataset();
  const test::TempDir folder;
  const auto checkpoint = folder / "state.safetensors";
  const Config whole = config_of("dgat", {{"steps", "6"}});
  const Outcome expected = train(data, whole);
  Config config = config_of("dgat", {{"steps", "6"}, {"checkpoint_every", "1"}});
  for (const int count : {3, 1, 2}) {
    // Ends as if killed: an error behind the second step of this session.
    const auto begun = [&](dist::Communicator&) {
      spectral::SpectralCache cache;
      InputBuilder builder(data, config, cache);
      const auto input = builder.for_split(0);
      const SplitTask task{config, data, input, 0, 2};
      const auto model = make_task_model(task);
      TrainHooks hooks;
      hooks.checkpoint = checkpoint;
      int64_t seen = 0;
      hooks.on_evaluation = [&](const StepRecord&) {
        if (++seen == 3) throw_compute("killed");
      };
      train_split(task, *model, hooks);
    };
    if (count > 2) {
      EXPECT_THROW(dist::run_ranks(count, begun), ComputeError);
    } else {
      dist::run_ranks(count, [&](dist::Communicator&) {
        EXPECT_THAT(train(data, config, checkpoint).weights, ElementsAreArray(expected.weights));
      });
    }
  }
}

TEST(Ranks, RefuseWhatTheyCannotTrain) {
  const data::Dataset data = dataset();
  const auto refusal = [&](const Config& config) {
    try {
      dist::run_ranks(2, [&](dist::Communicator&) { train(data, config); });
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(refusal(config_of("pgcn")), HasSubstr("several ranks cannot train pgcn"));
  EXPECT_THAT(refusal(config_of("dgat", {{"cells", "4"}})), HasSubstr("leave out --cells"));
  EXPECT_THAT(refusal(config_of("gcn", {{"hidden", "30"}})), HasSubstr("a multiple of 4, got 30"));
}

}  // namespace
}  // namespace dgat::train
