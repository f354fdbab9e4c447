// The parts of a training loop, each alone: step, evaluator, stopping rule, stages, checkpoints.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "support/small_run.h"
#include "support/temp_dir.h"
#include "train/checkpoint.h"
#include "train/evaluator.h"
#include "train/stages.h"
#include "train/stopping_rule.h"
#include "train/training_step.h"

namespace dgat::train {
namespace {
using tensor::Tape;
using tensor::Var;
using testing::HasSubstr;

/// logits = X W with all of W equal to `start`.
class Plain final : public nn::Model<float> {
 public:
  Plain(const nn::ModelOptions& options, double start, double share = 0)
      : Model(options), share_(share) {
    weight = &parameters().constant("weight", options.classes, options.features, start, true);
  }
  double pretraining_share() const override { return share_; }
  Var<float> forward(Tape<float>& tape, const nn::GraphInput<float>& input,
                     nn::Inspection<float>* /*inspection*/) override {
    return tensor::linear(tape, tape.reference(input.features->dense()), tape.parameter(*weight));
  }
  tensor::Parameter<float>* weight;

 private:
  double share_;
};

class LoopParts : public testing::Test {
 protected:
  void configure(const Settings& more) {
    config_ = test::small_config("gcn", more);
    builder_ = std::make_unique<InputBuilder>(dataset_, config_, cache_);
    input_ = builder_->for_split(0);
  }
  SplitTask task() const { return {config_, dataset_, input_, 0, 1}; }
  Plain model(double start = 0, double share = 0) const {
    nn::ModelOptions options;
    options.features = dataset_.features.cols();
    options.classes = dataset_.classes;
    return {options, start, share};
  }

  data::Dataset dataset_ = test::small_dataset();
  spectral::SpectralCache cache_;
  Config config_;
  std::unique_ptr<InputBuilder> builder_;
  nn::GraphInput<float> input_;
};

TEST_F(LoopParts, TheLossOfEvenLogitsIsTheLogarithmOfTheClassCount) {
  configure({});
  const SplitTask t = task();
  Plain net = model();
  EXPECT_NEAR(TrainingStep(t, net).passes(1), std::log(3.0), 1e-6);
  EXPECT_TRUE(net.weight->has_grad);
}

TEST_F(LoopParts, TheFirstUpdateOfAdamMovesEveryWeightByTheRateOfWarmUp) {
  for (const int64_t warmup : {0, 10}) {
    configure({{"lr", "0.01"}, {"warmup", std::to_string(warmup)}, {"weight_decay", "0"}});
    const SplitTask t = task();
    Plain net = model();
    TrainingStep step(t, net);
    step.passes(1);
    const tensor::Matrix<float> gradient = net.weight->grad.clone();
    std::vector<tensor::AdamMoments<float>> moments(1);
    step.update(1, 1, moments);
    const double rate = warmup == 0 ? 0.01 : 0.001;
    for (int64_t i = 0; i < gradient.size(); ++i) {  // g / (|g| + eps) is the sign of g
      const auto at = static_cast<size_t>(i);
      const double moved = net.weight->value.values()[at];
      EXPECT_NEAR(moved, gradient.values()[at] > 0 ? -rate : rate, 1e-3 * rate) << warmup;
    }
    EXPECT_FALSE(net.weight->has_grad) << "the next step starts without a gradient";
  }
}

TEST_F(LoopParts, ClippingScalesTheGradientThatTheMomentsSee) {
  configure({{"clip", "0.01"}});
  const SplitTask t = task();
  Plain net = model();
  TrainingStep step(t, net);
  step.passes(1);
  ASSERT_GT(tensor::sum_of_squares(net.weight->grad), 1e-4);
  std::vector<tensor::AdamMoments<float>> moments(1);
  step.update(1, 1, moments);
  // The first moment is (1 - beta1) = 0.1 of the clipped gradient, whose norm is 0.01.
  EXPECT_NEAR(std::sqrt(tensor::sum_of_squares(moments[0].first)), 0.001, 1e-6);
}

TEST_F(LoopParts, AnInfiniteGradientNamesItsParameter) {
  configure({});
  const SplitTask t = task();
  Plain net = model();
  TrainingStep step(t, net);
  step.passes(1);
  net.weight->grad.row(0)[0] = std::numeric_limits<float>::infinity();
  std::vector<tensor::AdamMoments<float>> moments(1);
  try {
    step.update(7, 7, moments);
    FAIL();
  } catch (const ComputeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("split 0, step 7: the gradient of weight is not finite"));
  }
}

TEST_F(LoopParts, ASplitWithoutLabelledTrainingNodesIsRefused) {
  configure({});
  for (const graph::NodeId i : dataset_.splits[0].train) {
    dataset_.labels[static_cast<size_t>(i)] = -1;
  }
  const SplitTask t = task();
  Plain net = model();
  EXPECT_THROW(TrainingStep(t, net), InputError);
}

TEST_F(LoopParts, TheEvaluatorMeasuresEveryPartOnItsOwn) {
  configure({});
  const SplitTask t = task();
  Plain net = model();  // even logits: class 0 for every node
  Evaluator evaluator(t, net);
  StepRecord record{.step = 3, .loss = 0.5};
  evaluator.measure(record);
  const auto share_of_class_0 = [&](const std::vector<graph::NodeId>& nodes) {
    double zeros = 0;
    for (const graph::NodeId i : nodes) zeros += dataset_.labels[static_cast<size_t>(i)] == 0;
    return zeros / static_cast<double>(nodes.size());
  };
  EXPECT_DOUBLE_EQ(record.train, share_of_class_0(dataset_.splits[0].train));
  EXPECT_DOUBLE_EQ(record.val, share_of_class_0(dataset_.splits[0].val));
  EXPECT_DOUBLE_EQ(record.test, share_of_class_0(dataset_.splits[0].test));
  EXPECT_EQ(record.step, 3);
  EXPECT_EQ(record.loss, 0.5);
}

TEST_F(LoopParts, TheEvaluatorSaysWhichParameterIsNotFinite) {
  configure({});
  const SplitTask t = task();
  Plain net = model(std::numeric_limits<double>::quiet_NaN());
  Evaluator evaluator(t, net);
  StepRecord record{.step = 2};
  try {
    evaluator.measure(record);
    FAIL();
  } catch (const ComputeError& error) {
    EXPECT_THAT(error.what(), HasSubstr("step 2: the logits are not finite; parameter weight"));
  }
}

TEST_F(LoopParts, APartThatCannotBeMeasuredIsRefusedBeforeTraining) {
  configure({});
  dataset_.splits[0].val.clear();
  const SplitTask t = task();
  Plain net = model();
  EXPECT_THROW(Evaluator(t, net), InputError);
}

TEST(StoppingRule, EvaluatesEveryFewStepsAndTheLast) {
  Config config;
  config.steps = 10;
  config.eval_every = 4;
  const StoppingRule rule(config, 0);
  for (const int64_t step : {4, 8, 10}) EXPECT_TRUE(rule.evaluates(step)) << step;
  for (const int64_t step : {1, 3, 5, 9}) EXPECT_FALSE(rule.evaluates(step)) << step;
  EXPECT_TRUE(rule.ends(10, 1));
  EXPECT_FALSE(rule.ends(9, 1)) << "patience is off";
}

TEST(StoppingRule, PatienceCountsFromTheBestStepAndOnlyEvaluatedStepsCanEnd) {
  Config config;
  config.steps = 100;
  config.eval_every = 2;
  config.patience = 5;
  const StoppingRule rule(config, 6);
  EXPECT_FALSE(rule.out_of_patience(12, 8));
  EXPECT_FALSE(rule.out_of_patience(13, 8)) << "step 13 is not evaluated";
  EXPECT_TRUE(rule.out_of_patience(14, 8));
  EXPECT_FALSE(rule.out_of_patience(14, 6)) << "the best step belongs to pre-training";
}

TEST_F(LoopParts, StagesDivideTheStepsAndCountWithinEach) {
  const Stages one(model(), 10);
  EXPECT_EQ(one.pretraining_steps(), 0);
  EXPECT_FALSE(one.pretrains(1));
  EXPECT_FALSE(one.pretraining_ends_after(0));
  EXPECT_EQ(one.of_stage(4), 4);
  const Stages two(model(0, 0.3), 10);
  EXPECT_TRUE(two.pretrains(3));
  EXPECT_FALSE(two.pretrains(4));
  EXPECT_TRUE(two.pretraining_ends_after(3));
  EXPECT_EQ(two.of_stage(3), 3);
  EXPECT_EQ(two.of_stage(4), 1);
  EXPECT_EQ(Stages(model(0, 1.0), 10).pretraining_steps(), 9) << "the second has at least one step";
  EXPECT_TRUE(Stages(model(0, 0.01), 10).pretraining_ends_after(0)) << "a share of no step at all";
}

class CheckpointPart : public LoopParts {
 protected:
  CheckpointPart() {
    configure({{"checkpoint_every", "4"}});
    hooks_.checkpoint = temp_ / "state.safetensors";
  }
  static LoopState state_of(Plain& net) {
    LoopState state;
    state.step = 8;
    state.best = {.step = 5, .loss = 0.5, .train = 0.9, .val = 0.75, .test = 0.25};
    state.best_weights = Snapshot(net);
    state.moments.resize(1);
    return state;
  }
  test::TempDir temp_;
  TrainHooks hooks_;
};

TEST_F(CheckpointPart, BringsBackWeightsAndState) {
  const SplitTask t = task();
  const Checkpoints checkpoints(t, hooks_);
  EXPECT_TRUE(checkpoints.due(8));
  EXPECT_FALSE(checkpoints.due(9));
  Plain net = model(0.25), other = model(-1);
  LoopState none;
  EXPECT_FALSE(checkpoints.load(other, none)) << "there is no file yet";
  checkpoints.save(net, state_of(net));
  LoopState state;
  ASSERT_TRUE(checkpoints.load(other, state));
  EXPECT_EQ(state.step, 8);
  EXPECT_EQ(state.best.step, 5);
  EXPECT_EQ(state.best.val, 0.75);
  EXPECT_EQ(other.weight->value(0, 0), 0.25F);
}

TEST_F(CheckpointPart, ADamagedOneFallsBackOnTheOneBefore) {
  const SplitTask t = task();
  const Checkpoints checkpoints(t, hooks_);
  Plain net = model(0.25), other = model(-1);
  LoopState first = state_of(net);
  first.step = 4;
  checkpoints.save(net, first);
  checkpoints.save(net, state_of(net));
  const std::string bytes = read_whole_file(hooks_.checkpoint);
  write_atomically(hooks_.checkpoint,
                   [&](std::ostream& out) { out << bytes.substr(0, bytes.size() / 2); });
  EXPECT_EQ(checkpoint_step(hooks_.checkpoint), 4);
  LoopState state;
  ASSERT_TRUE(checkpoints.load(other, state));
  EXPECT_EQ(state.step, 4);
  EXPECT_EQ(other.weight->value(0, 0), 0.25F);
}

TEST_F(CheckpointPart, OnlyTheLastOneOfAFinishedLoopStays) {
  const SplitTask t = task();
  const Checkpoints checkpoints(t, hooks_);
  Plain net = model(0.25);
  LoopState state = state_of(net);
  checkpoints.save(net, state);
  checkpoints.save(net, state);
  EXPECT_TRUE(std::filesystem::exists(previous_checkpoint(hooks_.checkpoint)));
  state.finished = true;
  checkpoints.save(net, state);
  EXPECT_FALSE(std::filesystem::exists(previous_checkpoint(hooks_.checkpoint)));
}

TEST_F(CheckpointPart, OfOtherOptionsIsRefusedUnlessItIsOptional) {
  const SplitTask t = task();
  Plain net = model(0.25);
  Checkpoints(t, hooks_).save(net, state_of(net));
  Config changed = config_;
  changed.lr *= 2;
  const SplitTask other{changed, dataset_, input_, 0, 1};
  Plain fresh = model(-1);
  LoopState state;
  EXPECT_THROW(Checkpoints(other, hooks_).load(fresh, state), InputError);
  hooks_.checkpoint_is_optional = true;
  EXPECT_FALSE(Checkpoints(other, hooks_).load(fresh, state));
  EXPECT_EQ(fresh.weight->value(0, 0), -1.0F) << "the weights stay as they were";
  EXPECT_EQ(state.moments.size(), 1U);
}

}  // namespace
}  // namespace dgat::train
