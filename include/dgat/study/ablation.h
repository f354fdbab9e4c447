#pragma once

#include "dgat/study/comparison.h"

namespace dgat::study {

/// The result of rows_of_ablation() as a comparison with the first row, with a column of check
/// marks for each of the three switches.
Comparison compare_ablation(StudyResult study);

/// The columns of an ablation table: the name of a row and its check marks.
std::vector<Table::Column> ablation_columns();
std::vector<Cell> ablation_cells(const std::string& name, const AblationSwitches& on);

}  // namespace dgat::study
