#include "dgat/train/predict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "dgat/nn/registry.h"
#include "dgat/study/run.h"
#include "dgat/tensor/pool.h"
#include "dgat/train/safetensors.h"
#include "dgat/train/weights.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::train {
namespace {
using test::TempDir;
using testing::HasSubstr;

struct TrainedRun {
  TempDir temp;
  data::Dataset dataset;
  study::RowResult row;
  explicit TrainedRun(const Config& config, int classes = 3)
      : dataset(test::small_dataset(classes)) {
    const RunDirectory directory(temp / "run", Existing::kRefuse);
    spectral::SpectralCache cache;
    row = study::run_training(study::trial_data(dataset), config, cache, &directory).row;
  }
  TrainedModel load(int64_t split = 0) const { return load_trained(temp / "run", split); }
};

double accuracy_of(const Prediction& p, const data::Dataset& dataset,
                   const std::vector<graph::NodeId>& nodes) {
  double right = 0;
  for (const graph::NodeId i : nodes) {
    right += p.classes[static_cast<size_t>(i)] == dataset.labels[static_cast<size_t>(i)] ? 1 : 0;
  }
  return right / static_cast<double>(nodes.size());
}

TEST(Predict, AfterReloadEqualsWhatTrainingMeasured) {
  for (const char* recipe : {"residual", "classic", "deep"}) {
    const TrainedRun run(test::small_config(
        "dgat", {{"recipe", recipe}, {"layers", "2"}, {"steps", "30"}, {"rewire", "auto"}}));
    for (const int64_t split : {0, 1}) {
      TrainedModel trained = run.load(split);
      spectral::SpectralCache cache;
      const Prediction p = predict(trained, run.dataset, cache);
      const study::TrialResult& result = run.row.splits[static_cast<size_t>(split)];
      const data::Split& parts = run.dataset.splits[static_cast<size_t>(split)];
      EXPECT_DOUBLE_EQ(accuracy_of(p, run.dataset, parts.test), result.test);
      EXPECT_DOUBLE_EQ(accuracy_of(p, run.dataset, parts.val), result.val);
    }
  }
}

TEST(Predict, EveryModelComesBackFromItsFileAsItWasTrained) {
  for (const nn::ModelInfo& info : nn::all_models()) {
    const TrainedRun run(test::small_config(
        info.name, {{"steps", "3"}, {"splits", "1"}, {"feature_scaling", "standardise"}}));
    TrainedModel trained = run.load();
    spectral::SpectralCache cache;
    const Prediction p = predict(trained, run.dataset, cache);
    EXPECT_EQ(trained.config.feature_scaling, FeatureScaling::kStandardise);
    EXPECT_DOUBLE_EQ(accuracy_of(p, run.dataset, run.dataset.splits[0].test),
                     run.row.splits[0].test)
        << info.name;
  }
}

TEST(Predict, ProbabilitiesSumToOneAndTwoClassesHaveTwoColumns) {
  const TrainedRun run(test::small_config("gat"), 2);
  TrainedModel trained = run.load();
  spectral::SpectralCache cache;
  const Prediction p = predict(trained, run.dataset, cache);
  ASSERT_EQ(p.class_count, 2);
  ASSERT_EQ(p.probabilities.size(), 120U);
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_NEAR(p.probabilities[2 * i] + p.probabilities[2 * i + 1], 1, 1e-6);
    EXPECT_EQ(p.classes[i], p.probabilities[2 * i + 1] > 0.5F ? 1 : 0);
  }
}

TEST(Predict, WorksOnAnotherGraphWithTheSameFeatures) {
  const TrainedRun run(test::small_config("dgat", {{"steps", "60"}}));
  synth::CsbmOptions o = test::small_csbm(3, 0, 99);
  o.nodes = 200;
  const data::Dataset other = synth::csbm(o);
  TrainedModel trained = run.load();
  spectral::SpectralCache cache;
  const Prediction p = predict(trained, other, cache);
  std::vector<graph::NodeId> all(200);
  for (graph::NodeId i = 0; i < 200; ++i) all[static_cast<size_t>(i)] = i;
  EXPECT_GT(accuracy_of(p, other, all), 0.6) << "guessing gives a third";
}

TEST(Predict, AttentionHasExplicitArcsAndSumsToOnePerReceiver) {
  const TrainedRun run(test::small_config("dgat", {{"layers", "2"}}));
  TrainedModel trained = run.load();
  spectral::SpectralCache cache;
  const Prediction p =
      predict(trained, run.dataset, cache, {.embeddings = true, .attention = true});
  EXPECT_EQ(p.embedding_width, 16);
  EXPECT_EQ(p.embeddings.size(), 60U * 16U);
  ASSERT_EQ(p.attention.size(), 2U);
  ASSERT_EQ(p.receivers.size(), p.senders.size());
  std::vector<double> sums(60, 0);
  for (size_t e = 0; e < p.receivers.size(); ++e) {
    sums[static_cast<size_t>(p.receivers[e])] +=
        static_cast<double>(p.attention[0].weights[2 * e + 1]);
  }
  for (const double sum : sums) EXPECT_NEAR(sum, 1, 1e-5);
}

TEST(Predict, MistakesAreExplained) {
  const TrainedRun run(test::small_config("gat"));
  const auto message = [](const auto& function) -> std::string {
    try {
      function();
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message([&] { run.load(7); }), HasSubstr("no split-7.safetensors"));
  EXPECT_THAT(message([&] { load_trained(run.temp / "nothing", 0); }), HasSubstr("no such run"));
  data::Dataset narrow = run.dataset;
  narrow.features = data::Features::dense(60, 2, std::vector<float>(120, 1));
  TrainedModel trained = run.load();
  spectral::SpectralCache cache;
  EXPECT_THAT(message([&] { predict(trained, narrow, cache); }),
              HasSubstr("has 2 features, the model was trained with 8"));
  const TrainedRun tied(test::small_config("glognn", {{"steps", "2"}, {"splits", "1"}}));
  TrainedModel rows = tied.load();
  data::Dataset larger = synth::csbm({.nodes = 61, .features = 8, .splits = 1});
  EXPECT_THAT(message([&] { predict(rows, larger, cache); }), HasSubstr("each of the 60 nodes"));
}

TEST(Weights, LeadingOnesInAShapeAreForgivenAndOtherShapesAreNot) {
  nn::ModelOptions o;
  o.features = 3;
  o.classes = 2;
  o.hidden = 4;
  o.heads = 2;
  o.layers = 1;
  const auto load = [&](const std::vector<int64_t>& shape, const std::string& extra) {
    const auto model = nn::make_model("resnet", o);
    SafeTensors file;
    for (const auto& entry : model->parameters().entries()) {
      file.tensors.push_back(
          {entry.parameter.name, entry.shape,
           std::vector<float>(static_cast<size_t>(entry.parameter.value.size()), 0.5F)});
      if (entry.parameter.name == "norm.bias") file.tensors.back().shape = shape;
    }
    if (!extra.empty()) file.tensors.push_back({extra, {1}, {0}});
    load_weights(file, *model, "w");
    return model->parameters().find("norm.bias")->parameter.value(0, 3);
  };
  EXPECT_EQ(load({1, 1, 4}, ""), 0.5F);
  EXPECT_THROW(load({2, 2}, ""), InputError);
  EXPECT_THROW(load({4}, "stranger"), InputError);
}

TEST(Predict, AModelForgetsTheGraphBefore) {
  const TrainedRun run(test::small_config("h2gcn", {{"extra.dense", "0.3"}, {"steps", "3"}}));
  TrainedModel used = run.load(), fresh = run.load();
  data::Dataset sparse = run.dataset;  // a ring has few pairs at distance two
  std::vector<graph::Edge> edges;
  for (graph::NodeId i = 0; i < 60; ++i) edges.push_back({i, (i + 1) % 60});
  sparse.graph = graph::build_graph(60, edges).graph;
  spectral::SpectralCache cache;
  predict(used, run.dataset, cache);
  EXPECT_EQ(predict(used, sparse, cache).probabilities,
            predict(fresh, sparse, cache).probabilities);
}

TEST(Predict, AnOutputThatIsNotFiniteIsAnError) {
  const TrainedRun run(test::small_config("gat", {{"steps", "2"}}));
  TrainedModel trained = run.load();
  trained.model->parameters().entries().front().parameter.value.values()[0] =
      std::numeric_limits<float>::quiet_NaN();
  spectral::SpectralCache cache;
  EXPECT_THROW(predict(trained, run.dataset, cache), ComputeError);
}

TEST(Predict, ClassesKeepTheNamesOfTheTraining) {
  TempDir temp;
  data::Dataset dataset = test::small_dataset();
  dataset.class_names = {"blue", "green", "red"};
  {
    const RunDirectory directory(temp / "run", Existing::kRefuse);
    spectral::SpectralCache cache;
    study::run_training(study::trial_data(dataset), test::small_config("gat", {{"steps", "2"}}),
                        cache, &directory);
  }
  EXPECT_EQ(load_trained(temp / "run", 0).class_names, dataset.class_names);
}

TEST(Predict, AModelWithoutAttentionHasNone) {
  const TrainedRun run(test::small_config("gcn", {{"steps", "2"}}));
  TrainedModel trained = run.load();
  spectral::SpectralCache cache;
  const Prediction p = predict(trained, run.dataset, cache, {.attention = true});
  EXPECT_TRUE(p.attention.empty());
  EXPECT_EQ(p.classes.size(), 60U);
}

TEST(Weights, BuffersOfAnotherShapeAreRefused) {
  const TrainedRun run(test::small_config("dgn", {{"steps", "2"}}));
  SafeTensors file = read_safetensors(run.temp / "run" / "split-0.safetensors");
  TrainedModel trained = run.load();
  for (NamedTensor& tensor : file.tensors) {
    if (!tensor.name.ends_with("running_mean")) continue;
    tensor.shape = {1, 1};
    tensor.values.resize(1);
    EXPECT_THROW(load_weights(file, *trained.model, "file"), InputError);
    return;
  }
  FAIL() << "dgn has batch norms";
}

TEST(Predict, MetadataThatAskForMoreThanTheTensorsHoldAllocateNothing) {
  const TrainedRun run(test::small_config("dgat"));
  const SafeTensors file = read_safetensors(run.temp / "run" / "split-0.safetensors");
  for (const auto& [key, value] : {std::pair{"hidden", "1048576"}, std::pair{"layers", "1000"},
                                   std::pair{"dgat.features", "4611686018427387904"},
                                   std::pair{"dgat.classes", "1000000000"}}) {
    auto metadata = file.metadata;
    metadata.erase("dgat.sha256");
    metadata[key] = value;
    std::vector<TensorView> tensors;
    for (const NamedTensor& t : file.tensors) tensors.push_back({t.name, t.shape, t.values});
    write_atomically(run.temp / "huge.safetensors",
                     [&](std::ostream& out) { write_safetensors(out, tensors, metadata); });
    tensor::reset_pool_peak();
    EXPECT_THROW(load_trained(run.temp / "huge.safetensors", 0), InputError) << key;
    EXPECT_LT(tensor::pool_statistics().peak_bytes_in_use, size_t{1} << 24) << key;
  }
}

}  // namespace
}  // namespace dgat::train
