#pragma once

#include "dgat/tensor/tape.h"
#include "dgat/train/trainer.h"

namespace dgat::train {

/// Measures the present weights on the three parts of a split, on the whole graph. After training
/// in cells it goes through the graph part by part, which takes less memory
/// (Model::forward_by_parts()).
class Evaluator {
 public:
  /// Throws: InputError when a part cannot be measured (check_measurable()).
  Evaluator(const SplitTask& task, nn::Model<float>& model);

  /// Fills the metrics of a record whose step and loss are set. Reads the weights only, so it may
  /// run beside the passes of the next step.
  /// Throws: ComputeError when the logits are not finite; Interrupted on Ctrl-C.
  void measure(StepRecord& record);

 private:
  const SplitTask& task_;
  nn::Model<float>& model_;
  MetricKind metric_;
  tensor::Tape<float> tape_;
};

}  // namespace dgat::train
