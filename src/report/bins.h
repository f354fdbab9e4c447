#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dgat/report/charts.h"

namespace dgat::report {

/// Bins for integers that grow by a factor of two: 0, 1, 2, 3-4, 5-8, ..., up to `largest`.
struct DoublingBins {
  explicit DoublingBins(int64_t largest);
  size_t of(int64_t value) const;
  std::vector<std::string> names;

 private:
  std::vector<int64_t> upper_;  // last value of every bin
};

/// Counts of the positive values in equal steps of their logarithm; zeros are counted apart.
struct LogHistogram {
  LogHistogram(std::span<const double> values, int bins);
  std::vector<double> edges, counts;
  int64_t zeros = 0;
};

/// A curve cut down to at most `limit` evenly spaced points, first and last included.
std::vector<size_t> evenly_spaced(size_t size, size_t limit);

}  // namespace dgat::report
