#include "dgat/data/feature_builder.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "dgat/core/error.h"

namespace dgat::data {

FeatureBuilder::FeatureBuilder(int64_t rows, int64_t cols)
    : rows_(rows), cols_(cols), dense_(rows == 0 || cols == 0) {
  offsets_.reserve(static_cast<size_t>(rows) + 1);
}

void FeatureBuilder::append(std::span<const float> values) {
  expects(static_cast<int64_t>(values.size()) <= rows_ * cols_ - position_,
          "no more features than the matrix has");
  if (!dense_) {
    keep_nonzeros(values);
  } else {
    std::copy(values.begin(), values.end(), values_.begin() + position_);
  }
  position_ += static_cast<int64_t>(values.size());
  const auto filled = static_cast<double>(values_.size());
  if (!dense_ && filled >= Features::kSparseBelow * static_cast<double>(rows_ * cols_)) spread();
}

void FeatureBuilder::keep_nonzeros(std::span<const float> values) {
  // Most words of a bag-of-words row are zero: step over them sixteen at a time.
  constexpr size_t kStep = 16;
  size_t k = 0;
  for (; k + kStep <= values.size(); k += kStep) {
    uint32_t any = 0;
    for (size_t j = 0; j < kStep; ++j) {
      uint32_t bits = 0;
      std::memcpy(&bits, &values[k + j], sizeof bits);
      any |= bits;
    }
    if (any == 0) continue;
    for (size_t j = k; j < k + kStep; ++j) keep(position_ + static_cast<int64_t>(j), values[j]);
  }
  for (; k < values.size(); ++k) keep(position_ + static_cast<int64_t>(k), values[k]);
}

void FeatureBuilder::keep(int64_t position, float value) {
  if (value == 0.0F) return;
  while (position >= row_end_) {  // rows passed without an entry end here too
    if (row_end_ > 0) offsets_.push_back(static_cast<int64_t>(values_.size()));
    row_end_ += cols_;
  }
  columns_.push_back(static_cast<int32_t>(position - (row_end_ - cols_)));
  values_.push_back(value);
}

void FeatureBuilder::spread() {
  offsets_.push_back(static_cast<int64_t>(values_.size()));
  std::vector<float> dense(static_cast<size_t>(rows_ * cols_));
  for (size_t i = 0; i + 1 < offsets_.size(); ++i) {
    for (auto k = static_cast<size_t>(offsets_[i]); k < static_cast<size_t>(offsets_[i + 1]); ++k) {
      dense[i * static_cast<size_t>(cols_) + static_cast<size_t>(columns_[k])] = values_[k];
    }
  }
  values_ = std::move(dense);
  columns_ = {};
  offsets_ = {};
  dense_ = true;
}

Features FeatureBuilder::finish() {
  expects(position_ == rows_ * cols_, "every feature was appended");
  if (dense_) return Features::dense(rows_, cols_, std::move(values_));
  offsets_.resize(static_cast<size_t>(rows_) + 1, static_cast<int64_t>(values_.size()));
  return Features::sparse(rows_, cols_, std::move(offsets_), std::move(columns_),
                          std::move(values_));
}

}  // namespace dgat::data
