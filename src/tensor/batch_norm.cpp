#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "dropout_mask.h"
#include "kernels/kernels.h"
#include "row_grain.h"

namespace dgat::tensor {

/// Mean and 1 / sqrt(variance + epsilon) of the columns.
template <class T>
struct ColumnStatistics {
  Matrix<T> mean, scale;
  ColumnNorm<T> with(const Var<T>& weight, const Var<T>& bias) const {
    return {mean.data(), scale.data(), weight.value().data(), bias.value().data()};
  }
};

namespace {

/// Column sums [1, cols] over all ranks of what body(begin, end, sums, matrices...) adds for rows
/// [begin, end) of these matrices, blocks in order.
template <class T, class Body, class... Matrices>
Matrix<T> block_sums(const dist::RowShare& share, const Body& body, const Matrix<T>& x,
                     const Matrices&... more) {
  const int64_t cols = x.cols(), all = share ? share.all() : x.rows();
  const int64_t grain = row_grain(all, cols);
  const auto partial_sums = [&](int64_t count, const Matrix<T>& rows, const Matrices&... others) {
    Matrix<T> partial = Matrix<T>::zeros(count, cols);
    parallel_blocks(rows.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
      body(begin, end, partial.row(block), rows, others...);
    });
    return partial;
  };
  Matrix<T> out(1, cols);
  if (!share) {
    column_sums_into(partial_sums(block_count(all, grain), x, more...), out);
    return out;
  }
  const BlockRows blocks(share, grain);
  const auto in_blocks = [&](const Matrix<T>& rows) { return blocks.in(rows.clone()); };
  column_sums_into(all_rows(*share.ranks, blocks.blocks(),
                            partial_sums(blocks.own_blocks(), in_blocks(x), in_blocks(more)...)),
                   out);
  return out;
}

template <class T>
Matrix<T> column_sums(const dist::RowShare& share, const Matrix<T>& x) {
  return block_sums(
      share,
      [](int64_t begin, int64_t end, T* sums, const Matrix<T>& rows) {
        for (int64_t i = begin; i < end; ++i) {
          for (int64_t c = 0; c < rows.cols(); ++c) sums[c] += rows(i, c);
        }
      },
      x);
}

int64_t rows_on_all_ranks(const dist::RowShare& share, int64_t rows) {
  return share ? share.all() : rows;
}

/// Those of the batch, from its column sums; moves the running ones.
template <class T>
ColumnStatistics<T> batch_statistics(const dist::RowShare& share, const Matrix<T>& x,
                                     Matrix<T> sums, BatchNormState<T>& state, double epsilon) {
  const int64_t cols = x.cols();
  const T count = static_cast<T>(rows_on_all_ranks(share, x.rows())),
          momentum = static_cast<T>(state.momentum);
  ColumnStatistics<T> result{std::move(sums), Matrix<T>(1, cols)};
  for (T& value : result.mean.values()) value /= count;
  const Matrix<T> squares = block_sums(
      share,
      [&](int64_t begin, int64_t end, T* into, const Matrix<T>& rows) {
        kernels<T>().add_squares(rows.row(begin), result.mean.data(), into, end - begin, cols);
      },
      x);
  for (int64_t c = 0; c < cols; ++c) {
    const T unbiased = squares(0, c) / std::max(T{1}, count - T{1});
    state.mean(0, c) += momentum * (result.mean(0, c) - state.mean(0, c));
    state.variance(0, c) += momentum * (unbiased - state.variance(0, c));
    result.scale(0, c) = T{1} / std::sqrt(squares(0, c) / count + static_cast<T>(epsilon));
  }
  return result;
}

template <class T>
ColumnStatistics<T> running_statistics(const BatchNormState<T>& state, double epsilon) {
  ColumnStatistics<T> result{state.mean.clone(), Matrix<T>(1, state.mean.cols())};
  for (int64_t c = 0; c < state.mean.cols(); ++c) {
    result.scale(0, c) = T{1} / std::sqrt(state.variance(0, c) + static_cast<T>(epsilon));
  }
  return result;
}

template <class T>
void prepare(BatchNormState<T>& state, const Var<T>& x, const Var<T>& weight, const Var<T>& bias) {
  const int64_t cols = x.cols();
  expects(x.rows() > 0 && weight.value().size() == cols && bias.value().size() == cols,
          "batch_norm: one weight and bias per column");
  if (!state.mean.empty()) return;
  state.mean = Matrix<T>::zeros(1, cols);
  state.variance = Matrix<T>::filled(1, cols, T{1});
}

/// Turns the gradient behind a batch norm into that of x.
template <class T>
void norm_backward(const Var<T>& of, const ColumnNorm<T>& norm, const Matrix<T>& dweight,
                   const Matrix<T>& dbias, Matrix<T>& g) {
  const Matrix<T>& x = of.value();
  const T count = static_cast<T>(rows_on_all_ranks(of.share(), g.rows()));
  parallel_for(g.rows(), row_grain(g.rows(), g.cols()), [&](int64_t begin, int64_t end) {
    kernels<T>().norm_backward(x.row(begin), norm, dweight.data(), dbias.data(), count,
                               g.row(begin), end - begin, g.cols());
  });
}

/// a + b, and its column sums where they are wanted.
template <class T>
struct Sum {
  Var<T> value;
  Matrix<T> columns;
};
template <class T>
Sum<T> sum_of(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  const dist::RowShare& share = a.share();
  if (!b) return {a, tape.training() ? column_sums(share, a.value()) : Matrix<T>()};
  expects(a.value().same_shape(b.value()), "batch_norm_relu_dropout: equal shapes");
  const int64_t cols = a.cols(), grain = row_grain(rows_on_all_ranks(share, a.rows()), cols);
  const auto add_in_blocks = [&](const Matrix<T>& left, const Matrix<T>& right, int64_t count,
                                 Matrix<T>& out) {
    Matrix<T> partial = Matrix<T>::zeros(count, cols);
    parallel_blocks(left.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
      kernels<T>().add_rows(left.row(begin), right.row(begin), out.row(begin), partial.row(block),
                            end - begin, cols);
    });
    return partial;
  };
  Matrix<T> columns(1, cols);
  if (!share) {
    Matrix<T> out(a.rows(), cols);
    column_sums_into(add_in_blocks(a.value(), b.value(), block_count(a.rows(), grain), out),
                     columns);
    return {tape.constant(std::move(out)), std::move(columns)};
  }
  const BlockRows blocks(share, grain);
  Matrix<T> a_room, b_room, out(blocks.rows(), cols);
  const Matrix<T> partial = add_in_blocks(blocks.in(a.value(), a_room),
                                          blocks.in(b.value(), b_room), blocks.own_blocks(), out);
  column_sums_into(all_rows(*share.ranks, blocks.blocks(), partial), columns);
  return {tape.constant(blocks.back(std::move(out)), share), std::move(columns)};
}

/// The sums of the way back through norm, ReLU and dropout: gradients of weight and bias. Leaves in
/// g its gradient before the ReLU.
template <class T>
struct BackwardSums {
  Matrix<T> weight, bias;
};
template <class T>
BackwardSums<T> relu_backward_sums(const Matrix<T>& result, const Var<T>& x,
                                   const ColumnNorm<T>& norm, T factor, Matrix<T>& g) {
  const dist::RowShare& share = x.share();
  const int64_t cols = g.cols(), grain = row_grain(rows_on_all_ranks(share, g.rows()), cols);
  const auto sum_in_blocks = [&](const Matrix<T>& y, const Matrix<T>& from, Matrix<T>& gradient,
                                 int64_t count) {
    BackwardSums<T> sums{Matrix<T>::zeros(count, cols), Matrix<T>::zeros(count, cols)};
    parallel_blocks(gradient.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
      kernels<T>().norm_relu_backward_sums(y.row(begin), from.row(begin), norm, factor,
                                           gradient.row(begin), sums.weight.row(block),
                                           sums.bias.row(block), end - begin, cols);
    });
    return sums;
  };
  BackwardSums<T> partial;
  if (!share) {
    partial = sum_in_blocks(result, x.value(), g, block_count(g.rows(), grain));
  } else {
    const BlockRows blocks(share, grain);
    Matrix<T> y_room, x_room, gradient = blocks.in(std::move(g));
    partial = sum_in_blocks(blocks.in(result, y_room), blocks.in(x.value(), x_room), gradient,
                            blocks.own_blocks());
    g = blocks.back(std::move(gradient));
    partial.weight = all_rows(*share.ranks, blocks.blocks(), partial.weight);
    partial.bias = all_rows(*share.ranks, blocks.blocks(), partial.bias);
  }
  BackwardSums<T> sums{Matrix<T>(1, cols), Matrix<T>(1, cols)};
  column_sums_into(partial.weight, sums.weight);
  column_sums_into(partial.bias, sums.bias);
  return sums;
}

}  // namespace

template <class T>
Var<T> batch_norm(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                  BatchNormState<T>& state, double epsilon) {
  prepare(state, x, weight, bias);
  ColumnStatistics<T> statistics =
      tape.training() ? batch_statistics(x.share(), x.value(), column_sums(x.share(), x.value()),
                                         state, epsilon)
                      : running_statistics(state, epsilon);
  const ColumnNorm<T> norm = statistics.with(weight, bias);
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(x.rows(), row_grain(x.rows(), x.cols()), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x.value().row(i);
      T* to = out.row(i);
      for (int64_t c = 0; c < out.cols(); ++c) {
        to[c] = (from[c] - norm.mean[c]) * norm.scale[c] * norm.weight[c] + norm.bias[c];
      }
    }
  });
  return tape.record(
      std::move(out), {x, weight, bias},
      [x, weight, bias, statistics = std::move(statistics)](Tape<T>& t, Matrix<T> g) {
        const ColumnNorm<T> used = statistics.with(weight, bias);
        Matrix<T> dbias = column_sums(x.share(), g);
        Matrix<T> dweight = block_sums(
            x.share(),
            [&](int64_t begin, int64_t end, T* sums, const Matrix<T>& above,
                const Matrix<T>& from) {
              for (int64_t i = begin; i < end; ++i) {
                for (int64_t c = 0; c < above.cols(); ++c) {
                  sums[c] += above(i, c) * ((from(i, c) - used.mean[c]) * used.scale[c]);
                }
              }
            },
            g, x.value());
        if (x.wants_gradient()) {
          norm_backward(x, used, dweight, dbias, g);
          t.accumulate(x.slot(), std::move(g));
        }
        t.accumulate(weight.slot(), std::move(dweight));
        t.accumulate(bias.slot(), std::move(dbias));
      });
}

template <class T>
Var<T> batch_norm_relu_dropout(Tape<T>& tape, const Var<T>& a, const Var<T>& b,
                               const Var<T>& weight, const Var<T>& bias, BatchNormState<T>& state,
                               double p, double epsilon) {
  prepare(state, a, weight, bias);
  Sum<T> sum = sum_of(tape, a, b);
  const Var<T> x = sum.value;
  ColumnStatistics<T> statistics =
      tape.training()
          ? batch_statistics(x.share(), x.value(), std::move(sum.columns), state, epsilon)
          : running_statistics(state, epsilon);
  const bool drops = tape.training() && p > 0;
  const DropoutMask mask = drops ? next_dropout_mask(tape, p) : DropoutMask{};
  const int64_t at = first_position(x);
  Matrix<T> out(x.rows(), x.cols());
  constexpr int64_t kGrain = 1 << 13;  // a multiple of 64, as the dropout kernels need
  parallel_for(out.size(), kGrain, [&](int64_t begin, int64_t end) {
    kernels<T>().norm_relu_dropout(mask, at + begin, x.value().data() + begin,
                                   statistics.with(weight, bias), out.data() + begin, end - begin,
                                   out.cols());
  });
  const Var<T> result = tape.constant(std::move(out), x.share());
  return tape.record(result, {a, b, weight, bias},
                     [result, x, a_slot = a.slot(), b_slot = b.slot(), weight, bias,
                      factor = static_cast<T>(mask.scale),
                      statistics = std::move(statistics)](Tape<T>& t, Matrix<T> g) {
                       const ColumnNorm<T> norm = statistics.with(weight, bias);
                       auto [dweight, dbias] =
                           relu_backward_sums(result.value(), x, norm, factor, g);
                       if (a_slot >= 0 || b_slot >= 0) {
                         norm_backward(x, norm, dweight, dbias, g);
                         if (a_slot >= 0 && b_slot >= 0) t.accumulate(b_slot, g.clone());
                         t.accumulate(a_slot >= 0 ? a_slot : b_slot, std::move(g));
                       }
                       t.accumulate(weight.slot(), std::move(dweight));
                       t.accumulate(bias.slot(), std::move(dbias));
                     });
}

#define DGAT_INSTANTIATE(T)                                                                      \
  template Var<T> batch_norm(Tape<T>&, const Var<T>&, const Var<T>&, const Var<T>&,              \
                             BatchNormState<T>&, double);                                        \
  template Var<T> batch_norm_relu_dropout(Tape<T>&, const Var<T>&, const Var<T>&, const Var<T>&, \
                                          const Var<T>&, BatchNormState<T>&, double, double)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
