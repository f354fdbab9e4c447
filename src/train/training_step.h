#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cell_batches.h"
#include "dgat/tensor/adam.h"
#include "dgat/train/trainer.h"

namespace dgat::train {

/// One step: forward, loss on the labelled training nodes, backward, Adam. It reads the whole
/// graph, or the cells of the step (cell_batches.h) and leaves the model prepared for these.
class TrainingStep {
 public:
  /// Throws: InputError when the split has no labelled training node, or when the machine cannot
  /// train as configured.
  TrainingStep(const SplitTask& task, nn::Model<float>& model);

  /// Forward and backward pass: leaves gradients in the parameters and returns the loss. A loss
  /// that is not finite leaves none. Throws: Interrupted on Ctrl-C, between two operations; running
  /// statistics of the model may have changed by then.
  double passes(int64_t step);

  /// Whether memory comes before time (SplitTask::save_memory).
  bool saves_memory() const { return save_memory_; }

  /// Clips, applies warm-up and Adam, and clears the gradients. `of_stage` counts the updates since
  /// the optimiser started, from 1.
  /// Throws: ComputeError naming the parameter when a gradient is not finite.
  void update(int64_t step, int64_t of_stage, std::vector<tensor::AdamMoments<float>>& moments);

 private:
  /// The loss of the batch. Nothing else of the pass is held, so that the backward pass frees every
  /// value as early as it can.
  tensor::Var<float> forward();

  const SplitTask& task_;
  nn::Model<float>& model_;
  Batch batch_;                       // of the present step
  std::optional<CellBatches> cells_;  // none: one batch for all steps
  std::vector<tensor::Parameter<float>*> parameters_;
  tensor::Tape<float> tape_;
  uint64_t seed_;
  bool save_memory_;
};

}  // namespace dgat::train
