#include "dgat/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "checkpoint.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/subnormals.h"
#include "dgat/nn/registry.h"
#include "evaluator.h"
#include "not_finite.h"
#include "schedule.h"
#include "stages.h"
#include "stopping_rule.h"
#include "training_step.h"

namespace dgat::train {
namespace {

/// Puts the parts together: step, evaluation, stages, stopping rule, checkpoints.
class Loop {
 public:
  Loop(const SplitTask& task, nn::Model<float>& model, const TrainHooks& hooks)
      : task_(task),
        model_(model),
        hooks_(hooks),
        step_(task, model),
        evaluator_(task, model),
        stages_(model, task.config.steps),
        stopping_(task.config, stages_.pretraining_steps()),
        checkpoints_(task, hooks),
        schedule_(model, task.input.nodes()) {
    state_.moments.resize(model.parameters().entries().size());
  }

  SplitResult run() {
    const FlushSubnormals flush;
    const bool continued = checkpoints_.load(model_, state_);
    if (!continued && stages_.pretraining_ends_after(0)) {
      Stages::begin_second(model_, task_.input, state_);
    }
    start_ = std::chrono::steady_clock::now();
    seconds_before_ = state_.seconds;
    while (!state_.finished) {
      stop_if_asked();
      step();
      if (stopping_.out_of_patience(state_.step, state_.best.step)) {
        schedule_.finish();  // it may find the step that was waited for
      }
      state_.finished = stopping_.ends(state_.step, state_.best.step);
      if (!state_.finished && checkpoints_.due(state_.step)) save();
    }
    save();
    state_.best_weights.restore(model_);
    return {task_.split, task_.layers,   state_.best,
            state_.step, state_.seconds, model_.parameters().count()};
  }

 private:
  void step() {
    const int64_t number = state_.step + 1;
    model_.set_pretraining(stages_.pretrains(number));
    const double loss = schedule_.passes([&] { return step_.passes(number); });
    schedule_.finish();  // an evaluation that failed is reported first
    if (!std::isfinite(loss)) {
      throw_not_finite(task_, model_, number, fmt::format("the loss is {}", loss));
    }
    step_.update(number, stages_.of_stage(number), state_.moments);
    state_.step = number;
    const bool stage_ends = stages_.pretraining_ends_after(number);
    if (stopping_.evaluates(number) || stage_ends) {
      evaluated_ = {.step = number, .loss = loss};
      schedule_.evaluate([this] { evaluator_.measure(evaluated_); }, [this] { judge(); });
    }
    if (stage_ends) Stages::begin_second(model_, task_.input, state_);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    state_.seconds = seconds_before_ + elapsed.count();
  }

  /// Keeps the weights that were measured when they are the best so far.
  void judge() {
    if (state_.best.step == 0 || evaluated_.val > state_.best.val) {
      state_.best = evaluated_;
      state_.best_weights = Snapshot(model_);
    }
    if (hooks_.on_evaluation) hooks_.on_evaluation(evaluated_);
  }

  void save() {
    schedule_.finish();
    checkpoints_.save(model_, state_);
  }

  void stop_if_asked() {
    const bool other_failed = hooks_.stop != nullptr && hooks_.stop->load();
    if (!interrupt_requested() && !other_failed) return;
    save();
    throw Interrupted(
        fmt::format("train: stopped after step {} of split {}", state_.step, task_.split));
  }

  const SplitTask& task_;
  nn::Model<float>& model_;
  const TrainHooks& hooks_;
  TrainingStep step_;
  Evaluator evaluator_;
  Stages stages_;
  StoppingRule stopping_;
  Checkpoints checkpoints_;
  LoopState state_;
  StepRecord evaluated_;  // being evaluated, or the last that was
  std::chrono::steady_clock::time_point start_;
  double seconds_before_ = 0;  // of the sessions before this one
  Schedule schedule_;          // last: an evaluation on it uses what stands above
};

}  // namespace

std::unique_ptr<nn::Model<float>> make_task_model(const SplitTask& task) {
  nn::ModelOptions options = model_options(task.config, task.layers, task.input.features->cols(),
                                           task.dataset.classes, task.input.nodes());
  options.seed = split_seed(task.config.seed, task.split);
  auto model = nn::make_model(task.config.model, options);
  model->prepare(task.input);
  return model;
}

SplitResult train_split(const SplitTask& task, nn::Model<float>& model, const TrainHooks& hooks) {
  return Loop(task, model, hooks).run();
}

}  // namespace dgat::train
