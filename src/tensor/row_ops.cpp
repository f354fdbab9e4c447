#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "kernels/kernels.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

/// body(i) for every row, in parallel.
template <class Body>
void for_rows(int64_t rows, int64_t cols, const Body& body) {
  parallel_for(rows, row_grain(rows, cols), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) body(i);
  });
}

/// out = x - log(sum(exp(x))) for one row.
template <class T>
void log_softmax_row(const T* x, T* out, int64_t n) {
  const T largest = *std::max_element(x, x + n);
  double sum = 0;
  for (int64_t c = 0; c < n; ++c) sum += std::exp(static_cast<double>(x[c] - largest));
  const T shift = largest + static_cast<T>(std::log(sum));
  for (int64_t c = 0; c < n; ++c) out[c] = x[c] - shift;
}

}  // namespace

template <class T>
Var<T> softmax(Tape<T>& tape, const Var<T>& x) {
  const int64_t cols = x.cols();
  expects(cols > 0, "softmax: at least one column");
  Matrix<T> out(x.rows(), cols);
  for_rows(x.rows(), cols, [&](int64_t i) {
    T* y = out.row(i);
    log_softmax_row(x.value().row(i), y, cols);
    for (int64_t c = 0; c < cols; ++c) y[c] = std::exp(y[c]);
  });
  const Var<T> result = tape.constant(std::move(out), x.share());
  return tape.record(result, {x}, [result, slot = x.slot(), cols](Tape<T>& t, Matrix<T> g) {
    for_rows(g.rows(), cols, [&](int64_t i) {
      const T* y = result.value().row(i);
      T* d = g.row(i);
      T mean = 0;
      for (int64_t c = 0; c < cols; ++c) mean += y[c] * d[c];
      for (int64_t c = 0; c < cols; ++c) d[c] = y[c] * (d[c] - mean);
    });
    t.accumulate(slot, std::move(g));
  });
}

template <class T>
Var<T> log_softmax(Tape<T>& tape, const Var<T>& x) {
  const int64_t cols = x.cols();
  expects(cols > 0, "log_softmax: at least one column");
  Matrix<T> out(x.rows(), cols);
  for_rows(x.rows(), cols, [&](int64_t i) { log_softmax_row(x.value().row(i), out.row(i), cols); });
  const Var<T> result = tape.constant(std::move(out), x.share());
  return tape.record(result, {x}, [result, slot = x.slot(), cols](Tape<T>& t, Matrix<T> g) {
    for_rows(g.rows(), cols, [&](int64_t i) {
      const T* y = result.value().row(i);
      T* d = g.row(i);
      T sum = 0;
      for (int64_t c = 0; c < cols; ++c) sum += d[c];
      for (int64_t c = 0; c < cols; ++c) d[c] -= std::exp(y[c]) * sum;
    });
    t.accumulate(slot, std::move(g));
  });
}

template <class T>
Var<T> layer_norm(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
                  double epsilon) {
  const int64_t rows = x.rows(), cols = x.cols();
  expects(weight.value().size() == cols && bias.value().size() == cols,
          "layer_norm: one weight and bias per column");
  Matrix<T> stats(rows, 2);
  const auto apply = [x = x.for_backward(), weight, bias, epsilon](Matrix<T>& numbers) {
    const Matrix<T>& from = x.value();
    Matrix<T> out(from.rows(), from.cols());
    parallel_for(out.rows(), row_grain(out.rows(), out.cols()), [&](int64_t begin, int64_t end) {
      kernels<T>().layer_norm(from.row(begin), weight.value().data(), bias.value().data(),
                              static_cast<T>(epsilon), out.row(begin), numbers.row(begin),
                              end - begin, out.cols());
    });
    return out;
  };
  Matrix<T> out = apply(stats);
  return tape.record(
      std::move(out), {x, weight, bias},
      [x = x.for_backward(), weight, bias_slot = bias.slot(), stats = std::move(stats)](
          Tape<T>& t, const Matrix<T>& g) {
        const dist::RowShare& share = x.share();
        const int64_t n = g.rows(), m = g.cols(), all = share ? share.all() : n;
        const int64_t grain = row_grain(all, m);
        Matrix<T> unused;
        const auto into =
            x.wants_gradient() ? t.target(x.slot(), n, m) : typename Tape<T>::Target{unused, true};
        if (!x.wants_gradient()) unused = Matrix<T>(n, m);
        // Gradients of weight and bias per block, side by side.
        const auto backward = [&](const Matrix<T>& from, const Matrix<T>& numbers,
                                  const Matrix<T>& above, Matrix<T>& gradient, int64_t blocks) {
          Matrix<T> partial = Matrix<T>::zeros(blocks, 2 * m);
          parallel_blocks(from.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
            T* sums = partial.row(block);
            kernels<T>().layer_norm_backward(
                from.row(begin), weight.value().data(), numbers.row(begin), above.row(begin),
                gradient.row(begin), !into.fresh, sums, sums + m, end - begin, m);
          });
          return partial;
        };
        Matrix<T> partial;
        if (share && all > 0) {
          const BlockRows blocks(share, grain);
          Matrix<T> x_room, stats_room, g_room;
          Matrix<T> gradient = blocks.in(std::move(into.gradient));
          partial = all_rows(*share.ranks, blocks.blocks(),
                             backward(blocks.in(x.value(), x_room), blocks.in(stats, stats_room),
                                      blocks.in(g, g_room), gradient, blocks.own_blocks()));
          into.gradient = blocks.back(std::move(gradient));
        } else {
          partial = backward(x.value(), stats, g, into.gradient, block_count(n, grain));
        }
        Matrix<T> sums(1, 2 * m), dweight(1, m), dbias(1, m);
        column_sums_into(partial, sums);
        std::copy(sums.data(), sums.data() + m, dweight.data());
        std::copy(sums.data() + m, sums.data() + 2 * m, dbias.data());
        t.accumulate(weight.slot(), std::move(dweight));
        t.accumulate(bias_slot, std::move(dbias));
      },
      [apply, rows] {
        Matrix<T> unused(rows, 2);
        return apply(unused);
      });
}

template <class T>
Var<T> head_dots(Tape<T>& tape, const Var<T>& x, const Var<T>& a) {
  const int64_t heads = a.rows(), d = a.cols(), n = x.rows();
  expects(x.cols() == heads * d, "head_dots: a head owns a slice of the columns");
  Matrix<T> out(n, heads);
  parallel_for(n, row_grain(n, x.cols()), [&](int64_t begin, int64_t end) {
    kernels<T>().head_dots(x.value().row(begin), a.value().data(), heads, d, end - begin,
                           out.row(begin));
  });
  return tape.record(std::move(out), {x, a}, [x, a, heads, d, n](Tape<T>& t, const Matrix<T>& g) {
    const dist::RowShare& share = x.share();
    const int64_t all = share ? share.all() : n, grain = row_grain(all, heads * d);
    Matrix<T> unused;
    const auto into = x.wants_gradient() ? t.target(x.slot(), n, heads * d)
                                         : typename Tape<T>::Target{unused, true};
    if (!x.wants_gradient()) unused = Matrix<T>(n, heads * d);
    // Gradients of a per block.
    const auto backward = [&](const Matrix<T>& from, const Matrix<T>& above, Matrix<T>& gradient,
                              int64_t blocks) {
      Matrix<T> partial = Matrix<T>::zeros(blocks, heads * d);
      parallel_blocks(from.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
        kernels<T>().head_dots_backward(from.row(begin), a.value().data(), above.row(begin), heads,
                                        d, end - begin, !into.fresh, gradient.row(begin),
                                        partial.row(block));
      });
      return partial;
    };
    Matrix<T> partial;
    if (share) {
      const BlockRows blocks(share, grain);
      Matrix<T> x_room, g_room, gradient = blocks.in(std::move(into.gradient));
      partial = all_rows(*share.ranks, blocks.blocks(),
                         backward(blocks.in(x.value(), x_room), blocks.in(g, g_room), gradient,
                                  blocks.own_blocks()));
      into.gradient = blocks.back(std::move(gradient));
    } else {
      partial = backward(x.value(), g, into.gradient, block_count(n, grain));
    }
    Matrix<T> sums(1, heads * d), da(heads, d);
    column_sums_into(partial, sums);
    std::copy(sums.data(), sums.data() + sums.size(), da.data());
    t.accumulate(a.slot(), std::move(da));
  });
}

template <class T>
Var<T> row_l2_normalize(Tape<T>& tape, const Var<T>& x, double epsilon) {
  const int64_t cols = x.cols();
  Matrix<T> out(x.rows(), cols), inverse(x.rows(), 1);
  for_rows(x.rows(), cols, [&](int64_t i) {
    const T* from = x.value().row(i);
    double squares = 0;
    for (int64_t c = 0; c < cols; ++c) squares += static_cast<double>(from[c]) * from[c];
    const double norm = std::sqrt(squares);
    // Negative marks a row below epsilon, where the map is linear.
    inverse(i, 0) = static_cast<T>(norm > epsilon ? 1 / norm : -1 / epsilon);
    const T factor = std::abs(inverse(i, 0));
    for (int64_t c = 0; c < cols; ++c) out(i, c) = from[c] * factor;
  });
  const Var<T> result = tape.constant(std::move(out), x.share());
  return tape.record(
      result, {x},
      [result, slot = x.slot(), cols, inverse = std::move(inverse)](Tape<T>& t, Matrix<T> g) {
        for_rows(g.rows(), cols, [&](int64_t i) {
          const T* y = result.value().row(i);
          T* d = g.row(i);
          T along = 0;
          for (int64_t c = 0; c < cols; ++c) along += y[c] * d[c];
          const T factor = inverse(i, 0);
          if (factor < 0) along = 0;
          for (int64_t c = 0; c < cols; ++c) d[c] = std::abs(factor) * (d[c] - y[c] * along);
        });
        t.accumulate(slot, std::move(g));
      });
}

#define DGAT_INSTANTIATE(T)                                                                  \
  template Var<T> softmax(Tape<T>&, const Var<T>&);                                          \
  template Var<T> log_softmax(Tape<T>&, const Var<T>&);                                      \
  template Var<T> layer_norm(Tape<T>&, const Var<T>&, const Var<T>&, const Var<T>&, double); \
  template Var<T> head_dots(Tape<T>&, const Var<T>&, const Var<T>&);                         \
  template Var<T> row_l2_normalize(Tape<T>&, const Var<T>&, double)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
