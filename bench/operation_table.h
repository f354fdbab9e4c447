#pragma once

#include "step_case.h"

namespace dgat::bench {

/// Trains a case and prints the processor time of a step by operation (tensor/profile.h), in
/// milliseconds of all threads together. Needs: evaluations do not run beside the passes, which
/// holds for the cases of width 512 (train/schedule.h).
void print_operation_table(const Case& c, const Setting& setting, bool as_json);

}  // namespace dgat::bench
