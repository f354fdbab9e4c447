#include "training_step.h"

#include <fmt/format.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
#include "not_finite.h"

namespace dgat::train {
using tensor::Var;

TrainingStep::TrainingStep(const SplitTask& task, nn::Model<float>& model)
    : task_(task),
      model_(model),
      seed_(split_seed(task.config.seed, task.split)),
      save_memory_(task.save_memory.value_or(
          train::saves_memory(task.config, task.input.nodes(), task.layers))) {
  check_machine(task.config);
  std::vector<int32_t> labels(task.dataset.labels.size(), -1);  // of training nodes
  for (const graph::NodeId i : task.dataset.splits.at(static_cast<size_t>(task.split)).train) {
    const int32_t label = labels[static_cast<size_t>(i)] =
        task.dataset.labels[static_cast<size_t>(i)];
    if (label < 0) continue;
    batch_.nodes.push_back(i);
    batch_.labels.push_back(label);
  }
  if (batch_.nodes.empty()) {
    throw_input("{}: split {} has no labelled training node", task.dataset.name, task.split);
  }
  if (task.input.cells) {
    cells_.emplace(task, std::move(labels));
  } else {
    batch_.input = task.input;
  }
  for (auto& entry : model.parameters().entries()) parameters_.push_back(&entry.parameter);
}

double TrainingStep::passes(int64_t step) {
  if (cells_) {
    batch_ = {};
    tensor::trim_pool();  // batches differ in size: what one has left is of little use for the next
    batch_ = cells_->batch(step);
    model_.prepare(batch_.input);
  }
  tape_.begin({.training = true,
               .seed = seed_,
               .step = static_cast<uint64_t>(step),
               .save_memory = save_memory_,
               .precision = pass_precision(task_.config)});
  const Var<float> total = forward();
  const auto loss = static_cast<double>(total.value()(0, 0));
  if (std::isfinite(loss)) tape_.backward(total);
  return loss;
}

Var<float> TrainingStep::forward() {
  const Var<float> logits = model_.forward_rows(tape_, batch_.input, batch_.nodes);
  Var<float> total = logits.cols() == 1 && task_.dataset.classes == 2
                         ? tensor::binary_cross_entropy(tape_, logits, batch_.labels)
                         : tensor::cross_entropy(tape_, logits, batch_.labels);
  if (const Var<float> extra = model_.auxiliary_loss(tape_, batch_.input)) {
    total = tensor::add(tape_, total, extra);
  }
  return total;
}

void TrainingStep::update(int64_t step, int64_t of_stage,
                          std::vector<tensor::AdamMoments<float>>& moments) {
  const Config& config = task_.config;
  double squares = 0;
  for (const tensor::Parameter<float>* parameter : parameters_) {
    if (config.clip > 0 && parameter->has_grad) squares += tensor::sum_of_squares(parameter->grad);
  }
  const double norm = std::sqrt(squares);
  const double scale = norm > config.clip ? config.clip / norm : 1;
  tensor::AdamOptions options;
  options.lr = config.lr;
  options.weight_decay = config.weight_decay;
  options.decoupled = config.optimizer == Optimizer::kAdamW;
  if (of_stage < config.warmup) {
    options.lr *= static_cast<double>(of_stage) / static_cast<double>(config.warmup);
  }
  const int64_t bad = tensor::adam_update<float>(parameters_, moments, options, of_stage, scale);
  if (bad >= 0) {
    throw_not_finite(task_, model_, step,
                     fmt::format("the gradient of {} is not finite",
                                 parameters_[static_cast<size_t>(bad)]->name));
  }
  for (tensor::Parameter<float>* parameter : parameters_) parameter->clear_grad();
}

}  // namespace dgat::train
