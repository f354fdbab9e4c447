#pragma once

#include <cstdint>

#include "dgat/train/config.h"

namespace dgat::train {

/// When a training is evaluated and when it ends.
class StoppingRule {
 public:
  /// Steps up to `waits_until` (those of pre-training) do not count for patience.
  StoppingRule(const Config& config, int64_t waits_until)
      : steps_(config.steps),
        patience_(config.patience),
        eval_every_(config.eval_every),
        waits_until_(waits_until) {}

  bool evaluates(int64_t step) const { return step % eval_every_ == 0 || step == steps_; }

  /// Whether `step` ends the training because nothing better came for `patience` steps. Only an
  /// evaluated step can: another might have been the better one.
  bool out_of_patience(int64_t step, int64_t best_step) const {
    return patience_ > 0 && best_step > waits_until_ && step % eval_every_ == 0 &&
           step - best_step >= patience_;
  }

  bool ends(int64_t step, int64_t best_step) const {
    return step == steps_ || out_of_patience(step, best_step);
  }

 private:
  int64_t steps_, patience_, eval_every_, waits_until_;
};

}  // namespace dgat::train
