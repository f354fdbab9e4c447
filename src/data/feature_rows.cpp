#include "feature_rows.h"

namespace dgat::data {

Features FeatureRows::build(int64_t cols, const std::vector<int32_t>& order) && {
  const int64_t n = rows();
  if (cols == 0) return {};
  const double filled = static_cast<double>(values_.size());
  const bool keep_sparse =
      filled < Features::kSparseBelow * static_cast<double>(n) * static_cast<double>(cols);
  Features features =
      Features::sparse(n, cols, std::move(offsets_), std::move(columns_), std::move(values_));
  if (!order.empty()) features = features.select_rows(order);
  return keep_sparse ? features : Features::dense(n, cols, features.to_dense());
}

}  // namespace dgat::data
