#include "dgat/train/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
#include "dgat/tensor/sparse.h"
#include "dgat/train/diverged.h"
#include "support/small_run.h"
#include "support/test_names.h"

namespace dgat::train {
namespace {
using testing::ElementsAreArray;
using testing::HasSubstr;

/// One split of the small data set, trained; keeps what the loop reported.
struct Trained {
  data::Dataset dataset;
  SplitResult result;
  std::vector<StepRecord> records;
  std::unique_ptr<nn::Model<float>> model;
};

Trained train_small(const Config& config, data::Dataset dataset = test::small_dataset()) {
  Trained t;
  const test::SmallTask small(config, std::move(dataset));
  t.dataset = small.dataset;
  t.model = make_task_model(small.task);
  TrainHooks hooks;
  hooks.on_evaluation = [&](const StepRecord& r) { t.records.push_back(r); };
  t.result = train_split(small.task, *t.model, hooks);
  return t;
}

/// What a training saves of memory costs no bit, whatever the model and its recipe.
TEST(Trainer, SavingMemoryChangesNoBit) {
  const auto trained = [](const Config& config, bool save_memory) {
    test::SmallTask small(config);
    small.task.save_memory = save_memory;
    const auto model = make_task_model(small.task);
    train_split(small.task, *model);
    return test::weights_of(*model);
  };
  for (const nn::ModelInfo& model : nn::all_models()) {
    for (const std::string recipe : {"residual", "classic", "deep"}) {
      const bool has =
          recipe == "residual" || (recipe == "classic" ? model.has_classic : model.has_deep);
      if (!has || (model.own_recipe && recipe != "residual")) continue;
      const Config config = test::small_config(
          model.name, {{"recipe", recipe}, {"dropout", "0.3"}, {"steps", "3"}, {"layers", "2"}});
      EXPECT_EQ(trained(config, false), trained(config, true)) << model.name << " " << recipe;
    }
  }
}

/// Counted in matrices of nodes x width: on a graph of a million nodes each is a quarter gigabyte.
TEST(Trainer, AStepThatSavesMemoryHoldsFewMatrices) {
  constexpr int64_t kNodes = 2000, kWidth = 64;
  const ThreadScope alone(1);
  synth::CsbmOptions graph = test::small_csbm();
  graph.nodes = kNodes;
  graph.degree = 10;
  const Config config = test::small_config("dgat", {{"hidden", std::to_string(kWidth)},
                                                    {"heads", "8"},
                                                    {"layers", "2"},
                                                    {"dropout", "0.3"},
                                                    {"rewire", "none"},
                                                    {"steps", "1"}});
  test::SmallTask small(config, synth::csbm(graph));
  small.task.save_memory = true;
  small.task.layers = 2;
  const auto model = make_task_model(small.task);
  tensor::reset_pool_peak();
  const size_t before = tensor::pool_statistics().bytes_in_use;
  train_split(small.task, *model);
  const auto peak = static_cast<double>(tensor::pool_statistics().peak_bytes_in_use - before);
  EXPECT_LT(peak / (kNodes * kWidth * sizeof(float)), 10);
}

TEST(Trainer, OverfitsATinyGraphToEveryTrainingLabel) {
  for (const char* recipe : {"residual", "classic", "deep"}) {
    const Config config = test::small_config("dgat", {{"steps", "300"},
                                                      {"dropout", "0"},
                                                      {"recipe", recipe},
                                                      {"layers", "2"},
                                                      {"weight_decay", "0"},
                                                      {"rewire", "none"}});
    const Trained t = train_small(config);
    EXPECT_EQ(t.records.back().train, 1.0) << recipe;
  }
}

class EveryModel : public testing::TestWithParam<std::string> {};

TEST_P(EveryModel, LossDecreases) {
  Settings settings = {{"steps", "40"}, {"dropout", "0"}};
  for (const nn::ExtraOption& extra : nn::find_model(GetParam()).extras) {
    if (extra.name.ends_with("dropout")) settings["extra." + extra.name] = "0";
  }
  const Trained t = train_small(test::small_config(GetParam(), settings));
  EXPECT_LT(t.records.back().loss, 0.8 * t.records.front().loss);
}

TEST_P(EveryModel, ThreadCountsAgreeBitForBit) {
  std::vector<float> expected;
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    const Trained t = train_small(test::small_config(GetParam(), {{"steps", "3"}}));
    if (expected.empty()) expected = test::weights_of(*t.model);
    EXPECT_THAT(test::weights_of(*t.model), ElementsAreArray(expected)) << threads;
  }
}

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const nn::ModelInfo& info : nn::all_models()) all.push_back(info.name);
  return all;
}
/// The small data set with words for features: forty columns, a few entries per row.
data::Dataset wordy_dataset() {
  data::Dataset dataset = test::small_dataset();
  Random random(5);
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  for (size_t i = 0; i < 60; ++i) {
    for (int32_t c = 0; c < 40; ++c) {
      if (random.uniform() < (c % 3 == dataset.labels[i] ? 0.3 : 0.05)) columns.push_back(c);
    }
    offsets.push_back(std::ssize(columns));
  }
  const std::vector<float> ones(columns.size(), 1);
  dataset.features = data::Features::sparse(60, 40, offsets, columns, ones);
  return dataset;
}

TEST_P(EveryModel, SparseFeaturesGiveTheSameBitsAtEveryThreadCountAndUnderAnUnreachedLimit) {
  const auto trained = [](const char* clip, int threads) {
    const ThreadScope scope(threads);
    const Config config = test::small_config(GetParam(), {{"steps", "4"}, {"clip", clip}});
    return test::weights_of(*train_small(config, wordy_dataset()).model);
  };
  const std::vector<float> expected = trained("1e9", 1);
  for (const int threads : {1, 2, 4}) {
    EXPECT_THAT(trained("0", threads), ElementsAreArray(expected)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(names()),
                         test::name_of_parameter<std::string>);

TEST(Trainer, AllSwitchesOffGivesTheBitsOfGat) {
  const Trained gat = train_small(test::small_config("gat", {{"layers", "2"}}));
  const Trained off = train_small(test::small_config(
      "dgat",
      {{"layers", "2"}, {"directional", "off"}, {"rewire", "none"}, {"laplacian", "default"}}));
  EXPECT_THAT(test::weights_of(*off.model), ElementsAreArray(test::weights_of(*gat.model)));
  EXPECT_EQ(off.result.best.test, gat.result.best.test);
}

TEST(Trainer, KeepsTheFirstStepWithTheBestValidationMetric) {
  const Trained t = train_small(test::small_config("dgat", {{"steps", "60"}}));
  ASSERT_EQ(t.records.size(), 60U);
  const auto best = std::max_element(t.records.begin(), t.records.end(),
                                     [](const auto& a, const auto& b) { return a.val < b.val; });
  EXPECT_EQ(t.result.best.step, best->step);
  EXPECT_EQ(t.result.best.test, best->test);
}

TEST(Trainer, EvaluatesEveryKStepsAndAtTheEnd) {
  const Trained t = train_small(test::small_config("gat", {{"steps", "10"}, {"eval_every", "4"}}));
  ASSERT_EQ(t.records.size(), 3U);
  EXPECT_EQ(t.records[1].step, 8);
  EXPECT_EQ(t.records[2].step, 10);
}

TEST_P(EveryModel, EvaluatingLeavesNoTraceInTheTraining) {
  for (const int threads : {1, 2}) {
    const ThreadScope scope(threads);
    const Trained often = train_small(test::small_config(GetParam(), {{"steps", "6"}})),
                  once = train_small(
                      test::small_config(GetParam(), {{"steps", "6"}, {"eval_every", "100"}}));
    EXPECT_EQ(often.records.back().loss, once.records.back().loss) << threads;
    EXPECT_EQ(often.records.back().val, once.records.back().val) << threads;
  }
}

TEST(Trainer, PatienceStopsAfterStepsWithoutImprovement) {
  const Trained t = train_small(
      test::small_config("gat", {{"steps", "5000"}, {"patience", "5"}, {"lr", "0.05"}}));
  EXPECT_EQ(t.result.steps, t.result.best.step + 5);
}

TEST(Trainer, PatienceWaitsForAnEvaluation) {
  const Trained t = train_small(test::small_config(
      "gat", {{"steps", "100"}, {"patience", "5"}, {"eval_every", "10"}, {"lr", "0.05"}}));
  ASSERT_GE(t.records.size(), 2U) << "the first one alone is the best there is";
  EXPECT_EQ(t.result.steps, t.records.back().step) << "nothing is trained that is not evaluated";
}

#if defined(__x86_64__)
TEST(Trainer, CountsSubnormalNumbersAsZero) {
  const test::SmallTask small(test::small_config("gat", {{"steps", "1"}}));
  volatile float smallest = 1.17549435e-38F, half = 0.5F, product = -1;
  TrainHooks hooks;
  hooks.on_evaluation = [&](const StepRecord&) { product = smallest * half; };
  train_split(small.task, *make_task_model(small.task), hooks);
  EXPECT_EQ(product, 0);
  EXPECT_GT(smallest * half, 0) << "the caller's setting is back";
}
#endif

TEST(Trainer, WarmUpScalesTheFirstUpdate) {
  // Adam's first update has length lr, so a warm-up over 4 steps moves a quarter as far.
  const auto moved = [](const char* warmup) {
    const Config config =
        test::small_config("resnet", {{"steps", "1"}, {"warmup", warmup}, {"weight_decay", "0"}});
    const Trained t = train_small(config);
    const auto fresh = make_task_model(test::SmallTask(config).task);
    return static_cast<double>(t.model->parameters().find("output.bias")->parameter.value(0, 0)) -
           static_cast<double>(fresh->parameters().find("output.bias")->parameter.value(0, 0));
  };
  EXPECT_NEAR(moved("4"), moved("0") / 4, 1e-6);
  EXPECT_NEAR(std::abs(moved("0")), 0.01, 1e-4);
}

TEST(Trainer, TwoClassesAreJudgedByRocAuc) {
  const data::Dataset dataset = test::small_dataset(2);
  const Config config = test::small_config("gcn", {{"steps", "60"}});
  EXPECT_EQ(metric_for(config.metric, dataset), MetricKind::kRocAuc);
  const Trained t = train_small(config, dataset);
  EXPECT_GT(t.records.back().train, 0.9);
}

TEST(Trainer, UnlabelledNodesAreSkipped) {
  data::Dataset dataset = test::small_dataset();
  for (size_t i = 0; i < dataset.labels.size(); i += 3) dataset.labels[i] = -1;
  const Trained t = train_small(test::small_config(), dataset);
  EXPECT_EQ(t.records.size(), 12U);
}

TEST(Trainer, BadDataNamesStepAndTensor) {
  const auto message = [](float value) -> std::string {
    data::Dataset dataset = test::small_dataset();
    std::vector<float> features = dataset.features.to_dense();
    features[5] = value;
    dataset.features = data::Features::dense(60, 8, std::move(features));
    try {
      train_small(test::small_config("gat"), dataset);
    } catch (const ComputeError& error) {
      return error.what();
    }
    return "unnoticed";
  };
  EXPECT_THAT(message(std::numeric_limits<float>::quiet_NaN()),
              HasSubstr("split 0, step 1: the loss is nan; the node features are not finite"));
  EXPECT_THAT(message(3e38F), HasSubstr("the layers overflow"));
}

TEST(Trainer, NonFiniteWeightsAreFoundAndNamed) {
  const test::SmallTask small(test::small_config("gat"));
  const auto model = make_task_model(small.task);
  model->parameters().find("layers.0.lin.weight")->parameter.value(0, 0) =
      std::numeric_limits<float>::quiet_NaN();
  try {
    train_split(small.task, *model);
    FAIL() << "NaN went unnoticed";
  } catch (const Diverged& error) {
    EXPECT_THAT(error.what(), HasSubstr("the training diverged: split 0, step 1: the loss is nan"));
    EXPECT_THAT(error.what(), HasSubstr("parameter layers.0.lin.weight is not finite"));
  }
}

/// One linear layer, for tests of what goes wrong.
class OneLayer : public nn::Model<float> {
 public:
  OneLayer(const nn::ModelOptions& options, int64_t rows, int64_t columns) : Model(options) {
    weight_ = &parameters().weight("weight", rows, columns);
  }

 protected:
  static nn::ModelOptions options_for(const data::Dataset& dataset) {
    nn::ModelOptions options;
    options.features = dataset.features.cols();
    options.classes = dataset.classes;
    return options;
  }
  tensor::Parameter<float>* weight_;
};

/// logits = X W, and not numbers in the evaluation of step 3.
class FailsAtStepThree final : public OneLayer {
 public:
  explicit FailsAtStepThree(const data::Dataset& dataset)
      : OneLayer(options_for(dataset), dataset.classes, dataset.features.cols()) {}
  tensor::Var<float> forward(tensor::Tape<float>& tape, const nn::GraphInput<float>& input,
                             nn::Inspection<float>* /*inspection*/) override {
    if (!tape.training() && tape.options().step == 3) {
      return tape.constant(tensor::Matrix<float>::filled(input.nodes(), options().outputs(),
                                                         std::numeric_limits<float>::quiet_NaN()));
    }
    return tensor::linear(tape, tape.reference(input.features->dense()), tape.parameter(*weight_));
  }
};

TEST(Trainer, AnEvaluationThatFailsIsReportedBeforeAnyLaterStep) {
  const test::SmallTask small(test::small_config("gcn"));
  for (const int threads : {1, 2}) {
    const ThreadScope scope(threads);
    FailsAtStepThree model(small.dataset);
    std::vector<int64_t> steps;
    TrainHooks hooks;
    hooks.on_evaluation = [&](const StepRecord& r) { steps.push_back(r.step); };
    try {
      train_split(small.task, model, hooks);
      FAIL() << "NaN went unnoticed";
    } catch (const ComputeError& error) {
      EXPECT_THAT(error.what(), HasSubstr("split 0, step 3: the logits are not finite"));
    }
    EXPECT_THAT(steps, testing::ElementsAre(1, 2)) << threads;
  }
}

/// logits = X W for sparse X; the gradient of step 2 is infinite on its way to W, the loss is not.
class OverflowsBackwards final : public OneLayer {
 public:
  explicit OverflowsBackwards(const data::Dataset& dataset)
      : OneLayer(options_for(dataset), dataset.features.cols(), dataset.classes) {}
  tensor::Var<float> forward(tensor::Tape<float>& tape, const nn::GraphInput<float>& input,
                             nn::Inspection<float>* /*inspection*/) override {
    const tensor::Var<float> out =
        tensor::sparse_linear(tape, input.features->sparse(), tape.parameter(*weight_), {});
    const float factor = tape.options().step == 2 ? std::numeric_limits<float>::infinity() : 1;
    return tape.record(
        out.value().clone(), {out},
        [factor, slot = out.slot()](tensor::Tape<float>& t, tensor::Matrix<float> g) {
          for (float& x : g.values()) x *= factor;
          t.accumulate(slot, std::move(g));
        });
  }
};

TEST(Trainer, AGradientThatIsNotFiniteIsNamedAndSpoilsNoWeight) {
  const data::Dataset dataset = wordy_dataset();
  for (const char* clip : {"0", "1e9"}) {
    const test::SmallTask small(test::small_config("gcn", {{"clip", clip}}), dataset);
    OverflowsBackwards model(dataset);
    try {
      train_split(small.task, model);
      FAIL() << "an infinite gradient went unnoticed";
    } catch (const ComputeError& error) {
      EXPECT_THAT(error.what(), HasSubstr("split 0, step 2: the gradient of weight is not finite; "
                                          "parameters and features are finite"));
    }
    EXPECT_THAT(test::weights_of(model),
                testing::Each(testing::Truly([](float w) { return std::isfinite(w); })))
        << clip;
  }
}

TEST(Trainer, ASplitThatCannotBeMeasuredIsRefused) {
  data::Dataset dataset = test::small_dataset();
  dataset.splits[0].val.clear();
  try {
    train_small(test::small_config(), dataset);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("split 0 has 0 validation nodes"));
  }
}

/// What a model sees of these features.
std::shared_ptr<const nn::NodeFeatures<float>> seen_features(const data::Features& features,
                                                             const std::string& scaling) {
  data::Dataset dataset = test::small_dataset();
  dataset.features = features;
  const Config config = test::small_config("gcn", {{"feature_scaling", scaling}});
  spectral::SpectralCache cache;
  return InputBuilder(dataset, config, cache).for_split(0).features;
}

TEST(FeatureScaling, RowsSumToOneAndSparseFeaturesStaySparse) {
  std::vector<float> values(60 * 4, 0);
  for (size_t i = 1; i < 60; ++i) {
    values[i * 4 + i % 4] = static_cast<float>(i);
    if (i % 3 == 0) values[i * 4 + (i + 1) % 4] = 2;
  }
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  std::vector<float> stored;
  for (size_t k = 0; k < values.size(); ++k) {
    if (values[k] != 0) {
      columns.push_back(static_cast<int32_t>(k % 4));
      stored.push_back(values[k]);
    }
    if (k % 4 == 3) offsets.push_back(static_cast<int64_t>(stored.size()));
  }
  const auto dense = seen_features(data::Features::dense(60, 4, values), "row-sum");
  const auto sparse =
      seen_features(data::Features::sparse(60, 4, offsets, columns, stored), "row-sum");
  ASSERT_TRUE(sparse->is_sparse());
  ASSERT_FALSE(dense->is_sparse());
  for (int64_t i = 0; i < 60; ++i) {
    double a = 0, b = 0;
    for (int64_t c = 0; c < 4; ++c) a += dense->dense()(i, c);
    const auto& csr = sparse->sparse().csr();
    for (int64_t e = csr.offsets[static_cast<size_t>(i)];
         e < csr.offsets[static_cast<size_t>(i) + 1]; ++e) {
      b += csr.values[static_cast<size_t>(e)];
    }
    EXPECT_NEAR(a, i == 0 ? 0 : 1, 1e-6);
    EXPECT_NEAR(b, i == 0 ? 0 : 1, 1e-6);
  }
  EXPECT_THROW(
      seen_features(data::Features::sparse(60, 4, offsets, columns, stored), "standardise"),
      InputError);
}

TEST(FeatureScaling, StandardisedColumnsHaveMeanZeroAndVarianceOne) {
  data::Dataset dataset = test::small_dataset();
  std::vector<float> values = dataset.features.to_dense();
  const int64_t cols = dataset.features.cols();
  for (int64_t i = 0; i < 60; ++i) {
    values[static_cast<size_t>(i * cols)] = 7;          // a constant column
    values[static_cast<size_t>(i * cols + 1)] *= 1e4F;  // a large one
  }
  const auto seen = seen_features(data::Features::dense(60, cols, values), "standardise");
  for (int64_t c = 0; c < cols; ++c) {
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < 60; ++i) {
      sum += seen->dense()(i, c);
      squares += seen->dense()(i, c) * seen->dense()(i, c);
    }
    EXPECT_NEAR(sum / 60, 0, 1e-6);
    EXPECT_NEAR(squares / 60, c == 0 ? 0 : 1, 1e-5);
  }
}

TEST(FeatureScaling, RowSumsAreLeftOutWhenThereAreNegativeFeatures) {
  const data::Features features = test::small_dataset().features;
  const auto seen = seen_features(features, "row-sum");
  EXPECT_EQ(seen->dense()(3, 2), features.values()[static_cast<size_t>(3 * features.cols() + 2)]);
}

}  // namespace
}  // namespace dgat::train
