#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
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
  const Var<T> result = tape.constant(std::move(out));
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
  const Var<T> result = tape.constant(std::move(out));
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
  Matrix<T> out(rows, cols), stats(rows, 2);
  parallel_for(rows, row_grain(rows, cols), [&](int64_t begin, int64_t end) {
    kernels<T>().layer_norm(x.value().row(begin), weight.value().data(), bias.value().data(),
                            static_cast<T>(epsilon), out.row(begin), stats.row(begin), end - begin,
                            cols);
  });
  return tape.record(
      std::move(out), {x, weight, bias},
      [x, weight, bias_slot = bias.slot(), stats = std::move(stats)](Tape<T>& t,
                                                                     const Matrix<T>& g) {
        const int64_t n = g.rows(), m = g.cols(), grain = row_grain(n, m);
        // Gradients of weight and bias per block, side by side.
        Matrix<T> partial = Matrix<T>::zeros(block_count(n, grain), 2 * m);
        Matrix<T> unused;
        const auto into =
            x.wants_gradient() ? t.target(x.slot(), n, m) : typename Tape<T>::Target{unused, true};
        if (!x.wants_gradient()) unused = Matrix<T>(n, m);
        parallel_blocks(n, grain, [&](int64_t block, int64_t begin, int64_t end) {
          T* sums = partial.row(block);
          kernels<T>().layer_norm_backward(x.value().row(begin), weight.value().data(),
                                           stats.row(begin), g.row(begin), into.gradient.row(begin),
                                           !into.fresh, sums, sums + m, end - begin, m);
        });
        Matrix<T> sums(1, 2 * m), dweight(1, m), dbias(1, m);
        column_sums_into(partial, sums);
        std::copy(sums.data(), sums.data() + m, dweight.data());
        std::copy(sums.data() + m, sums.data() + 2 * m, dbias.data());
        t.accumulate(weight.slot(), std::move(dweight));
        t.accumulate(bias_slot, std::move(dbias));
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
    const int64_t grain = row_grain(n, heads * d);
    Matrix<T> partial = Matrix<T>::zeros(block_count(n, grain), heads * d);
    Matrix<T> unused;
    const auto into = x.wants_gradient() ? t.target(x.slot(), n, heads * d)
                                         : typename Tape<T>::Target{unused, true};
    if (!x.wants_gradient()) unused = Matrix<T>(n, heads * d);
    parallel_blocks(n, grain, [&](int64_t block, int64_t begin, int64_t end) {
      kernels<T>().head_dots_backward(x.value().row(begin), a.value().data(), g.row(begin), heads,
                                      d, end - begin, !into.fresh, into.gradient.row(begin),
                                      partial.row(block));
    });
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
  const Var<T> result = tape.constant(std::move(out));
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
