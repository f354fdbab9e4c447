#include "dgat/train/trainer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "checkpoint.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/core/random.h"
#include "dgat/core/subnormals.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/adam.h"
#include "dgat/tensor/ops.h"
#include "schedule.h"

namespace dgat::train {
namespace {
using tensor::Tape;
using tensor::Var;

/// A seed of its own for every split, for weights and dropout.
uint64_t split_seed(uint64_t seed, int64_t split) {
  const Philox::Block words = Philox(seed, 0x53504C4954)(static_cast<uint64_t>(split));
  return (uint64_t{words[0]} << 32) | words[1];
}

/// The options that change results, and which network on which split this is.
std::string identity(const SplitTask& task) {
  std::string text = fmt::format("split={}\nlayers={}\n", task.split, task.layers);
  for (const OptionInfo& option : config_options()) {
    if (option.changes_result && option.key != "layers" && option.key != "splits" &&
        option.key != "data") {
      text += fmt::format("{}={}\n", option.key, option.get(task.config));
    }
  }
  return text;
}

std::vector<graph::NodeId> labelled(const std::vector<graph::NodeId>& nodes,
                                    const std::vector<int32_t>& labels) {
  std::vector<graph::NodeId> kept;
  for (const graph::NodeId i : nodes) {
    if (labels[static_cast<size_t>(i)] >= 0) kept.push_back(i);
  }
  return kept;
}

class Loop {
 public:
  Loop(const SplitTask& task, nn::Model<float>& model, const TrainHooks& hooks)
      : task_(task),
        config_(task.config),
        model_(model),
        hooks_(hooks),
        split_(task.dataset.splits.at(static_cast<size_t>(task.split))),
        labels_(task.dataset.labels),
        metric_(metric_for(task.config, task.dataset)),
        train_nodes_(labelled(split_.train, labels_)),
        seed_(split_seed(task.config.seed, task.split)),
        identity_(identity(task) + hooks.data),
        schedule_(model, task.input.nodes()) {
    if (train_nodes_.empty()) {
      throw_input("{}: split {} has no labelled training node", task.dataset.name, task.split);
    }
    for (const graph::NodeId i : train_nodes_) {
      train_labels_.push_back(labels_[static_cast<size_t>(i)]);
    }
    check_measurable(config_, task.dataset, task.split);
    adam_.lr = config_.lr;
    adam_.weight_decay = config_.weight_decay;
    adam_.decoupled = config_.optimizer == "adamw";
    for (auto& entry : model.parameters().entries()) parameters_.push_back(&entry.parameter);
    state_.moments.resize(parameters_.size());
    const double share = model.pretraining_share();
    two_stages_ = share > 0;
    pretraining_steps_ = std::min(config_.steps - 1,
                                  static_cast<int64_t>(share * static_cast<double>(config_.steps)));
  }

  SplitResult run() {
    const FlushSubnormals flush;
    const bool continued = load();
    if (!continued && two_stages_ && pretraining_steps_ == 0) {
      model_.end_pretraining(task_.input);
    }
    start_ = std::chrono::steady_clock::now();
    before_ = state_.seconds;
    while (!state_.finished) {
      stop_if_asked();
      step();
      if (out_of_patience()) schedule_.finish();  // it may find the step that was waited for
      if (state_.step == config_.steps || out_of_patience()) state_.finished = true;
      if (!state_.finished && state_.step % config_.checkpoint_every == 0) save();
    }
    save();
    state_.best_weights.restore(model_);
    return {task_.split, task_.layers,   state_.best,
            state_.step, state_.seconds, model_.parameters().count()};
  }

 private:
  void stop_if_asked() {
    const bool other_failed = hooks_.stop != nullptr && hooks_.stop->load();
    if (!interrupt_requested() && !other_failed) return;
    save();
    throw Interrupted(
        fmt::format("train: stopped after step {} of split {}", state_.step, task_.split));
  }

  tensor::TapeOptions pass(bool training, int64_t number) const {
    return {.training = training, .seed = seed_, .step = static_cast<uint64_t>(number)};
  }

  void step() {
    const int64_t number = state_.step + 1;
    model_.set_pretraining(number <= pretraining_steps_);
    const double loss = schedule_.passes([&] { return forward_and_backward(number); });
    schedule_.finish();
    update(number);
    state_.step = number;
    const bool stage_ends = two_stages_ && number == pretraining_steps_;
    if (number % config_.eval_every == 0 || number == config_.steps || stage_ends) {
      evaluated_ = {number, loss, 0, 0, 0};
      schedule_.evaluate([this] { measure_weights(); }, [this] { judge(); });
    }
    if (stage_ends) begin_second_stage();
    state_.seconds =
        before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  /// Leaves the gradients and returns the loss.
  double forward_and_backward(int64_t number) {
    tape_.begin(pass(/*training=*/true, number));
    const Var<float> logits = model_.forward_rows(tape_, task_.input, train_nodes_);
    Var<float> total = logits.cols() == 1 && task_.dataset.classes == 2
                           ? tensor::binary_cross_entropy(tape_, logits, train_labels_)
                           : tensor::cross_entropy(tape_, logits, train_labels_);
    if (const Var<float> extra = model_.auxiliary_loss(tape_, task_.input)) {
      total = tensor::add(tape_, total, extra);
    }
    const auto loss = static_cast<double>(total.value()(0, 0));
    if (!std::isfinite(loss)) {
      schedule_.finish();  // an evaluation that failed is reported first
      fail(number, fmt::format("the loss is {}", loss));
    }
    tape_.backward(total);
    return loss;
  }

  /// The best weights of pre-training go on; its records and the optimiser's memory do not. What
  /// is saved from here on says nothing of the first stage, so a resumed run needs no more.
  void begin_second_stage() {
    state_.best_weights.restore(model_);
    model_.set_pretraining(false);
    model_.end_pretraining(task_.input);
    state_.best = {};
    state_.best_weights = {};
    for (auto& moments : state_.moments) moments = {};
  }

  void update(int64_t number) {
    double squares = 0;
    for (const tensor::Parameter<float>* parameter : parameters_) {
      if (config_.clip > 0 && parameter->has_grad) {
        squares += tensor::sum_of_squares(parameter->grad);
      }
    }
    const double norm = std::sqrt(squares);
    const double scale = norm > config_.clip ? config_.clip / norm : 1;
    tensor::AdamOptions options = adam_;
    const int64_t of_stage = number > pretraining_steps_ ? number - pretraining_steps_ : number;
    if (of_stage < config_.warmup) {
      options.lr *= static_cast<double>(of_stage) / static_cast<double>(config_.warmup);
    }
    const int64_t bad =
        tensor::adam_update<float>(parameters_, state_.moments, options, of_stage, scale);
    if (bad >= 0) {
      fail(number, fmt::format("the gradient of {} is not finite",
                               parameters_[static_cast<size_t>(bad)]->name));
    }
    for (tensor::Parameter<float>* parameter : parameters_) parameter->clear_grad();
  }

  /// Fills the metrics of evaluated_ with those of the current weights.
  void measure_weights() {
    evaluation_tape_.begin(pass(/*training=*/false, evaluated_.step));
    const Var<float> logits = model_.forward(evaluation_tape_, task_.input);
    if (!tensor::all_finite(logits.value())) fail(evaluated_.step, "the logits are not finite");
    const Scores scores{logits.value().values(), logits.cols()};
    evaluated_.train = evaluate(metric_, scores, labels_, split_.train);
    evaluated_.val = evaluate(metric_, scores, labels_, split_.val);
    evaluated_.test = evaluate(metric_, scores, labels_, split_.test);
  }

  /// Keeps the weights that were measured when they are the best so far.
  void judge() {
    if (state_.best.step == 0 || evaluated_.val > state_.best.val) {
      state_.best = evaluated_;
      state_.best_weights = Snapshot(model_);
    }
    if (hooks_.on_evaluation) hooks_.on_evaluation(evaluated_);
  }

  [[noreturn]] void fail(int64_t number, const std::string& what) const {
    std::string where;
    for (const auto& entry : model_.parameters().entries()) {
      if (where.empty() && !tensor::all_finite(entry.parameter.value)) {
        where = fmt::format("parameter {} is not finite", entry.parameter.name);
      }
    }
    if (where.empty() && !features_finite()) where = "the node features are not finite";
    if (where.empty()) where = "parameters and features are finite, so the layers overflow";
    throw_compute("train: split {}, step {}: {}; {}; scale the features, lower --lr or set --clip",
                  task_.split, number, what, where);
  }

  bool features_finite() const {
    const nn::NodeFeatures<float>& features = *task_.input.features;
    if (!features.is_sparse()) return tensor::all_finite(features.dense());
    const auto& values = features.sparse().csr().values;
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
  }

  bool out_of_patience() const {
    return config_.patience > 0 && state_.best.step > pretraining_steps_ &&
           state_.step % config_.eval_every == 0 &&  // only what was evaluated can have been better
           state_.step - state_.best.step >= config_.patience;
  }

  void save() {
    schedule_.finish();
    if (hooks_.checkpoint.empty()) return;
    if (hooks_.before_checkpoint) hooks_.before_checkpoint();
    try {
      save_checkpoint(hooks_.checkpoint, model_, state_, identity_);
    } catch (const Error& error) {
      if (!hooks_.checkpoint_is_optional) throw;
      notice(fmt::format("train: goes on without a checkpoint: {}", error.what()));
    }
  }

  /// Whether the loop goes on from a checkpoint.
  bool load() {
    if (hooks_.checkpoint.empty() || !std::filesystem::exists(hooks_.checkpoint)) return false;
    const Snapshot initial(model_);
    try {
      load_checkpoint(hooks_.checkpoint, model_, state_, identity_);
      return true;
    } catch (const InputError& error) {
      if (!hooks_.checkpoint_is_optional) throw;
      notice(fmt::format("train: starts again: {}", error.what()));
    }
    initial.restore(model_);
    state_ = LoopState{};
    state_.moments.resize(parameters_.size());
    return false;
  }

  const SplitTask& task_;
  const Config& config_;
  nn::Model<float>& model_;
  const TrainHooks& hooks_;
  const data::Split& split_;
  const std::vector<int32_t>& labels_;
  MetricKind metric_;
  std::vector<graph::NodeId> train_nodes_;
  std::vector<int32_t> train_labels_;  // one per training node
  uint64_t seed_;
  std::string identity_;
  tensor::AdamOptions adam_;
  std::vector<tensor::Parameter<float>*> parameters_;  // of the model
  Tape<float> tape_, evaluation_tape_;
  StepRecord evaluated_;  // being evaluated, or the last that was
  LoopState state_;
  bool two_stages_ = false;
  int64_t pretraining_steps_ = 0;  // 0 for models of one stage
  std::chrono::steady_clock::time_point start_;
  double before_ = 0;
  Schedule schedule_;  // last: an evaluation uses what stands above
};

}  // namespace

void check_measurable(const Config& config, const data::Dataset& dataset, int64_t split) {
  const MetricKind metric = metric_for(config, dataset);
  const int64_t columns = dataset.classes == 2 ? 1 : dataset.classes;
  const std::vector<float> zeros(dataset.labels.size() * static_cast<size_t>(columns));
  const data::Split& parts = dataset.splits.at(static_cast<size_t>(split));
  for (const auto& [nodes, name] :
       {std::pair{&parts.train, "training"}, {&parts.val, "validation"}}) {
    if (std::isnan(evaluate(metric, {zeros, columns}, dataset.labels, *nodes))) {
      throw_input("{}: the {} nodes of split {} cannot be measured by {}: too few labels there",
                  dataset.name, name, split, to_string(metric));
    }
  }
}

MetricKind metric_for(const Config& config, const data::Dataset& dataset) {
  if (config.metric == "roc_auc" && dataset.classes != 2) {
    throw_input("metric: roc_auc needs two classes, {} has {}", dataset.name, dataset.classes);
  }
  if (config.metric == "accuracy") return MetricKind::kAccuracy;
  if (config.metric == "macro_f1") return MetricKind::kMacroF1;
  if (config.metric == "roc_auc" || dataset.metric() == data::Metric::kRocAuc) {
    return MetricKind::kRocAuc;
  }
  return MetricKind::kAccuracy;
}

std::string to_string(MetricKind metric) {
  switch (metric) {
    case MetricKind::kRocAuc:
      return "roc_auc";
    case MetricKind::kMacroF1:
      return "macro_f1";
    default:
      return "accuracy";
  }
}

double evaluate(MetricKind metric, const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes) {
  switch (metric) {
    case MetricKind::kRocAuc:
      return roc_auc(scores, labels, nodes);
    case MetricKind::kMacroF1:
      return macro_f1(scores, labels, nodes);
    default:
      return accuracy(scores, labels, nodes);
  }
}

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
