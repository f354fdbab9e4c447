#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dgat::data {

/// Node features, rows x columns, float32: dense row by row, or CSR where most entries are zero
/// (bag-of-words sets are 1-2% full). Consumers ask is_sparse() and take the form that is there.
class Features {
 public:
  Features() = default;
  static Features dense(int64_t rows, int64_t cols, std::vector<float> values);
  /// Columns of every row increase; no stored zeros.
  static Features sparse(int64_t rows, int64_t cols, std::vector<int64_t> offsets,
                         std::vector<int32_t> columns, std::vector<float> values);
  /// Dense values in whichever form takes less memory (sparse below kSparseBelow filled).
  static Features compact(int64_t rows, int64_t cols, std::vector<float> values);
  static constexpr double kSparseBelow = 0.25;

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  bool empty() const { return cols_ == 0; }
  bool is_sparse() const { return sparse_; }
  int64_t nonzeros() const;  ///< stored entries (sparse) or entries that are not zero (dense)

  std::span<const float> values() const { return values_; }  ///< rows*cols, or one per stored entry
  std::span<const int64_t> offsets() const { return offsets_; }  ///< sparse only: rows + 1
  std::span<const int32_t> columns() const { return columns_; }  ///< sparse only

  /// Writes row i, cols() floats, into out.
  void copy_row(int64_t i, std::span<float> out) const;
  std::vector<float> to_dense() const;
  /// Rows in the order given.
  Features select_rows(std::span<const int32_t> rows) const;

  friend bool operator==(const Features& a, const Features& b);  ///< equal as matrices

 private:
  int64_t rows_ = 0, cols_ = 0;
  bool sparse_ = false;
  std::vector<float> values_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> columns_;
};

}  // namespace dgat::data
