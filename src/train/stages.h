#pragma once

#include <algorithm>
#include <cstdint>

#include "checkpoint.h"

namespace dgat::train {

/// The stages of a training. Most models have one; a model with a pretraining_share() has two.
/// Steps count from 1 through both.
class Stages {
 public:
  Stages(const nn::Model<float>& model, int64_t steps)
      : two_(model.pretraining_share() > 0),
        pretraining_(std::min(steps - 1, static_cast<int64_t>(model.pretraining_share() *
                                                              static_cast<double>(steps)))) {}

  int64_t pretraining_steps() const { return pretraining_; }  ///< 0 for models of one stage
  bool pretrains(int64_t step) const { return step <= pretraining_; }
  /// Whether pre-training is over after a step; after step 0 when its share rounds to nothing.
  bool pretraining_ends_after(int64_t step) const { return two_ && step == pretraining_; }
  /// The step counted from the start of its stage.
  int64_t of_stage(int64_t step) const { return pretrains(step) ? step : step - pretraining_; }

  /// The best weights of pre-training are kept; its records and the optimiser's memory are not.
  /// What is saved from here on says nothing of the first stage, so a resumed run needs no more.
  static void begin_second(nn::Model<float>& model, const nn::GraphInput<float>& input,
                           LoopState& state) {
    if (!state.best_weights.empty()) state.best_weights.restore(model);
    model.set_pretraining(false);
    model.end_pretraining(input);
    state.best = {};
    state.best_weights = {};
    for (auto& moments : state.moments) moments = {};
  }

 private:
  bool two_;
  int64_t pretraining_;
};

}  // namespace dgat::train
