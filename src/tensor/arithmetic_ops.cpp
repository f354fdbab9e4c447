#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "row_grain.h"
#include "scale_in_place.h"

namespace dgat::tensor {
namespace {

constexpr int64_t kArithmeticGrain = 1 << 15;

/// out[i] = f(i) for every entry of a rows x cols matrix.
template <class T, class F>
Matrix<T> entries(int64_t rows, int64_t cols, const F& f) {
  Matrix<T> out(rows, cols);
  parallel_for(out.size(), kArithmeticGrain, [&](int64_t begin, int64_t end) {
    T* y = out.data();
    for (int64_t i = begin; i < end; ++i) y[i] = f(i);
  });
  return out;
}

template <class T>
double dot(const T* a, const T* b, int64_t begin, int64_t end) {
  double sum = 0;
  for (int64_t i = begin; i < end; ++i) {
    sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  }
  return sum;
}

/// The sum over all entries of a times b, whose rows may be split.
template <class T>
double dot(const Matrix<T>& a, const Matrix<T>& b, const dist::RowShare& share) {
  if (!share) {
    return parallel_sum<double>(a.size(), kArithmeticGrain, [&](int64_t begin, int64_t end) {
      return dot(a.data(), b.data(), begin, end);
    });
  }
  dist::RowSplit entries = *share.rows;  // the blocks count entries, not rows
  for (int64_t& offset : entries.offsets) offset *= a.cols();
  const BlockRows blocks(dist::share_of(*share.ranks, entries), kArithmeticGrain);
  const auto in_blocks = [&](const Matrix<T>& x) {
    Matrix<T> column(x.size(), 1);
    std::copy_n(x.data(), x.size(), column.data());
    return blocks.in(std::move(column));
  };
  const Matrix<T> left = in_blocks(a), right = in_blocks(b);
  Matrix<double> partial(blocks.own_blocks(), 1);
  parallel_blocks(left.rows(), kArithmeticGrain, [&](int64_t block, int64_t begin, int64_t end) {
    partial(block, 0) = dot(left.data(), right.data(), begin, end);
  });
  double sum = 0;
  for (const double part : all_rows(*share.ranks, blocks.blocks(), partial).values()) sum += part;
  return sum;
}

}  // namespace

template <class T>
Var<T> add_bias(Tape<T>& tape, const Var<T>& x, const Var<T>& bias) {
  expects(bias.rows() == 1 && bias.cols() == x.cols(), "add_bias: one bias per column");
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.rows(), row_grain(out.rows(), out.cols()), [&](int64_t begin, int64_t end) {
    const T* b = bias.value().data();
    for (int64_t i = begin; i < end; ++i) {
      const T* from = x.value().row(i);
      T* to = out.row(i);
      for (int64_t c = 0; c < out.cols(); ++c) to[c] = from[c] + b[c];
    }
  });
  return tape.record(
      std::move(out), {x, bias},
      [x_slot = x.slot(), bias_slot = bias.slot(), share = x.share()](Tape<T>& t, Matrix<T> g) {
        if (bias_slot >= 0) {
          const auto into = t.target(bias_slot, 1, g.cols());
          column_sums_into(g, into.gradient, !into.fresh, share);
        }
        t.accumulate(x_slot, std::move(g));
      });
}

template <class T>
Var<T> multiply(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  expects(a.value().same_shape(b.value()), "multiply: equal shapes");
  const auto product = [](const Matrix<T>& x, const Matrix<T>& y) {
    return entries<T>(x.rows(), x.cols(),
                      [p = x.data(), q = y.data()](int64_t i) { return p[i] * q[i]; });
  };
  return tape.record(product(a.value(), b.value()), {a, b},
                     [a, b, product](Tape<T>& t, const Matrix<T>& g) {
                       if (a.wants_gradient()) t.accumulate(a.slot(), product(g, b.value()));
                       if (b.wants_gradient()) t.accumulate(b.slot(), product(g, a.value()));
                     });
}

template <class T>
Var<T> abs(Tape<T>& tape, const Var<T>& x) {
  return tape.record(
      entries<T>(x.rows(), x.cols(), [p = x.value().data()](int64_t i) { return std::abs(p[i]); }),
      {x}, [x](Tape<T>& t, const Matrix<T>& g) {
        t.accumulate(x.slot(), entries<T>(g.rows(), g.cols(),
                                          [p = x.value().data(), q = g.data()](int64_t i) {
                                            return p[i] > 0 ? q[i] : p[i] < 0 ? -q[i] : T{0};
                                          }));
      });
}

template <class T>
Var<T> scale(Tape<T>& tape, const Var<T>& x, double factor) {
  const T f = static_cast<T>(factor);
  return tape.record(
      entries<T>(x.rows(), x.cols(), [p = x.value().data(), f](int64_t i) { return p[i] * f; }),
      {x}, [slot = x.slot(), f](Tape<T>& t, Matrix<T> g) {
        scale_in_place(g, f);
        t.accumulate(slot, std::move(g));
      });
}

template <class T>
Var<T> scale_by(Tape<T>& tape, const Var<T>& x, const Var<T>& factor) {
  expects(factor.value().size() == 1, "scale_by: the factor is 1 x 1");
  const T f = factor.value()(0, 0);
  return tape.record(
      entries<T>(x.rows(), x.cols(), [p = x.value().data(), f](int64_t i) { return p[i] * f; }),
      {x, factor}, [x, f, factor_slot = factor.slot()](Tape<T>& t, Matrix<T> g) {
        if (factor_slot >= 0) {
          t.accumulate(factor_slot,
                       Matrix<T>::filled(1, 1, static_cast<T>(dot(g, x.value(), x.share()))));
        }
        if (!x.wants_gradient()) return;
        scale_in_place(g, f);
        t.accumulate(x.slot(), std::move(g));
      });
}

template <class T>
Var<T> scale_rows(Tape<T>& tape, const Var<T>& x, const Var<T>& factors) {
  expects(factors.rows() == x.rows() && factors.cols() == 1, "scale_rows: one factor per row");
  const int64_t cols = x.cols();
  const auto scaled = [cols](const Matrix<T>& from, const Matrix<T>& f) {
    Matrix<T> out(from.rows(), cols);
    parallel_for(out.rows(), row_grain(out.rows(), cols), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t c = 0; c < cols; ++c) out(i, c) = from(i, c) * f(i, 0);
      }
    });
    return out;
  };
  return tape.record(scaled(x.value(), factors.value()), {x, factors},
                     [x, factors, scaled, cols](Tape<T>& t, const Matrix<T>& g) {
                       if (x.wants_gradient()) t.accumulate(x.slot(), scaled(g, factors.value()));
                       if (!factors.wants_gradient()) return;
                       Matrix<T> d(g.rows(), 1);
                       parallel_for(g.rows(), row_grain(g.rows(), cols),
                                    [&](int64_t begin, int64_t end) {
                                      for (int64_t i = begin; i < end; ++i) {
                                        T sum = 0;
                                        for (int64_t c = 0; c < cols; ++c)
                                          sum += g(i, c) * x.value()(i, c);
                                        d(i, 0) = sum;
                                      }
                                    });
                       t.accumulate(factors.slot(), std::move(d));
                     });
}

template <class T>
Var<T> scale_columns(Tape<T>& tape, const Var<T>& x, const Var<T>& factors) {
  expects(factors.rows() == 1 && factors.cols() == x.cols(),
          "scale_columns: one factor per column");
  const auto scaled = [](const Matrix<T>& from, const Matrix<T>& f) {
    Matrix<T> out(from.rows(), from.cols());
    parallel_for(out.rows(), row_grain(out.rows(), out.cols()), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t c = 0; c < out.cols(); ++c) out(i, c) = from(i, c) * f(0, c);
      }
    });
    return out;
  };
  return tape.record(scaled(x.value(), factors.value()), {x, factors},
                     [x, factors, scaled](Tape<T>& t, const Matrix<T>& g) {
                       if (x.wants_gradient()) t.accumulate(x.slot(), scaled(g, factors.value()));
                       if (!factors.wants_gradient()) return;
                       const Matrix<T> products = entries<T>(
                           g.rows(), g.cols(),
                           [p = g.data(), q = x.value().data()](int64_t i) { return p[i] * q[i]; });
                       const auto into = t.target(factors.slot(), 1, g.cols());
                       column_sums_into(products, into.gradient, !into.fresh, x.share());
                     });
}

#define DGAT_INSTANTIATE(T)                                              \
  template Var<T> add_bias(Tape<T>&, const Var<T>&, const Var<T>&);      \
  template Var<T> multiply(Tape<T>&, const Var<T>&, const Var<T>&);      \
  template Var<T> scale(Tape<T>&, const Var<T>&, double);                \
  template Var<T> scale_by(Tape<T>&, const Var<T>&, const Var<T>&);      \
  template Var<T> abs(Tape<T>&, const Var<T>&);                          \
  template Var<T> scale_columns(Tape<T>&, const Var<T>&, const Var<T>&); \
  template Var<T> scale_rows(Tape<T>&, const Var<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
