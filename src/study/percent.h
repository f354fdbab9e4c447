#pragma once

#include <limits>

#include "dgat/study/study.h"
#include "dgat/study/table.h"

namespace dgat::study {

inline constexpr double kPercent = 100;

/// Mean and deviation of a row's metric in percent; of one split the mean alone, which has none.
inline Cell percent_cell(const RowResult& row, const train::MeanStd& metric) {
  const double spread =
      row.splits.size() > 1 ? metric.std : std::numeric_limits<double>::quiet_NaN();
  return Cell::mean_std(kPercent * metric.mean, kPercent * spread);
}

}  // namespace dgat::study
