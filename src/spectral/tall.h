#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <span>

/// Long vectors and tall thin matrices, with fixed blocks of rows: same bits at every thread count.
namespace dgat::spectral {

double dot(std::span<const double> x, std::span<const double> y);
double norm(std::span<const double> x);
void add_scaled(double a, std::span<const double> x, std::span<double> y);  ///< y += a x
void scale(double a, std::span<double> x);

/// Columns of length n, most often orthonormal. Memory is touched only as columns are added.
class Basis {
 public:
  Basis(int64_t n, int capacity);

  int64_t rows() const { return n_; }
  int count() const { return count_; }
  int capacity() const { return capacity_; }
  std::span<double> column(int j) { return {data_.get() + j * n_, static_cast<size_t>(n_)}; }
  std::span<const double> column(int j) const {
    return {data_.get() + j * n_, static_cast<size_t>(n_)};
  }
  std::span<double> push();  ///< one more column, its entries not set
  void truncate(int count) { count_ = count; }

  Eigen::VectorXd inner(std::span<const double> x) const;               ///< V^T x
  void subtract(const Eigen::VectorXd& c, std::span<double> x) const;   ///< x -= V c
  void combine(const Eigen::VectorXd& c, std::span<double> out) const;  ///< out = V c
  void rotate(const Eigen::MatrixXd& q);                                ///< V <- V q
  Eigen::MatrixXd inner(const Basis& x) const;              ///< V^T X, all columns of both
  void subtract(const Eigen::MatrixXd& c, Basis& x) const;  ///< X -= V c
  void append(const Basis& v, const Eigen::MatrixXd& c);    ///< more columns: V c
  /// Removes the part of x inside the span, twice (once leaves rounding), and scales x to unit
  /// norm. False when nothing is left of x.
  bool orthonormalise(std::span<double> x) const;

 private:
  int64_t n_;
  int capacity_, count_ = 0;
  std::unique_ptr<double[]> data_;
};

}  // namespace dgat::spectral
