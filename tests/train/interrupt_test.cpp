// Ctrl-C inside the passes of a step or inside an evaluation: nothing is lost, and nothing changes.
#include "dgat/core/interrupt.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <ostream>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/ops.h"
#include "dgat/train/trainer.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::train {
namespace {
using tensor::Tape;
using tensor::Var;

/// logits = batch_norm(X W), with Ctrl-C in the middle of one of its forward passes. Its running
/// statistics change with every training pass, and it may have two stages.
class Stoppable final : public nn::Model<float> {
 public:
  Stoppable(const nn::ModelOptions& options, bool statistics, double share)
      : Model(options), statistics_(statistics), share_(share) {
    weight_ = &parameters().weight("weight", options.classes, options.features);
    scale_ = &parameters().constant("scale", 1, options.classes, 1, false);
    shift_ = &parameters().constant("shift", 1, options.classes, 0, false);
    state_.mean = tensor::Matrix<float>::filled(1, options.classes, 0);
    state_.variance = tensor::Matrix<float>::filled(1, options.classes, 1);
  }
  double pretraining_share() const override { return share_; }
  std::vector<nn::NamedBuffer<float>> buffers() override {
    if (!statistics_) return {};
    return {{"mean", &state_.mean}, {"variance", &state_.variance}};
  }
  Var<float> forward(Tape<float>& tape, const nn::GraphInput<float>& input,
                     nn::Inspection<float>* /*inspection*/) override {
    const Var<float> x = tensor::dropout(tape, tape.reference(input.features->dense()), 0.2);
    Var<float> logits = tensor::linear(tape, x, tape.parameter(*weight_));
    if (statistics_) {
      logits = tensor::batch_norm(tape, logits, tape.parameter(*scale_), tape.parameter(*shift_),
                                  state_);
    }
    if (++passes == stop_in_pass) request_interrupt();
    return tensor::scale(tape, logits, pretraining() ? 2.0 : 1.0);
  }
  std::vector<float> state() const {
    std::vector<float> all;
    const std::array<const tensor::Matrix<float>*, 5> matrices = {
        &weight_->value, &scale_->value, &shift_->value, &state_.mean, &state_.variance};
    for (const auto* matrix : matrices) {
      all.insert(all.end(), matrix->values().begin(), matrix->values().end());
    }
    return all;
  }

  std::atomic<int> passes = 0;
  int stop_in_pass = 0;

 private:
  bool statistics_;
  double share_;
  tensor::Parameter<float>*weight_, *scale_, *shift_;
  tensor::BatchNormState<float> state_;
};

struct Case {
  const char* name;
  bool statistics;
  double share;
  int threads;  // two: evaluations run beside the passes
};
/// GoogleTest would print the bytes, with those between the members, which nothing sets.
std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

class InterruptedTraining : public testing::TestWithParam<Case> {
 protected:
  struct Trained {
    std::vector<float> state;
    std::vector<StepRecord> records;
    int passes = 0;
  };
  /// With `stop_in_pass`, Ctrl-C comes there; the run continues in a new model afterwards.
  Trained train(int stop_in_pass) {
    const ThreadScope scope(GetParam().threads);
    const Config config = test::small_config(
        "gcn", {{"steps", "6"}, {"eval_every", "2"}, {"checkpoint_every", "4"}, {"lr", "0.05"}});
    spectral::SpectralCache cache;
    InputBuilder builder(dataset_, config, cache);
    const auto input = builder.for_split(0);
    nn::ModelOptions options;
    options.features = dataset_.features.cols();
    options.classes = dataset_.classes;
    const test::TempDir temp;
    Trained out;
    TrainHooks hooks;
    hooks.checkpoint = temp / "state.safetensors";
    hooks.on_evaluation = [&](const StepRecord& record) { out.records.push_back(record); };
    for (const bool stops : {true, false}) {
      if (stops && stop_in_pass == 0) continue;
      Stoppable model(options, GetParam().statistics, GetParam().share);
      model.stop_in_pass = stops ? stop_in_pass : 0;
      const SplitTask task{config, dataset_, input, 0, 1};
      if (stops) {
        EXPECT_THROW(train_split(task, model, hooks), Interrupted) << stop_in_pass;
        request_interrupt(false);
        EXPECT_TRUE(exists(hooks.checkpoint)) << stop_in_pass;
      } else {
        train_split(task, model, hooks);
        out.state = model.state();
        out.passes = model.passes;
      }
    }
    return out;
  }

  data::Dataset dataset_ = test::small_dataset();
};

TEST_P(InterruptedTraining, ContinuesToTheSameBitsFromEveryPass) {
  const Trained whole = train(0);
  ASSERT_GT(whole.passes, 8);  // six steps and their evaluations
  for (int pass = 1; pass <= whole.passes; ++pass) {
    const Trained again = train(pass);
    EXPECT_THAT(again.state, testing::ElementsAreArray(whole.state)) << pass;
    ASSERT_EQ(again.records.size(), whole.records.size()) << pass;
    for (size_t i = 0; i < whole.records.size(); ++i) {
      EXPECT_EQ(again.records[i].step, whole.records[i].step) << pass;
      EXPECT_EQ(again.records[i].loss, whole.records[i].loss) << pass;
      EXPECT_EQ(again.records[i].val, whole.records[i].val) << pass;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, InterruptedTraining,
                         testing::Values(Case{"Plain", false, 0, 1},
                                         Case{"SideBySide", false, 0, 2},
                                         Case{"Statistics", true, 0, 1},
                                         Case{"TwoStages", true, 0.4, 1}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace dgat::train
