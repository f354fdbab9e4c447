#include "ridge.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <vector>

#include "dgat/core/random.h"

namespace dgat::study {
namespace {

struct Problem {
  tensor::Matrix<float> rows;
  std::vector<int32_t> labels;
  std::vector<int> folds;
};

Problem problem(int64_t n, int64_t p) {
  Problem one{tensor::Matrix<float>(n, p), {}, {}};
  Random random(5, 0);
  for (int64_t i = 0; i < n; ++i) {
    one.labels.push_back(static_cast<int32_t>(i % 3));
    for (int64_t j = 0; j < p; ++j) {
      one.rows(i, j) = static_cast<float>(random.normal() + (j == one.labels.back() ? 1.5 : 0.3));
    }
  }
  one.folds = stratified_folds(one.labels, 3, 4, 7);
  return one;
}

/// The formula of the header, with centred rows and an explicit inverse, for one penalty.
Eigen::VectorXd errors_of(const Problem& one, double penalty) {
  const auto n = static_cast<Eigen::Index>(one.rows.rows()),
             p = static_cast<Eigen::Index>(one.rows.cols());
  Eigen::MatrixXd z(n, p), y = Eigen::MatrixXd::Zero(n, 3);
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < p; ++j) z(i, j) = static_cast<double>(one.rows(i, j));
    y(i, one.labels[static_cast<size_t>(i)]) = 1;
  }
  const double scale = z.squaredNorm() / static_cast<double>(n);
  Eigen::VectorXd errors(n);
  for (int fold = 0; fold < 4; ++fold) {
    std::vector<Eigen::Index> fitted, held;
    for (Eigen::Index i = 0; i < n; ++i) {
      (one.folds[static_cast<size_t>(i)] == fold ? held : fitted).push_back(i);
    }
    const Eigen::MatrixXd zt = z(fitted, Eigen::all), yt = y(fitted, Eigen::all);
    const Eigen::RowVectorXd mean_z = zt.colwise().mean(), mean_y = yt.colwise().mean();
    const Eigen::MatrixXd c = zt.rowwise() - mean_z;
    const Eigen::MatrixXd w =
        (c.transpose() * c +
         penalty * scale * static_cast<double>(fitted.size()) * Eigen::MatrixXd::Identity(p, p))
            .inverse() *
        c.transpose() * (yt.rowwise() - mean_y);
    for (const Eigen::Index i : held) {
      errors(i) = ((z.row(i) - mean_z) * w + mean_y - y.row(i)).squaredNorm();
    }
  }
  return errors;
}

class Ridge : public ::testing::TestWithParam<std::pair<int64_t, int64_t>> {};

TEST_P(Ridge, HeldOutErrorsAreThoseOfTheExplicitInverse) {
  const Problem one = problem(GetParam().first, GetParam().second);
  const HeldOut held = cross_validate(one.rows, one.labels, 3, one.folds, data::Metric::kAccuracy);
  Eigen::VectorXd expected = errors_of(one, 0.01);
  for (const double penalty : {0.1, 1.0}) {
    const Eigen::VectorXd other = errors_of(one, penalty);
    if (other.sum() < expected.sum()) expected = other;
  }
  ASSERT_EQ(std::ssize(held.errors), GetParam().first);
  for (size_t i = 0; i < held.errors.size(); ++i) {
    EXPECT_NEAR(held.errors[i], expected(static_cast<Eigen::Index>(i)), 1e-9);
  }
  // n/3 rows of each class: the squared error of predicting class shares is 2n/3.
  EXPECT_NEAR(held.explained,
              1 - expected.sum() / (2.0 * static_cast<double>(GetParam().first) / 3), 1e-9);
}

// Fewer rows than columns, and more.
INSTANTIATE_TEST_SUITE_P(RowsAndColumns, Ridge,
                         ::testing::Values(std::pair<int64_t, int64_t>{24, 40},
                                           std::pair<int64_t, int64_t>{60, 12}),
                         [](const auto& one) {
                           return std::to_string(one.param.first) + "x" +
                                  std::to_string(one.param.second);
                         });

}  // namespace
}  // namespace dgat::study
