#include "tall.h"

#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

constexpr int64_t kTallGrain = 32768;
constexpr int64_t kBlockGrain = 4096;  // of products of two tall matrices

using ConstVector = Eigen::Map<const Eigen::VectorXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;
using ConstBlock = Eigen::Map<const Eigen::MatrixXd, 0, Eigen::OuterStride<>>;
using Block = Eigen::Map<Eigen::MatrixXd, 0, Eigen::OuterStride<>>;

}  // namespace

double dot(std::span<const double> x, std::span<const double> y) {
  return parallel_sum<double>(std::ssize(x), kTallGrain, [&](int64_t begin, int64_t end) {
    return ConstVector(x.data() + begin, end - begin)
        .dot(ConstVector(y.data() + begin, end - begin));
  });
}

double norm(std::span<const double> x) {
  return std::sqrt(dot(x, x));
}

void add_scaled(double a, std::span<const double> x, std::span<double> y) {
  parallel_for(std::ssize(x), kTallGrain, [&](int64_t begin, int64_t end) {
    Vector(y.data() + begin, end - begin) += a * ConstVector(x.data() + begin, end - begin);
  });
}

void scale(double a, std::span<double> x) {
  parallel_for(std::ssize(x), kTallGrain,
               [&](int64_t begin, int64_t end) { Vector(x.data() + begin, end - begin) *= a; });
}

Basis::Basis(int64_t n, int capacity)
    : n_(n), capacity_(capacity), data_(new double[static_cast<size_t>(n * capacity)]) {}

std::span<double> Basis::push() {
  expects(count_ < capacity_, "a basis has room for one more column");
  return column(count_++);
}

Eigen::VectorXd Basis::inner(std::span<const double> x) const {
  Eigen::MatrixXd partial(count_, block_count(n_, kTallGrain));
  parallel_blocks(n_, kTallGrain, [&](int64_t block, int64_t begin, int64_t end) {
    const ConstBlock v(data_.get() + begin, end - begin, count_, Eigen::OuterStride<>(n_));
    partial.col(block).noalias() = v.transpose() * ConstVector(x.data() + begin, end - begin);
  });
  return partial.rowwise().sum();
}

void Basis::subtract(const Eigen::VectorXd& c, std::span<double> x) const {
  parallel_for(n_, kTallGrain, [&](int64_t begin, int64_t end) {
    const ConstBlock v(data_.get() + begin, end - begin, c.size(), Eigen::OuterStride<>(n_));
    Vector(x.data() + begin, end - begin).noalias() -= v * c;
  });
}

void Basis::combine(const Eigen::VectorXd& c, std::span<double> out) const {
  parallel_for(n_, kTallGrain, [&](int64_t begin, int64_t end) {
    const ConstBlock v(data_.get() + begin, end - begin, c.size(), Eigen::OuterStride<>(n_));
    Vector(out.data() + begin, end - begin).noalias() = v * c;
  });
}

void Basis::rotate(const Eigen::MatrixXd& q) {
  parallel_for(n_, kTallGrain, [&](int64_t begin, int64_t end) {
    Block v(data_.get() + begin, end - begin, q.rows(), Eigen::OuterStride<>(n_));
    const Eigen::MatrixXd rotated = v * q;
    v.leftCols(q.cols()) = rotated;
  });
  count_ = static_cast<int>(q.cols());
}

Eigen::MatrixXd Basis::inner(const Basis& x) const {
  std::vector<Eigen::MatrixXd> partial(static_cast<size_t>(block_count(n_, kBlockGrain)));
  parallel_blocks(n_, kBlockGrain, [&](int64_t block, int64_t begin, int64_t end) {
    const ConstBlock v(data_.get() + begin, end - begin, count_, Eigen::OuterStride<>(n_));
    const ConstBlock w(x.data_.get() + begin, end - begin, x.count_, Eigen::OuterStride<>(n_));
    partial[static_cast<size_t>(block)].noalias() = v.transpose() * w;
  });
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(count_, x.count_);
  for (const Eigen::MatrixXd& part : partial) sum += part;
  return sum;
}

void Basis::subtract(const Eigen::MatrixXd& c, Basis& x) const {
  parallel_for(n_, kBlockGrain, [&](int64_t begin, int64_t end) {
    const ConstBlock v(data_.get() + begin, end - begin, c.rows(), Eigen::OuterStride<>(n_));
    Block(x.data_.get() + begin, end - begin, c.cols(), Eigen::OuterStride<>(n_)).noalias() -=
        v * c;
  });
}

void Basis::append(const Basis& v, const Eigen::MatrixXd& c) {
  const auto columns = static_cast<int>(c.cols());
  expects(count_ + columns <= capacity_, "a basis has room for the new columns");
  double* to = data_.get() + count_ * n_;
  parallel_for(n_, kBlockGrain, [&](int64_t begin, int64_t end) {
    const ConstBlock from(v.data_.get() + begin, end - begin, c.rows(), Eigen::OuterStride<>(n_));
    Block(to + begin, end - begin, columns, Eigen::OuterStride<>(n_)).noalias() = from * c;
  });
  count_ += columns;
}

bool Basis::orthonormalise(std::span<double> x) const {
  double before = norm(x);
  if (!(before > 0) || !std::isfinite(before)) return false;
  scale(1 / before, x);
  // A pass that takes most of x away leaves rounding errors of the same size: pass again.
  for (int pass = 0; pass < 4; ++pass) {
    if (count_ > 0) subtract(inner(x), x);
    const double after = norm(x);
    if (!(after > 1e-14)) return false;
    scale(1 / after, x);
    if (after > 0.5 && pass > 0) return true;
  }
  return true;
}

}  // namespace dgat::spectral
