#include "ridge.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/train/metrics.h"

namespace dgat::study {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPenalties[] = {0.01, 0.1, 1.0};
constexpr double kFloor = 1e-12;  // keeps the matrix of rows that are all zero positive definite

std::vector<std::vector<Eigen::Index>> members(std::span<const int> folds, int count) {
  std::vector<std::vector<Eigen::Index>> result(static_cast<size_t>(count));
  for (size_t i = 0; i < folds.size(); ++i) {
    result[static_cast<size_t>(folds[i])].push_back(static_cast<Eigen::Index>(i));
  }
  return result;
}

/// Predictions of a fold by ridge regression on the other rows, whatever the penalty.
class FoldFits {
 public:
  virtual ~FoldFits() = default;
  /// ridge: what is added to the diagonal, for each row that is fitted.
  virtual MatrixXd predict(size_t fold, double ridge) const = 0;
};

/// By the p x p Gram matrix, W = (Z^T Z + r I)^-1 Z^T Y: for many rows. The sums over the rows of a
/// fold are subtracted from those over all rows.
class ByColumns : public FoldFits {
 public:
  ByColumns(const MatrixXd& z, const MatrixXd& y,
            const std::vector<std::vector<Eigen::Index>>& parts)
      : z_(z),
        parts_(parts),
        sums_(parts.size()),
        all_{MatrixXd::Zero(z.cols(), z.cols()), MatrixXd::Zero(z.cols(), y.cols()),
             VectorXd::Zero(z.cols()), VectorXd::Zero(y.cols())} {
    for (size_t f = 0; f < parts.size(); ++f) {
      const MatrixXd zf = z(parts[f], Eigen::all), yf = y(parts[f], Eigen::all);
      sums_[f] = {zf.transpose() * zf, zf.transpose() * yf, zf.colwise().sum().transpose(),
                  yf.colwise().sum().transpose(), static_cast<double>(parts[f].size())};
      all_.gram += sums_[f].gram;
      all_.moments += sums_[f].moments;
      all_.total += sums_[f].total;
      all_.counts += sums_[f].counts;
      all_.rows += sums_[f].rows;
    }
  }

  MatrixXd predict(size_t fold, double ridge) const override {
    const Sums& held = sums_[fold];
    const double m = all_.rows - held.rows;
    const VectorXd mean_z = (all_.total - held.total) / m, mean_y = (all_.counts - held.counts) / m;
    MatrixXd gram = all_.gram - held.gram - m * mean_z * mean_z.transpose();
    gram.diagonal().array() += ridge * m + kFloor;
    const MatrixXd weights = gram.selfadjointView<Eigen::Lower>().llt().solve(
        all_.moments - held.moments - m * mean_z * mean_y.transpose());
    const MatrixXd zf = z_(parts_[fold], Eigen::all);
    return ((zf.rowwise() - mean_z.transpose()) * weights).rowwise() + mean_y.transpose();
  }

 private:
  struct Sums {
    MatrixXd gram, moments;  // Z^T Z, Z^T Y
    VectorXd total, counts;  // column sums of Z and of Y
    double rows = 0;
  };
  const MatrixXd& z_;
  const std::vector<std::vector<Eigen::Index>>& parts_;
  std::vector<Sums> sums_;
  Sums all_;
};

/// By the n x n matrix of products of rows K = Z Z^T, W = Z^T (K + r I)^-1 Y, which is the same W:
/// for few rows. Centred rows have the products K_ij - k_i - k_j + k, with the means k_i of row i
/// and k of all over the fitted rows.
class ByRows : public FoldFits {
 public:
  ByRows(const MatrixXd& z, const MatrixXd& y, const std::vector<std::vector<Eigen::Index>>& parts)
      : products_(z * z.transpose()), y_(y), parts_(parts), fitted_(parts.size()) {
    for (size_t f = 0; f < parts.size(); ++f) {
      for (size_t g = 0; g < parts.size(); ++g) {
        if (g != f) fitted_[f].insert(fitted_[f].end(), parts[g].begin(), parts[g].end());
      }
    }
  }

  MatrixXd predict(size_t fold, double ridge) const override {
    const auto& fitted = fitted_[fold];
    const auto& held = parts_[fold];
    const MatrixXd yt = y_(fitted, Eigen::all);
    const Eigen::RowVectorXd mean_y = yt.colwise().mean();
    MatrixXd inner = products_(fitted, fitted), across = products_(held, fitted);
    const VectorXd inner_means = inner.rowwise().mean(), across_means = across.rowwise().mean();
    const double mean = inner_means.mean();
    for (MatrixXd* block : {&inner, &across}) {
      block->colwise() -= (block == &inner ? inner_means : across_means);
      block->rowwise() -= inner_means.transpose();
      block->array() += mean;
    }
    inner.diagonal().array() += ridge * static_cast<double>(fitted.size()) + kFloor;
    const MatrixXd duals = inner.selfadjointView<Eigen::Lower>().llt().solve(yt.rowwise() - mean_y);
    return (across * duals).rowwise() + mean_y;
  }

 private:
  MatrixXd products_;
  const MatrixXd& y_;
  const std::vector<std::vector<Eigen::Index>>& parts_;
  std::vector<std::vector<Eigen::Index>> fitted_;
};

double measure(const MatrixXd& predicted, std::span<const int32_t> labels, data::Metric metric) {
  const Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> scores =
      predicted.cast<float>();
  const train::Scores view{{scores.data(), static_cast<size_t>(scores.size())}, scores.cols()};
  std::vector<graph::NodeId> all(labels.size());
  std::iota(all.begin(), all.end(), 0);
  return metric == data::Metric::kRocAuc ? train::roc_auc(view, labels, all)
                                         : train::accuracy(view, labels, all);
}

}  // namespace

std::vector<int> stratified_folds(std::span<const int32_t> labels, int classes, int folds,
                                  uint64_t seed) {
  std::vector<int> result(labels.size());
  int next = 0;  // carried from class to class, so that folds have equal sizes too
  for (int c = 0; c < classes; ++c) {
    std::vector<size_t> rows;
    for (size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] == c) rows.push_back(i);
    }
    Random(seed, static_cast<uint64_t>(c)).shuffle(rows);
    for (const size_t i : rows) result[i] = next++ % folds;
  }
  return result;
}

HeldOut cross_validate(const tensor::Matrix<float>& rows, std::span<const int32_t> labels,
                       int classes, std::span<const int> folds, data::Metric metric) {
  const auto n = static_cast<Eigen::Index>(rows.rows()), p = static_cast<Eigen::Index>(rows.cols());
  expects(labels.size() == folds.size() && std::ssize(labels) == n, "one label and fold per row");
  MatrixXd z(n, p), y = MatrixXd::Zero(n, classes);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < p; ++j) z(i, j) = static_cast<double>(rows(i, j));
    y(i, labels[static_cast<size_t>(i)]) = 1;
  }
  const int count = folds.empty() ? 0 : *std::max_element(folds.begin(), folds.end()) + 1;
  const auto parts = members(folds, count);
  for (const auto& part : parts) expects(std::ssize(part) < n, "every fold leaves rows to fit");
  std::unique_ptr<const FoldFits> fits;
  if (n < p) {
    fits = std::make_unique<ByRows>(z, y, parts);
  } else {
    fits = std::make_unique<ByColumns>(z, y, parts);
  }
  const double scale = n > 0 ? z.squaredNorm() / static_cast<double>(n) : 0;

  HeldOut best;
  double least = std::numeric_limits<double>::infinity();
  for (const double penalty : kPenalties) {
    MatrixXd predicted(n, classes), residual(n, classes);
    for (size_t f = 0; f < parts.size(); ++f) {
      predicted(parts[f], Eigen::all) = fits->predict(f, penalty * scale);
    }
    residual = predicted - y;
    const double error = residual.squaredNorm();
    if (error >= least) continue;
    least = error;
    const VectorXd row_errors = residual.rowwise().squaredNorm();
    best.errors.assign(row_errors.begin(), row_errors.end());
    best.metric = measure(predicted, labels, metric);
  }
  const double total = (y.rowwise() - y.colwise().mean()).squaredNorm();
  best.explained = total > 0 ? 1 - least / total : 0;
  return best;
}

}  // namespace dgat::study
