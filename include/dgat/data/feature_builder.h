#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/data/features.h"

namespace dgat::data {

/// Makes Features of values that arrive row by row. A sparse matrix is never held as a dense copy:
/// entries stay sparse until Features::kSparseBelow of the whole matrix is filled. The result is
/// that of Features::compact.
class FeatureBuilder {
 public:
  FeatureBuilder(int64_t rows, int64_t cols);
  /// The next values; a piece may begin and end inside a row.
  void append(std::span<const float> values);
  /// Bytes of the entries kept so far.
  int64_t memory() const {
    return static_cast<int64_t>(values_.size() * sizeof(float) + columns_.size() * sizeof(int32_t));
  }
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
