#include "evaluator.h"

#include "dgat/tensor/pool.h"
#include "dgat/tensor/split.h"
#include "dgat/train/all_logits.h"
#include "not_finite.h"

namespace dgat::train {

Evaluator::Evaluator(const SplitTask& task, nn::Model<float>& model)
    : task_(task), model_(model), metric_(metric_for(task.config.metric, task.dataset)) {
  check_measurable(metric_, task.dataset, task.split);
}

void Evaluator::measure(StepRecord& record) {
  tape_.begin(
      {.step = static_cast<uint64_t>(record.step), .precision = pass_precision(task_.config)});
  if (task_.input.cells) {  // steps leave the model prepared for theirs, and memory of other sizes
    tensor::trim_pool();
    model_.prepare(task_.input);
  }
  tensor::Var<float> logits = all_logits(tape_, model_, task_.input, task_.config);
  if (logits.share()) logits = tape_.constant(tensor::all_rows(logits.share(), logits.value()));
  if (!tensor::all_finite(logits.value())) {
    throw_not_finite(task_, model_, record.step, "the logits are not finite");
  }
  const Scores scores{logits.value().values(), logits.cols()};
  const data::Split& split = task_.dataset.splits[static_cast<size_t>(task_.split)];
  record.train = evaluate(metric_, scores, task_.dataset.labels, split.train);
  record.val = evaluate(metric_, scores, task_.dataset.labels, split.val);
  record.test = evaluate(metric_, scores, task_.dataset.labels, split.test);
}

}  // namespace dgat::train
