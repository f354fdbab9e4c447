#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/data/features.h"

namespace dgat::data {

/// Makes Features of values that arrive row by row, without ever holding a dense copy of a sparse
/// matrix: entries are kept sparse until Features::kSparseBelow of the whole matrix is filled, and
/// only then spread out. The result is that of Features::compact.
class FeatureBuilder {
 public:
  FeatureBuilder(int64_t rows, int64_t cols);
  /// The next values; a piece may begin and end inside a row.
  void append(std::span<const float> values);
  /// Needs: rows * cols values were appended.
  Features finish();

 private:
  void keep_nonzeros(std::span<const float> values);
  void keep(int64_t position, float value);
  void spread();

  int64_t rows_, cols_;
  int64_t position_ = 0;  ///< values seen
  int64_t row_end_ = 0;   ///< position of the end of the last row begun
  bool dense_ = false;
  std::vector<int64_t> offsets_ = {0};
  std::vector<int32_t> columns_;
  std::vector<float> values_;
};

}  // namespace dgat::data
