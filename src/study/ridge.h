#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/tensor/matrix.h"

namespace dgat::study {

/// Fold of every entry, so that every class is spread over the folds as evenly as it goes. A
/// function of (labels, seed).
std::vector<int> stratified_folds(std::span<const int32_t> labels, int classes, int folds,
                                  uint64_t seed);

/// How well a linear classifier does on nodes it was not fitted to.
struct HeldOut {
  double metric = 0;  ///< accuracy, or ROC AUC, of the held-out predictions
  double explained =
      0;  ///< 1 - squared error / that of the class shares; negative: worse than those
  std::vector<double> errors;  ///< squared error of every row
};

/// Ridge regression to one-hot labels, in closed form: for every fold the Gram matrix of the others
///   W = (Z^T Z + lambda n I)^-1 Z^T (Y - mean Y),
/// predicting the fold; lambda, relative to the mean square of a row, is the one of a short list
/// with the smallest held-out error.
///
/// Needs:  rows of mean square about 1 per block; labels in [0, classes).
/// Cost:   O(n p^2 + folds * p^3) for n rows and p columns; O(n^2 p + folds * n^3) where n < p.
HeldOut cross_validate(const tensor::Matrix<float>& rows, std::span<const int32_t> labels,
                       int classes, std::span<const int> folds, data::Metric metric);

}  // namespace dgat::study
