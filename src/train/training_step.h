#pragma once

#include <cstdint>
#include <vector>

#include "dgat/tensor/adam.h"
#include "dgat/train/trainer.h"

namespace dgat::train {

/// A seed of its own for every split, for weights and dropout.
uint64_t split_seed(uint64_t seed, int64_t split);

/// One step with a full batch: forward, loss on the labelled training nodes, backward, Adam.
class TrainingStep {
 public:
  /// Throws: InputError when the split has no labelled training node.
  TrainingStep(const SplitTask& task, nn::Model<float>& model);

  /// Forward and backward pass: leaves gradients in the parameters and returns the loss. A loss
  /// that is not finite leaves none.
  double passes(int64_t step);

  /// Clips, applies warm-up and Adam, and clears the gradients. `of_stage` counts the updates since
  /// the optimiser started, from 1.
  /// Throws: ComputeError naming the parameter when a gradient is not finite.
  void update(int64_t step, int64_t of_stage, std::vector<tensor::AdamMoments<float>>& moments);

 private:
  const SplitTask& task_;
  nn::Model<float>& model_;
  std::vector<graph::NodeId> nodes_;  // with a label, of the training part
  std::vector<int32_t> labels_;       // one per node of nodes_
  std::vector<tensor::Parameter<float>*> parameters_;
  tensor::Tape<float> tape_;
  uint64_t seed_;
};

}  // namespace dgat::train
