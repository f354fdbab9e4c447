#include "bins.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace dgat::report {

DoublingBins::DoublingBins(int64_t largest) {
  upper_ = {0, 1, 2};
  while (upper_.back() < largest) upper_.push_back(upper_.back() * 2);
  for (size_t bin = 0; bin < upper_.size(); ++bin) {
    const int64_t first = bin == 0 ? 0 : upper_[bin - 1] + 1;
    names.push_back(first == upper_[bin] ? fmt::format("{}", first)
                                         : fmt::format("{}–{}", first, upper_[bin]));
  }
}

size_t DoublingBins::of(int64_t value) const {
  return static_cast<size_t>(std::lower_bound(upper_.begin(), upper_.end(), value) -
                             upper_.begin());
}

LogHistogram::LogHistogram(std::span<const double> values, int bins) {
  double low = INFINITY, high = 0;
  for (const double value : values) {
    if (value > 0) {
      low = std::min(low, value);
      high = std::max(high, value);
    } else {
      ++zeros;
    }
  }
  if (high == 0) return;
  // Differences that are only rounding would stretch the axis over many empty decades.
  low = std::max(low, high * 1e-12);
  if (low >= high) low = high / 2;
  const double first = std::log10(low), step = (std::log10(high) - first) / bins;
  counts.assign(static_cast<size_t>(bins), 0);
  for (int k = 0; k <= bins; ++k) edges.push_back(std::pow(10, first + k * step));
  for (const double value : values) {
    if (!(value > 0)) continue;
    const auto bin = static_cast<int>((std::log10(value) - first) / step);
    counts[static_cast<size_t>(std::clamp(bin, 0, bins - 1))] += 1;
  }
}

std::vector<size_t> evenly_spaced(size_t size, size_t limit) {
  std::vector<size_t> chosen;
  const size_t count = std::min(size, limit);
  for (size_t k = 0; k < count; ++k) {
    chosen.push_back(count == 1 ? 0 : k * (size - 1) / (count - 1));
  }
  return chosen;
}

}  // namespace dgat::report
