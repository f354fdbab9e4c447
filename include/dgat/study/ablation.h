#pragma once

#include "dgat/study/comparison.h"

namespace dgat::study {

/// The result of rows_of_ablation() as a comparison with the first row, with a column of check
/// marks for each of the three switches.
Comparison compare_ablation(StudyResult study);

}  // namespace dgat::study
