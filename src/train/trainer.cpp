#include "dgat/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "checkpoint.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/memory_limits.h"
#include "dgat/core/subnormals.h"
#include "dgat/dist/communicator.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/pool.h"
#include "dgat/tensor/spill.h"
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
        schedule_(model, task.input.nodes(),
                  task.input.ranks != nullptr || task.input.cells != nullptr) {
    state_.moments.resize(model.parameters().entries().size());
  }

  SplitResult run() {
    const FlushSubnormals flush;
    const tensor::SavePoolMemory saving(step_.saves_memory());
    const auto spill = spill_scope(task_.config);
    const bool continued = checkpoints_.load(model_, state_);
    check_start();
    if (!continued && stages_.pretraining_ends_after(0)) {
      Stages::begin_second(model_, task_.input, state_);
    }
    start_ = std::chrono::steady_clock::now();
    seconds_before_ = state_.seconds;
    try {
      if (state_.unevaluated_loss) {
        evaluate(*state_.unevaluated_loss);
        end_step();
      }
      while (!state_.finished) {
        stop_if_asked();
        step();
        end_step();
      }
    } catch (const Interrupted&) {
      save_stopped();
      throw Interrupted(
          fmt::format("train: stopped after step {} of split {}", state_.step, task_.split));
    }
    save();
    state_.best_weights.restore(model_);
    return {task_.split, task_.layers,   state_.best,
            state_.step, state_.seconds, model_.parameters().count()};
  }

 private:
  void step() {
    const int64_t number = state_.step + 1;
    enter_stage_of(number);
    const double loss = passes(number);
    schedule_.finish();  // an evaluation that failed is reported first
    if (!std::isfinite(loss)) {
      throw_not_finite(task_, model_, number, fmt::format("the loss is {}", loss));
    }
    step_.update(number, stages_.of_stage(number), state_.moments);
    state_.step = number;
    const bool stage_ends = stages_.pretraining_ends_after(number);
    if (stopping_.evaluates(number) || stage_ends) evaluate(loss);
  }

  /// Writes only what changes: an evaluation may run beside the step of a model of one stage.
  void enter_stage_of(int64_t step) {
    const bool first = stages_.pretrains(step);
    if (model_.pretraining() != first) model_.set_pretraining(first);
  }

  /// Ctrl-C between two operations leaves the model as it was before the step.
  double passes(int64_t number) {
    std::vector<tensor::Matrix<float>> statistics;
    for (const auto& buffer : model_.buffers()) statistics.push_back(buffer.values->clone());
    try {
      return schedule_.passes([&] { return step_.passes(number); });
    } catch (const Interrupted&) {
      size_t next = 0;
      for (const auto& buffer : model_.buffers()) *buffer.values = statistics[next++].clone();
      throw;
    }
  }

  /// Measures the weights after step state_.step.
  void evaluate(double loss) {
    enter_stage_of(state_.step);
    state_.unevaluated_loss = loss;
    evaluated_ = {.step = state_.step, .loss = loss};
    schedule_.evaluate([this] { evaluator_.measure(evaluated_); }, [this] { judge(); });
  }

  /// What follows a step and its evaluation.
  void end_step() {
    if (stages_.pretraining_ends_after(state_.step)) {
      Stages::begin_second(model_, task_.input, state_);
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
    state_.seconds = seconds_before_ + elapsed.count();
    if (stopping_.out_of_patience(state_.step, state_.best.step)) {
      schedule_.finish();  // it may find the step that was waited for
    }
    const bool ends = stopping_.ends(state_.step, state_.best.step);
    if (ends) schedule_.finish();
    state_.finished = ends;
    if (!state_.finished && checkpoints_.due(state_.step)) save();
  }

  /// Keeps the weights that were measured when they are the best so far.
  void judge() {
    if (state_.best.step == 0 || evaluated_.val > state_.best.val) {
      state_.best = evaluated_;
      state_.best_weights = Snapshot(model_);
    }
    state_.unevaluated_loss.reset();
    if (hooks_.on_evaluation) hooks_.on_evaluation(evaluated_);
  }

  void save() {
    schedule_.finish();
    checkpoints_.save(model_, state_);
  }

  /// All ranks continue from the same step.
  void check_start() const {
    if (task_.input.ranks == nullptr) return;
    const auto steps = task_.input.ranks->all_texts(fmt::format("{}", state_.step));
    for (size_t r = 1; r < steps.size(); ++r) {
      if (steps[r] == steps[0]) continue;
      throw_input(
          "train: rank {} continues from step {}, rank 0 from step {}; --out must name a folder "
          "that all ranks can read",
          r, steps[r], steps[0]);
    }
  }

  void stop_if_asked() const {
    const bool other_failed = hooks_.stop != nullptr && hooks_.stop->load();
    bool stops = interrupt_requested() || other_failed;
    if (task_.input.ranks != nullptr) stops = task_.input.ranks->any(stops);
    if (stops) throw Interrupted("train: stopped");
  }

  /// What was interrupted, passes or an evaluation, is repeated when the run continues.
  void save_stopped() {
    try {
      schedule_.finish();
    } catch (const Interrupted&) {  // the evaluation beside the passes was stopped, too
    }
    save();
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

bool saves_memory(const Config& config, int64_t nodes, int64_t layers) {
  constexpr int64_t kNumbers = int64_t{1}
                               << 25;  // of hidden layers; each comes with about seven more
  if (config.cells > 0) nodes = nodes * config.per_step / config.cells;  // of a step
  return nodes * config.hidden * layers >= kNumbers;
}

int64_t memory_limit(const Config& config, int64_t present) {
  constexpr double kGigabyte = 1e9;
  const int64_t available = available_memory() / dist::current().on_this_machine();
  int64_t limit = available > INT64_MAX - present ? INT64_MAX : present + available;
  if (config.memory_budget > 0) {
    limit = std::min(limit, static_cast<int64_t>(config.memory_budget * kGigabyte));
  }
  return limit;
}

std::unique_ptr<tensor::SpillScope> spill_scope(const Config& config) {
  constexpr int64_t kLeast = int64_t{1} << 26;
  if (config.spill.empty()) return nullptr;
  // Of what is left of the memory, four fifths: the rest is for small matrices and the system.
  const int64_t present = resident_bytes();
  const int64_t room = (memory_limit(config, present) - present) / 5 * 4;
  return std::make_unique<tensor::SpillScope>(config.spill, std::max(kLeast, room));
}

SplitResult train_split(const SplitTask& task, nn::Model<float>& model, const TrainHooks& hooks) {
  return Loop(task, model, hooks).run();
}

}  // namespace dgat::train
