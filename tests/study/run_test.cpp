#include "dgat/study/run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/synth/minesweeper.h"
#include "dgat/train/predict.h"
#include "dgat/train/safetensors.h"
#include "dgat/train/trained_model.h"
#include "support/emulated_tiles.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
using namespace train;
using test::TempDir;
using testing::HasSubstr;
using Json = nlohmann::json;

Run run_in(const TempDir& temp, const std::string& name, const Config& config,
           const data::Dataset& dataset = test::small_dataset()) {
  const RunDirectory directory(temp / name, Existing::kRefuse);
  spectral::SpectralCache cache;
  return run_training(trial_data(dataset), config, cache, &directory);
}

TEST(Run, WritesEverythingAReaderNeeds) {
  const TempDir temp;
  const Config config = test::small_config();
  run_in(temp, "run", config);
  const Json json = Json::parse(read_whole_file(temp / "run" / "summary.json"));
  for (const char* key :
       {"model", "dataset", "metric", "parameters", "test_mean", "test_std", "val_mean", "val_std",
        "splits", "seconds_per_step", "peak_rss_bytes", "options"}) {
    EXPECT_TRUE(json.contains(key)) << key;
  }
  ASSERT_EQ(json["splits"].size(), 2U);
  for (const char* key : {"split", "best_step", "train", "val", "test", "seconds"}) {
    EXPECT_TRUE(json["splits"][0].contains(key)) << key;
  }
  const double a = json["splits"][0]["test"], b = json["splits"][1]["test"];
  EXPECT_DOUBLE_EQ(json["test_mean"], (a + b) / 2);
  EXPECT_NEAR(json["test_std"], std::abs(a - b) / std::sqrt(2.0), 1e-12);
  EXPECT_EQ(json["options"]["hidden"], 16);
  EXPECT_EQ(json["options"]["rewire"], "add");
  EXPECT_GT(json["peak_rss_bytes"], 1'000'000);
  EXPECT_EQ(test::count_lines(temp / "run" / "log.jsonl"), 24U);
  const Config back = resolve(read_settings(temp / "run" / "config.yaml"));
  EXPECT_EQ(to_yaml(back), to_yaml(config));
  const SafeTensors weights = read_safetensors(temp / "run" / "split-1.safetensors");
  EXPECT_EQ(weights.metadata.at("model"), "dgat");
  EXPECT_EQ(weights.metadata.at("gamma"), "0.3");
  EXPECT_EQ(weights.find("layers.0.att_edge.weight")->shape, (std::vector<int64_t>{2, 16}));
}

TEST(Run, JobsSideBySideGiveTheSameResults) {
  const TempDir temp;
  const data::Dataset dataset = test::small_dataset(3, 4);
  run_in(temp, "one", test::small_config("dgat", {{"jobs", "1"}}), dataset);
  run_in(temp, "three", test::small_config("dgat", {{"jobs", "3"}}), dataset);
  for (int split = 0; split < 4; ++split) {
    const std::string name = fmt::format("split-{}.safetensors", split);
    const SafeTensors a = read_safetensors(temp / "one" / name);
    const SafeTensors b = read_safetensors(temp / "three" / name);
    ASSERT_EQ(a.tensors.size(), b.tensors.size());
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      EXPECT_EQ(a.tensors[i].values, b.tensors[i].values) << name << " " << a.tensors[i].name;
    }
  }
}

/// In bf16, whose summary says so, and which any machine predicts with afterwards.
TEST(Run, Bf16JobsSideBySideGiveTheSameResults) {
  const TempDir temp;
  synth::CsbmOptions graph = test::small_csbm();
  graph.nodes = 90;
  const data::Dataset dataset = synth::csbm(graph);
  const auto trained = [&](const char* jobs) {
    const test::EmulatedTiles tiles;
    const Settings wide = {{"precision", "auto"}, {"hidden", "160"}, {"steps", "2"}};
    Settings settings = wide;
    settings["jobs"] = jobs;
    return run_in(temp, jobs, test::small_config("dgat", settings), dataset);
  };
  trained("1");
  trained("2");
  for (const char* name : {"split-0.safetensors", "split-1.safetensors"}) {
    const std::string alone = read_whole_file(temp / "1" / name);
    EXPECT_EQ(alone, read_whole_file(temp / "2" / name)) << name;
    EXPECT_EQ(read_safetensors(temp / "1" / name).metadata.at("precision"), "bf16");
  }
  const Json summary = Json::parse(read_whole_file(temp / "2" / "summary.json"));
  EXPECT_EQ(summary["options"]["precision"], "bf16");
  const test::EmulatedTiles none(tensor::TileUnit::kNone);
  TrainedModel model = load_trained(temp / "1", 0);
  spectral::SpectralCache cache;
  EXPECT_EQ(predict(model, dataset, cache, {}).classes.size(), 90U);
}

TEST(Run, ASplitTrainedAloneHasTheWeightsItHasAmongOthers) {
  const TempDir temp;
  const Config config = test::small_config();
  run_in(temp, "all", config);
  {
    const RunDirectory directory(temp / "one", Existing::kRefuse);
    spectral::SpectralCache cache;
    const study::Run one =
        run_training(trial_data(test::small_dataset()), config, cache, &directory, {1});
    ASSERT_EQ(one.row.splits.size(), 1U);
    EXPECT_EQ(one.row.splits[0].split, 1);
    EXPECT_THROW(run_training(trial_data(test::small_dataset()), config, cache, &directory, {2}),
                 InputError);
  }
  EXPECT_FALSE(std::filesystem::exists(temp / "one" / "split-0.safetensors"));
  const SafeTensors alone = read_safetensors(temp / "one" / "split-1.safetensors");
  const SafeTensors among = read_safetensors(temp / "all" / "split-1.safetensors");
  ASSERT_EQ(alone.tensors.size(), among.tensors.size());
  for (size_t t = 0; t < alone.tensors.size(); ++t) {
    EXPECT_EQ(alone.tensors[t].values, among.tensors[t].values) << alone.tensors[t].name;
  }
}

TEST(Run, DepthIsChosenByMeanValidation) {
  const TempDir temp;
  const study::Run run =
      run_in(temp, "range", test::small_config("dgat", {{"layers", "1..3"}, {"steps", "20"}}));
  ASSERT_EQ(run.row.choices.size(), 3U);
  for (const Choice& depth : run.row.choices) {
    EXPECT_LE(depth.val.mean, run.row.val.mean);
    const study::Run alone = run_in(
        temp, fmt::format("only-{}", depth.layers),
        test::small_config("dgat", {{"layers", fmt::format("{}", depth.layers)}, {"steps", "20"}}));
    EXPECT_EQ(alone.row.val.mean, depth.val.mean) << "a range is its depths one by one";
    EXPECT_EQ(alone.row.test.mean, depth.test.mean);
  }
  const SafeTensors weights = read_safetensors(temp / "range" / "split-0.safetensors");
  EXPECT_EQ(weights.metadata.at("layers"), fmt::format("{}", run.row.choice().layers));
}

TEST(Run, AFailureInOneJobStopsTheOthersAndIsReported) {
  const TempDir temp;
  data::Dataset dataset = test::small_dataset(3, 3);
  dataset.splits[1].val.clear();
  try {
    run_in(temp, "run",
           test::small_config("gat",
                              {{"jobs", "2"}, {"steps", "100000"}, {"checkpoint_every", "100000"}}),
           dataset);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("split 1 has 0 validation nodes"));
  }
}

TEST(Run, DataWithoutFeaturesIsRefused) {
  const TempDir temp;
  data::Dataset dataset = test::small_dataset();
  dataset.features = {};
  EXPECT_THROW(run_in(temp, "run", test::small_config(), dataset), InputError);
}

TEST(Run, AutomaticRewiringLooksAtTrainingLabelsOnly) {
  data::Dataset dataset = synth::csbm({.nodes = 400, .degree = 8, .homophily = 0.95, .splits = 1});
  // Few training nodes, labelled against their neighbours: all other nodes say the opposite.
  data::Split& parts = dataset.splits[0];
  parts = {};
  for (graph::NodeId i = 0; i < 400; ++i) {
    (i % 5 == 0 ? parts.train : i % 5 == 1 ? parts.val : parts.test).push_back(i);
    if (i % 5 == 0) dataset.labels[static_cast<size_t>(i)] = i / 5 % dataset.classes;
  }
  const rewire::Mode automatic = rewire::parse_mode("auto");
  ASSERT_EQ(rewire::to_string(rewire::resolve_mode(automatic, dataset.graph, dataset.labels)),
            "prune-near")
      << "with all labels the graph is homophilic";
  const Config config = test::small_config("dgat", {{"rewire", "auto"}});
  spectral::SpectralCache cache;
  InputBuilder builder(dataset, config, cache);
  builder.for_split(0);
  EXPECT_EQ(rewire::to_string(builder.choice_of(0).mode), "prune-far+add");
}

TEST(Run, EverySplitHasTheHomophilyOfItsOwnTrainingLabels) {
  const data::Dataset dataset = test::small_dataset(3, 3);
  const Config config = test::small_config("dgat");
  spectral::SpectralCache cache;
  InputBuilder builder(dataset, config, cache);
  for (const int64_t split : {2, 0, 1}) builder.for_split(split);
  ASSERT_EQ(builder.rewirings().size(), 3U);
  for (const auto& [split, report] : builder.rewirings()) {
    const auto labels =
        rewire::training_labels(dataset.labels, dataset.splits[static_cast<size_t>(split)].train);
    EXPECT_EQ(report.homophily_before, rewire::edge_homophily(dataset.graph, labels)) << split;
    EXPECT_GT(report.components_before, 0);
  }
  EXPECT_NE(builder.rewirings().at(0).homophily_before, builder.rewirings().at(1).homophily_before);
}

TEST(Run, TheSeedChoosesInsideARepeatedEigenvalue) {
  synth::MinesweeperOptions grid;  // a square grid has a double first eigenvalue
  grid.height = grid.width = 6;
  const data::Dataset dataset = synth::minesweeper(grid);
  const auto features = [&](const char* seed) {
    const Config config = test::small_config("dgat", {{"seed", seed}, {"rewire", "none"}});
    spectral::SpectralCache cache;
    InputBuilder builder(dataset, config, cache);
    const auto messages = builder.for_split(0).messages;
    return std::vector<float>(messages->features.values().begin(),
                              messages->features.values().end());
  };
  EXPECT_EQ(features("1"), features("1"));
  EXPECT_NE(features("1"), features("2"));
}

}  // namespace
}  // namespace dgat::study
