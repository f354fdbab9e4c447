#pragma once

#include <cstdint>
#include <span>
#include <utility>

#include "dgat/tensor/pool.h"

namespace dgat::tensor {

/// A dense row-major matrix of float or double with pooled memory, aligned to 64 bytes. Moves are
/// free; copies are written out as clone(), because each one costs a pass over memory.
template <class T>
class Matrix {
 public:
  Matrix() = default;
  /// Entries are not set.
  Matrix(int64_t rows, int64_t cols)
      : data_(static_cast<T*>(pool_acquire(bytes_for(rows, cols)))), rows_(rows), cols_(cols) {}
  static Matrix filled(int64_t rows, int64_t cols, T value);
  static Matrix zeros(int64_t rows, int64_t cols) { return filled(rows, cols, T{0}); }
  /// Needs: values.size() == rows * cols. Converts between float and double.
  static Matrix from(int64_t rows, int64_t cols, std::span<const float> values);
  static Matrix from(int64_t rows, int64_t cols, std::span<const double> values);

  Matrix(Matrix&& other) noexcept { swap(other); }
  Matrix& operator=(Matrix&& other) noexcept {
    Matrix moved(std::move(other));
    swap(moved);
    return *this;
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  ~Matrix() { pool_release(data_, bytes_for(rows_, cols_)); }

  Matrix clone() const;

  int64_t rows() const { return rows_; }
  int64_t cols() const { return cols_; }
  int64_t size() const { return rows_ * cols_; }
  bool empty() const { return size() == 0; }
  bool same_shape(const Matrix& other) const {
    return rows_ == other.rows_ && cols_ == other.cols_;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  T* row(int64_t i) { return data_ + i * cols_; }
  const T* row(int64_t i) const { return data_ + i * cols_; }
  T& operator()(int64_t i, int64_t j) { return data_[i * cols_ + j]; }
  T operator()(int64_t i, int64_t j) const { return data_[i * cols_ + j]; }
  std::span<T> values() { return {data_, static_cast<size_t>(size())}; }
  std::span<const T> values() const { return {data_, static_cast<size_t>(size())}; }

 private:
  static size_t bytes_for(int64_t rows, int64_t cols) {
    return static_cast<size_t>(rows * cols) * sizeof(T);
  }
  void swap(Matrix& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(rows_, other.rows_);
    std::swap(cols_, other.cols_);
  }
  T* data_ = nullptr;
  int64_t rows_ = 0, cols_ = 0;
};

/// True when no entry is NaN or infinite. Cost: one parallel pass.
template <class T>
bool all_finite(const Matrix<T>& matrix);

}  // namespace dgat::tensor
