#include "training_step.h"

#include <fmt/format.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/tensor/ops.h"
#include "not_finite.h"

namespace dgat::train {
using tensor::Var;

uint64_t split_seed(uint64_t seed, int64_t split) {
  const Philox::Block words = Philox(seed, 0x53504C4954)(static_cast<uint64_t>(split));
  return (uint64_t{words[0]} << 32) | words[1];
}

TrainingStep::TrainingStep(const SplitTask& task, nn::Model<float>& model)
    : task_(task), model_(model), seed_(split_seed(task.config.seed, task.split)) {
  for (const graph::NodeId i : task.dataset.splits.at(static_cast<size_t>(task.split)).train) {
    const int32_t label = task.dataset.labels[static_cast<size_t>(i)];
    if (label < 0) continue;
    nodes_.push_back(i);
    labels_.push_back(label);
  }
  if (nodes_.empty()) {
    throw_input("{}: split {} has no labelled training node", task.dataset.name, task.split);
  }
  for (auto& entry : model.parameters().entries()) parameters_.push_back(&entry.parameter);
}

double TrainingStep::passes(int64_t step) {
  tape_.begin({.training = true, .seed = seed_, .step = static_cast<uint64_t>(step)});
  const Var<float> logits = model_.forward_rows(tape_, task_.input, nodes_);
  Var<float> total = logits.cols() == 1 && task_.dataset.classes == 2
                         ? tensor::binary_cross_entropy(tape_, logits, labels_)
                         : tensor::cross_entropy(tape_, logits, labels_);
  if (const Var<float> extra = model_.auxiliary_loss(tape_, task_.input)) {
    total = tensor::add(tape_, total, extra);
  }
  const auto loss = static_cast<double>(total.value()(0, 0));
  if (std::isfinite(loss)) tape_.backward(total);
  return loss;
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
