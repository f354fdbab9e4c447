#pragma once

#include "step_case.h"

namespace dgat::bench {

void print_precision_header();

/// Trains a case in f32 and bf16 in turn and prints a row of each: the median time of a step, how
/// many times faster it is than in f32, the rate of the operations done, what share that is of
/// sgemm's rate and of the peak of the tiles (measured here as well), and the largest difference of
/// logits and gradients of a training pass from those in double, over their largest number.
/// `timed` false: the errors only. `as_json`: objects on lines of their own.
void run_precisions(const Case& c, const Setting& setting, double sgemm_rate, bool timed,
                    bool as_json);

}  // namespace dgat::bench
