#include "ridge.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/train/metrics.h"

namespace dgat::study {
namespace {

using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kPenalties[] = {0.01, 0.1, 1.0};

/// Sums over the rows of one fold.
struct FoldSums {
  MatrixXd gram, moments;  // Z^T Z, Z^T Y
  VectorXd total, counts;  // column sums of Z and of Y
  double rows = 0;
};

std::vector<std::vector<Eigen::Index>> members(std::span<const int> folds, int count) {
  std::vector<std::vector<Eigen::Index>> result(static_cast<size_t>(count));
  for (size_t i = 0; i < folds.size(); ++i) {
    result[static_cast<size_t>(folds[i])].push_back(static_cast<Eigen::Index>(i));
  }
  return result;
}

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
  std::vector<FoldSums> sums(parts.size());
  FoldSums all{MatrixXd::Zero(p, p), MatrixXd::Zero(p, classes), VectorXd::Zero(p),
               VectorXd::Zero(classes)};
  for (size_t f = 0; f < parts.size(); ++f) {
    const MatrixXd zf = z(parts[f], Eigen::all), yf = y(parts[f], Eigen::all);
    sums[f] = {zf.transpose() * zf, zf.transpose() * yf, zf.colwise().sum().transpose(),
               yf.colwise().sum().transpose(), static_cast<double>(parts[f].size())};
    all.gram += sums[f].gram;
    all.moments += sums[f].moments;
    all.total += sums[f].total;
    all.counts += sums[f].counts;
    all.rows += sums[f].rows;
  }
  const double scale = n > 0 ? all.gram.trace() / all.rows : 0;

  HeldOut best;
  double least = std::numeric_limits<double>::infinity();
  for (const double penalty : kPenalties) {
    MatrixXd predicted(n, classes), residual(n, classes);
    for (size_t f = 0; f < parts.size(); ++f) {
      const double m = all.rows - sums[f].rows;
      expects(m > 0, "every fold leaves rows to fit");
      const VectorXd mean_z = (all.total - sums[f].total) / m;
      const VectorXd mean_y = (all.counts - sums[f].counts) / m;
      MatrixXd gram = all.gram - sums[f].gram - m * mean_z * mean_z.transpose();
      gram.diagonal().array() += penalty * m * scale + 1e-12;
      const MatrixXd weights = gram.selfadjointView<Eigen::Lower>().llt().solve(
          all.moments - sums[f].moments - m * mean_z * mean_y.transpose());
      const MatrixXd zf = z(parts[f], Eigen::all);
      predicted(parts[f], Eigen::all) =
          ((zf.rowwise() - mean_z.transpose()) * weights).rowwise() + mean_y.transpose();
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
