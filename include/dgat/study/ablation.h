#pragma once

#include "dgat/study/comparison.h"

namespace dgat::study {

/// The result of rows_of_ablation() as a comparison with the first row, with a column of check
/// marks for each of the three switches.
Comparison compare_ablation(StudyResult study);

/// The name of a row and its check marks, and the columns they stand in.
std::vector<Table::Column> ablation_columns();
std::vector<Cell> ablation_cells(const std::string& name, const AblationSwitches& on);

}  // namespace dgat::study
