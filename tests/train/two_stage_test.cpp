// Models of two stages: what the loop promises them, shown on one that counts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/tensor/ops.h"
#include "dgat/train/trainer.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::train {
namespace {
using tensor::Tape;
using tensor::Var;
namespace fs = std::filesystem;

/// logits = X W in the first stage, X W + X V in the second; V starts as the W that pre-training
/// leaves.
class TwoStages final : public nn::Model<float> {
 public:
  TwoStages(const nn::ModelOptions& options, double share) : Model(options), share_(share) {
    first_ = &parameters().weight("first", options.classes, options.features);
    second_ = &parameters().constant("second", options.classes, options.features, 0, false);
  }
  double pretraining_share() const override { return share_; }
  void end_pretraining(const nn::GraphInput<float>& /*input*/) override {
    ++endings;
    second_->value = first_->value.clone();
    left_behind.assign(first_->value.values().begin(), first_->value.values().end());
  }
  Var<float> forward(Tape<float>& tape, const nn::GraphInput<float>& input,
                     nn::Inspection<float>* /*inspection*/) override {
    if (tape.training()) stages += pretraining() ? '1' : '2';
    const Var<float> x = tensor::dropout(tape, tape.reference(input.features->dense()), 0.2);
    const Var<float> logits = tensor::linear(tape, x, tape.parameter(*first_));
    if (pretraining()) return logits;
    return tensor::add(tape, logits, tensor::linear(tape, x, tape.parameter(*second_)));
  }
  std::vector<float> first() const {
    return {first_->value.values().begin(), first_->value.values().end()};
  }

  int endings = 0;
  std::string stages;
  std::vector<float> left_behind;

 private:
  double share_;
  tensor::Parameter<float>*first_, *second_;
};

class TwoStageTraining : public testing::Test {
 protected:
  explicit TwoStageTraining() { dataset_.splits.resize(1); }

  Config config(const Settings& more = {}) const {
    Settings settings = {{"steps", "20"}, {"lr", "0.05"}, {"checkpoint_every", "3"}};
    for (const auto& [key, value] : more) settings[key] = value;
    return test::small_config("gcn", settings);
  }
  TwoStages model(double share = 0.4) const {
    nn::ModelOptions options;
    options.features = dataset_.features.cols();
    options.classes = dataset_.classes;
    return {options, share};
  }
  SplitResult train(const Config& c, TwoStages& model, const TrainHooks& hooks = {}) {
    spectral::SpectralCache cache;
    InputBuilder builder(dataset_, c, cache);
    const auto input = builder.for_split(0);
    return train_split({c, dataset_, input, 0, 1}, model, hooks);
  }

  data::Dataset dataset_ = test::small_dataset();
};

TEST_F(TwoStageTraining, TheSecondStageStartsFromTheBestPretrainingStep) {
  auto net = model();
  TrainHooks hooks;
  StepRecord best;
  std::vector<float> best_weights;
  hooks.on_evaluation = [&](const StepRecord& r) {
    if (r.step > 8 || (best.step > 0 && r.val <= best.val)) return;
    best = r;
    best_weights = net.first();
  };
  const SplitResult result = train(config(), net, hooks);
  EXPECT_EQ(net.stages, "11111111222222222222");
  EXPECT_EQ(net.endings, 1);
  EXPECT_EQ(net.left_behind, best_weights) << "best pre-training step " << best.step;
  EXPECT_GT(result.best.step, 8);
  EXPECT_FALSE(net.pretraining());
}

TEST_F(TwoStageTraining, FewStepsAndRareEvaluationsStillEndPretraining) {
  auto rare = model();
  train(config({{"eval_every", "100"}}), rare);
  EXPECT_EQ(rare.endings, 1);
  auto short_run = model();
  EXPECT_EQ(train(config({{"steps", "1"}}), short_run).best.step, 1);
  EXPECT_EQ(short_run.stages, "2");
  EXPECT_EQ(short_run.endings, 1);
  auto one_stage = model(0);
  train(config(), one_stage);
  EXPECT_EQ(one_stage.endings, 0);
}

TEST_F(TwoStageTraining, PatienceWaitsForTheSecondStage) {
  auto net = model();
  const SplitResult result = train(config({{"patience", "1"}, {"lr", "1e-12"}}), net);
  EXPECT_EQ(net.stages, "1111111122");
  EXPECT_EQ(result.best.step, 9);
}

TEST_F(TwoStageTraining, AResumedRunHasTheSameBits) {
  auto whole = model();
  const SplitResult expected = train(config(), whole);
  for (const int64_t stop : {2, 7, 8, 9, 15}) {
    const test::TempDir temp;
    TrainHooks hooks;
    hooks.checkpoint = temp / "state.safetensors";
    hooks.on_evaluation = [&](const StepRecord& r) {
      if (r.step == stop) request_interrupt();
    };
    auto begun = model();
    EXPECT_THROW(train(config(), begun, hooks), Interrupted);
    request_interrupt(false);
    hooks.on_evaluation = nullptr;
    auto resumed = model();
    const SplitResult result = train(config(), resumed, hooks);
    EXPECT_EQ(begun.stages + resumed.stages, whole.stages) << stop;
    EXPECT_EQ(result.best.step, expected.best.step) << stop;
    EXPECT_EQ(result.best.val, expected.best.val) << stop;
    EXPECT_EQ(resumed.first(), whole.first()) << stop;
  }
}

}  // namespace
}  // namespace dgat::train
