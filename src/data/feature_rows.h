#pragma once

#include <cstdint>
#include <vector>

#include "dgat/data/features.h"

namespace dgat::data {

/// Feature rows as text readers meet them, one value at a time and mostly zeros: kept as CSR, so
/// that a 290 MB matrix never exists for the 3 MB it says.
class FeatureRows {
 public:
  /// Columns of one row must increase; zeros are not stored.
  void add(int32_t column, float value) {
    if (value == 0.0F) return;
    columns_.push_back(column);
    values_.push_back(value);
  }
  void end_row() { offsets_.push_back(static_cast<int64_t>(columns_.size())); }
  int64_t rows() const { return static_cast<int64_t>(offsets_.size()) - 1; }

  /// Row r of the result is row order[r] as added (all in place when `order` is empty); sparse or
  /// dense, whichever Features::compact would choose.
  Features build(int64_t cols, const std::vector<int32_t>& order) &&;

 private:
  std::vector<int64_t> offsets_ = {0};
  std::vector<int32_t> columns_;
  std::vector<float> values_;
};

}  // namespace dgat::data
