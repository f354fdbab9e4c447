#pragma once

#include <string>

#include "dgat/train/trainer.h"

namespace dgat::train {

/// Says where a value that is not finite came from: a parameter, the features, or the layers.
/// Throws: Diverged "train: the training diverged: split 0, step 12: WHAT; where; what to do".
[[noreturn]] void throw_not_finite(const SplitTask& task, const nn::Model<float>& model,
                                   int64_t step, const std::string& what);

}  // namespace dgat::train
