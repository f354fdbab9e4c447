#include "feature_scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"

namespace dgat::train {
namespace {

/// Divides values[begin, end) by their sum.
void divide_by_sum(std::span<float> row) {
  double sum = 0;
  for (const float v : row) sum += static_cast<double>(v);
  if (sum == 0) return;
  for (float& v : row) v = static_cast<float>(static_cast<double>(v) / sum);
}

data::Features divided_by_row_sums(const data::Features& features) {
  std::vector<float> values(features.values().begin(), features.values().end());
  const auto offsets = features.offsets();
  parallel_for(features.rows(), 256, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto row = static_cast<size_t>(i), width = static_cast<size_t>(features.cols());
      divide_by_sum(features.is_sparse() ? std::span(values).subspan(
                                               static_cast<size_t>(offsets[row]),
                                               static_cast<size_t>(offsets[row + 1] - offsets[row]))
                                         : std::span(values).subspan(row * width, width));
    }
  });
  if (!features.is_sparse()) {
    return data::Features::dense(features.rows(), features.cols(), std::move(values));
  }
  return data::Features::sparse(features.rows(), features.cols(), {offsets.begin(), offsets.end()},
                                {features.columns().begin(), features.columns().end()},
                                std::move(values));
}

data::Features standardised(const data::Features& features) {
  const auto rows = static_cast<size_t>(features.rows()),
             cols = static_cast<size_t>(features.cols());
  std::vector<float> values(features.values().begin(), features.values().end());
  std::vector<double> mean(cols, 0), squares(cols, 0);
  for (size_t k = 0; k < values.size(); ++k) mean[k % cols] += static_cast<double>(values[k]);
  for (double& m : mean) m /= static_cast<double>(rows);
  for (size_t k = 0; k < values.size(); ++k) {
    const double d = static_cast<double>(values[k]) - mean[k % cols];
    squares[k % cols] += d * d;
  }
  std::vector<double> factor(cols);
  for (size_t c = 0; c < cols; ++c) {
    const double deviation = std::sqrt(squares[c] / static_cast<double>(rows));
    const bool constant = deviation <= 1e-7 * std::abs(mean[c]) || deviation == 0;
    factor[c] = constant ? 0 : 1 / deviation;
  }
  for (size_t k = 0; k < values.size(); ++k) {
    const double centred = static_cast<double>(values[k]) - mean[k % cols];
    values[k] = static_cast<float>(centred * factor[k % cols]);
  }
  return data::Features::dense(features.rows(), features.cols(), std::move(values));
}

}  // namespace

data::Features scaled_features(const data::Features& features, FeatureScaling scaling,
                               const std::string& name) {
  switch (scaling) {
    case FeatureScaling::kRowSum: {
      const auto values = features.values();
      if (std::any_of(values.begin(), values.end(), [](float v) { return v < 0; })) {
        notice(fmt::format(
            "{}: feature_scaling row-sum is not applied, because some features are negative",
            name));
        return features;
      }
      return divided_by_row_sums(features);
    }
    case FeatureScaling::kStandardise:
      if (features.is_sparse()) {
        throw_input(
            "{}: feature_scaling standardise would fill the sparse features ({} of {} entries are "
            "not 0); use row-sum or raw",
            name, features.nonzeros(), features.rows() * features.cols());
      }
      return standardised(features);
    default:
      return features;
  }
}

}  // namespace dgat::train
