#include "probe.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/tensor/gemm.h"

namespace dgat::study {
namespace {

constexpr int64_t kSampleRows = 2048;
constexpr int64_t kSampleEntries = int64_t{1} << 24;
constexpr int kIterations = 4;
constexpr int64_t kRowGrain = 256;
constexpr int64_t kBlocks = 5;  // mean and four directions
constexpr float kScale = 3.0F;  // of the edge features in attention scores

/// Rows first, first + step, ... of the features, dense.
Rows dense_rows(const data::Features& features, int64_t first, int64_t step, int64_t count) {
  Rows rows(count, features.cols());
  parallel_for(count, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      features.copy_row(first + r * step, {rows.row(r), static_cast<size_t>(rows.cols())});
    }
  });
  return rows;
}

std::vector<double> column_means(const Rows& rows) {
  std::vector<double> mean(static_cast<size_t>(rows.cols()), 0.0);
  for (int64_t i = 0; i < rows.rows(); ++i) {
    for (int64_t j = 0; j < rows.cols(); ++j) {
      mean[static_cast<size_t>(j)] += static_cast<double>(rows(i, j));
    }
  }
  const auto n = static_cast<double>(std::max<int64_t>(rows.rows(), 1));
  for (double& m : mean) m /= n;
  return mean;
}

void subtract_from_rows(Rows& rows, std::span<const double> mean) {
  for (int64_t i = 0; i < rows.rows(); ++i) {
    for (int64_t j = 0; j < rows.cols(); ++j) {
      rows(i, j) -= static_cast<float>(mean[static_cast<size_t>(j)]);
    }
  }
}

/// Gram-Schmidt over rows, twice each (once leaves rounding). Rows with nothing left become zero.
void orthonormalise_rows(Rows& basis) {
  const int64_t d = basis.cols();
  const auto dot = [&](int64_t a, int64_t b) {
    double sum = 0;
    for (int64_t j = 0; j < d; ++j) {
      sum += static_cast<double>(basis(a, j)) * static_cast<double>(basis(b, j));
    }
    return sum;
  };
  for (int64_t a = 0; a < basis.rows(); ++a) {
    const double before = std::sqrt(dot(a, a));
    for (int pass = 0; pass < 2; ++pass) {
      for (int64_t b = 0; b < a; ++b) {
        const auto part = static_cast<float>(dot(a, b));
        for (int64_t j = 0; j < d; ++j) basis(a, j) -= part * basis(b, j);
      }
    }
    const double norm = std::sqrt(dot(a, a));
    const float scale = norm > 1e-5 * before ? static_cast<float>(1 / norm) : 0.0F;
    for (int64_t j = 0; j < d; ++j) basis(a, j) *= scale;
  }
}

/// An orthonormal basis, row by row, of about the leading `width` right singular directions.
Rows principal_directions(const Rows& centred, int64_t width, uint64_t seed) {
  Rows basis(width, centred.cols());
  Random random(seed, 0xADB15E);
  for (float& value : basis.values()) value = static_cast<float>(random.normal());
  Rows image(centred.rows(), width);
  for (int round = 0; round < kIterations; ++round) {
    tensor::multiply_transposed_into(centred, basis, image);
    tensor::transposed_multiply_into(image, centred, basis);
    orthonormalise_rows(basis);
  }
  return basis;
}

/// Adds to `out` the senders of row i, arc e with weight(e).
template <class Weight>
void aggregate_row(const rewire::MessageGraph& messages, const Rows& x, int64_t i, Weight weight,
                   float* out) {
  std::fill_n(out, x.cols(), 0.0F);
  for (int64_t e = messages.offsets[static_cast<size_t>(i)];
       e < messages.offsets[static_cast<size_t>(i) + 1]; ++e) {
    const float w = weight(e);
    const float* row = x.row(messages.senders[static_cast<size_t>(e)]);
    for (int64_t j = 0; j < x.cols(); ++j) out[j] += w * row[j];
  }
}

void mean_row(const rewire::MessageGraph& messages, const Rows& x, int64_t i, float* out) {
  const auto at = static_cast<size_t>(i);
  const auto degree = static_cast<float>(messages.offsets[at + 1] - messages.offsets[at]);
  aggregate_row(
      messages, x, i, [degree](int64_t) { return 1.0F / degree; }, out);
}

/// The average with the weights softmax(scale * feature) over the row.
void directed_row(const rewire::MessageGraph& messages, const Rows& x, int64_t i, int feature,
                  float scale, float* out) {
  const float* f = messages.features.data() + feature;
  float total = 0;
  for (int64_t e = messages.offsets[static_cast<size_t>(i)];
       e < messages.offsets[static_cast<size_t>(i) + 1]; ++e) {
    total += std::exp(scale * f[2 * e]);
  }
  aggregate_row(
      messages, x, i, [=](int64_t e) { return std::exp(scale * f[2 * e]) / total; }, out);
}

Rows normal_matrix(int64_t rows, int64_t cols, uint64_t seed, uint64_t stream) {
  Rows matrix(rows, cols);
  Random random(seed, stream);
  for (float& value : matrix.values()) value = static_cast<float>(random.normal());
  return matrix;
}

/// ReLU(x W^T + b).
Rows rectified(const Rows& x, const Rows& weights, const Rows& bias) {
  Rows out(x.rows(), weights.rows());
  tensor::multiply_transposed_into(x, weights, out, {}, &bias);
  for (float& value : out.values()) value = std::max(value, 0.0F);
  return out;
}

/// The first columns of a matrix.
Rows left_columns(const Rows& matrix, int64_t cols) {
  Rows out(matrix.rows(), cols);
  for (int64_t i = 0; i < matrix.rows(); ++i) std::copy_n(matrix.row(i), cols, out.row(i));
  return out;
}

/// Centres columns [first, first + count) and scales them together: rows of mean square 1.
void standardise(Rows& bank, int64_t first, int64_t count) {
  double squares = 0;
  for (int64_t j = first; j < first + count; ++j) {
    double sum = 0;
    for (int64_t i = 0; i < bank.rows(); ++i) sum += static_cast<double>(bank(i, j));
    const double mean = sum / static_cast<double>(bank.rows());
    for (int64_t i = 0; i < bank.rows(); ++i) {
      const double centred = static_cast<double>(bank(i, j)) - mean;
      bank(i, j) = static_cast<float>(centred);
      squares += centred * centred;
    }
  }
  const double scale = squares > 0 ? std::sqrt(static_cast<double>(bank.rows()) / squares) : 0.0;
  for (int64_t i = 0; i < bank.rows(); ++i) {
    for (int64_t j = first; j < first + count; ++j) bank(i, j) *= static_cast<float>(scale);
  }
}

}  // namespace

Rows reduce_features(const data::Features& features, int64_t width, uint64_t seed) {
  const int64_t n = features.rows(), d = features.cols();
  if (d <= width) {
    Rows rows = dense_rows(features, 0, 1, n);
    standardise(rows, 0, d);
    return rows;
  }
  const int64_t count = std::min({n, kSampleRows, std::max<int64_t>(width, kSampleEntries / d)});
  Rows sample = dense_rows(features, 0, n / count, count);
  subtract_from_rows(sample, column_means(sample));
  const Rows basis = principal_directions(sample, width, seed);
  Rows reduced(n, width);
  for (int64_t first = 0; first < n; first += kSampleRows) {
    const Rows rows = dense_rows(features, first, 1, std::min(kSampleRows, n - first));
    Rows image(rows.rows(), width);
    tensor::multiply_transposed_into(rows, basis, image);
    std::copy_n(image.data(), image.size(), reduced.row(first));
  }
  standardise(reduced, 0, width);
  return reduced;
}

Probes::Probes(Rows features, bool own, uint64_t seed)
    : features_(std::move(features)),
      weights_(normal_matrix(kUnits, kBlocks * features_.cols(), seed, 2)),
      bias_(normal_matrix(1, kUnits, seed, 3)),
      own_(own) {
  const int64_t d = features_.cols();
  hidden_ = rectified(features_, normal_matrix(kUnits, d, seed, 1), bias_);
  standardise(hidden_, 0, kUnits);
}

Rows Probes::read_out(const rewire::MessageGraph& messages, const Rows& hidden,
                      std::span<const graph::NodeId> nodes) const {
  const int64_t d = features_.cols();
  Rows out(std::ssize(nodes), kUnits + (own_ ? kUnits + d : 0));
  parallel_for(out.rows(), kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t i = nodes[static_cast<size_t>(r)];
      mean_row(messages, hidden, i, out.row(r));
      if (!own_) continue;
      std::copy_n(hidden_.row(i), kUnits, out.row(r) + kUnits);
      std::copy_n(features_.row(i), d, out.row(r) + 2 * kUnits);
    }
  });
  standardise(out, 0, kUnits);
  if (own_) {
    standardise(out, kUnits, kUnits);
    standardise(out, 2 * kUnits, d);
  }
  return out;
}

std::vector<Rows> Probes::run(const rewire::MessageGraph& messages,
                              std::span<const graph::NodeId> nodes) const {
  expects(messages.feature_count == 2 || messages.feature_count == 0,
          "probes take the directions of one eigenvector");
  expects(messages.nodes() == features_.rows(), "one row of features per node");
  const int64_t d = features_.cols(), n = features_.rows();
  const bool directed = messages.feature_count == 2;
  Rows seen(n, (directed ? kBlocks : 1) * d);
  parallel_for(n, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float* out = seen.row(i);
      mean_row(messages, features_, i, out);
      if (!directed) continue;
      for (const int feature : {0, 1}) {
        for (const float scale : {kScale, -kScale}) {
          directed_row(messages, features_, i, feature, scale, out += d);
        }
      }
    }
  });
  const Rows second =
      rectified(seen, directed ? weights_.clone() : left_columns(weights_, d), bias_);
  std::vector<Rows> result;
  result.push_back(read_out(messages, hidden_, nodes));
  result.push_back(read_out(messages, second, nodes));
  return result;
}

}  // namespace dgat::study
