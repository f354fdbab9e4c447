#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

/// out(0, c) = sum_i f(i, c), blocks added in order.
template <class T, class F>
Matrix<T> column_reduce(int64_t rows, int64_t cols, const F& f) {
  Matrix<T> partial = Matrix<T>::zeros(block_count(rows, row_grain(rows, cols)), cols),
            out(1, cols);
  parallel_blocks(rows, row_grain(rows, cols), [&](int64_t block, int64_t begin, int64_t end) {
    T* sum = partial.row(block);
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t c = 0; c < cols; ++c) sum[c] += f(i, c);
    }
  });
  column_sums_into(partial, out);
  return out;
}

template <class T, class F>
void for_entries(int64_t rows, int64_t cols, const F& f) {
  parallel_for(rows, row_grain(rows, cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t c = 0; c < cols; ++c) f(i, c);
    }
  });
}

}  // namespace

template <class T>
Var<T> batch_norm(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                  BatchNormState<T>& state, double epsilon) {
  const int64_t n = x.rows(), m = x.cols();
  expects(n > 0 && weight.value().size() == m && bias.value().size() == m,
          "batch_norm: one weight and bias per column");
  if (state.mean.empty()) {
    state.mean = Matrix<T>::zeros(1, m);
    state.variance = Matrix<T>::filled(1, m, T{1});
  }
  const bool batch = tape.training();
  const Matrix<T>& in = x.value();
  const T count = static_cast<T>(n);
  Matrix<T> mean, scale(1, m);
  if (batch) {
    mean = column_reduce<T>(n, m, [&](int64_t i, int64_t c) { return in(i, c); });
    for (T& value : mean.values()) value /= count;
    Matrix<T> variance = column_reduce<T>(n, m, [&](int64_t i, int64_t c) {
      const T d = in(i, c) - mean(0, c);
      return d * d;
    });
    const T momentum = static_cast<T>(state.momentum);
    for (int64_t c = 0; c < m; ++c) {
      const T unbiased = variance(0, c) / std::max(T{1}, count - T{1});
      state.mean(0, c) += momentum * (mean(0, c) - state.mean(0, c));
      state.variance(0, c) += momentum * (unbiased - state.variance(0, c));
      scale(0, c) = T{1} / std::sqrt(variance(0, c) / count + static_cast<T>(epsilon));
    }
  } else {
    mean = state.mean.clone();
    for (int64_t c = 0; c < m; ++c) {
      scale(0, c) = T{1} / std::sqrt(state.variance(0, c) + static_cast<T>(epsilon));
    }
  }
  Matrix<T> out(n, m);
  for_entries<T>(n, m, [&](int64_t i, int64_t c) {
    out(i, c) = (in(i, c) - mean(0, c)) * scale(0, c) * weight.value()(0, c) + bias.value()(0, c);
  });
  return tape.record(
      std::move(out), {x, weight, bias},
      [x, weight, bias_slot = bias.slot(), mean = std::move(mean), scale = std::move(scale), count](
          Tape<T>& t, Matrix<T> g) {
        const int64_t rows = g.rows(), cols = g.cols();
        const auto normal = [&](int64_t i, int64_t c) {
          return (x.value()(i, c) - mean(0, c)) * scale(0, c);
        };
        Matrix<T> dbias =
            column_reduce<T>(rows, cols, [&](int64_t i, int64_t c) { return g(i, c); });
        Matrix<T> dweight = column_reduce<T>(
            rows, cols, [&](int64_t i, int64_t c) { return g(i, c) * normal(i, c); });
        if (x.wants_gradient()) {
          for_entries<T>(rows, cols, [&](int64_t i, int64_t c) {
            g(i, c) = weight.value()(0, c) * scale(0, c) *
                      (g(i, c) - (dbias(0, c) + normal(i, c) * dweight(0, c)) / count);
          });
          t.accumulate(x.slot(), std::move(g));
        }
        t.accumulate(weight.slot(), std::move(dweight));
        t.accumulate(bias_slot, std::move(dbias));
      });
}

template Var<float> batch_norm(Tape<float>&, const Var<float>&, const Var<float>&,
                               const Var<float>&, BatchNormState<float>&, double);
template Var<double> batch_norm(Tape<double>&, const Var<double>&, const Var<double>&,
                                const Var<double>&, BatchNormState<double>&, double);

}  // namespace dgat::tensor
