#include "dgat/data/features.h"

#include <algorithm>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/data/feature_builder.h"

namespace dgat::data {
namespace {

constexpr int64_t kRowGrain = 256;

size_t index(int64_t i) {
  return static_cast<size_t>(i);
}

int64_t count_nonzeros(std::span<const float> values) {
  return parallel_sum<int64_t>(
      static_cast<int64_t>(values.size()), 1 << 16, [&](int64_t first, int64_t last) {
        return static_cast<int64_t>(std::count_if(values.begin() + first, values.begin() + last,
                                                  [](float v) { return v != 0.0F; }));
      });
}

}  // namespace

Features Features::dense(int64_t rows, int64_t cols, std::vector<float> values) {
  expects(rows >= 0 && cols >= 0 && values.size() == index(rows * cols),
          "dense features hold rows x cols values");
  Features result;
  result.rows_ = rows;
  result.cols_ = cols;
  result.values_ = std::move(values);
  return result;
}

Features Features::sparse(int64_t rows, int64_t cols, std::vector<int64_t> offsets,
                          std::vector<int32_t> columns, std::vector<float> values) {
  expects(offsets.size() == index(rows) + 1 && offsets.front() == 0 &&
              offsets.back() == static_cast<int64_t>(columns.size()) &&
              columns.size() == values.size(),
          "sparse features have rows + 1 offsets and one column per value");
  for (int64_t i = 0; i < rows; ++i) {
    expects(offsets[index(i)] <= offsets[index(i) + 1], "feature offsets increase");
    int64_t previous = -1;
    for (int64_t k = offsets[index(i)]; k < offsets[index(i) + 1]; ++k) {
      const int32_t column = columns[index(k)];
      expects(column > previous && column < cols && values[index(k)] != 0.0F,
              "feature columns increase, stay in range and hold no zeros");
      previous = column;
    }
  }
  Features result;
  result.rows_ = rows;
  result.cols_ = cols;
  result.sparse_ = true;
  result.values_ = std::move(values);
  result.offsets_ = std::move(offsets);
  result.columns_ = std::move(columns);
  return result;
}

Features Features::compact(int64_t rows, int64_t cols, std::vector<float> values) {
  const int64_t filled = count_nonzeros(values);
  if (static_cast<double>(filled) >= kSparseBelow * static_cast<double>(values.size())) {
    return dense(rows, cols, std::move(values));
  }
  FeatureBuilder builder(rows, cols);
  builder.append(values);
  return builder.finish();
}

int64_t Features::nonzeros() const {
  return sparse_ ? static_cast<int64_t>(values_.size()) : count_nonzeros(values_);
}

void Features::copy_row(int64_t i, std::span<float> out) const {
  expects(i >= 0 && i < rows_ && out.size() == index(cols_), "a feature row has cols() values");
  if (!sparse_) {
    std::copy_n(values_.begin() + i * cols_, cols_, out.begin());
    return;
  }
  std::fill(out.begin(), out.end(), 0.0F);
  for (int64_t k = offsets_[index(i)]; k < offsets_[index(i) + 1]; ++k) {
    out[index(columns_[index(k)])] = values_[index(k)];
  }
}

std::vector<float> Features::to_dense() const {
  if (!sparse_) return values_;
  std::vector<float> out(index(rows_ * cols_));
  parallel_for(rows_, kRowGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      copy_row(i, std::span(out).subspan(index(i * cols_), index(cols_)));
    }
  });
  return out;
}

Features Features::select_rows(std::span<const int32_t> rows) const {
  const auto count = static_cast<int64_t>(rows.size());
  for (const int32_t i : rows) expects(i >= 0 && i < rows_, "selected feature rows exist");
  if (!sparse_) {
    std::vector<float> out(index(count * cols_));
    for (int64_t k = 0; k < count; ++k) {
      copy_row(rows[index(k)], std::span(out).subspan(index(k * cols_), index(cols_)));
    }
    return dense(count, cols_, std::move(out));
  }
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> columns;
  std::vector<float> values;
  offsets.reserve(rows.size() + 1);
  for (const int32_t i : rows) {
    const int64_t first = offsets_[index(i)], last = offsets_[index(i) + 1];
    columns.insert(columns.end(), columns_.begin() + first, columns_.begin() + last);
    values.insert(values.end(), values_.begin() + first, values_.begin() + last);
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  return sparse(count, cols_, std::move(offsets), std::move(columns), std::move(values));
}

bool operator==(const Features& a, const Features& b) {
  if (a.rows_ != b.rows_ || a.cols_ != b.cols_) return false;
  if (a.sparse_ == b.sparse_) {
    return a.offsets_ == b.offsets_ && a.columns_ == b.columns_ && a.values_ == b.values_;
  }
  std::vector<float> x(index(a.cols_)), y(index(a.cols_));
  for (int64_t i = 0; i < a.rows_; ++i) {
    a.copy_row(i, x);
    b.copy_row(i, y);
    if (x != y) return false;
  }
  return true;
}

}  // namespace dgat::data
