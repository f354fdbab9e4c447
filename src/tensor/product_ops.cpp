#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"

namespace dgat::tensor {
namespace {

template <class T>
Matrix<T> transposed_copy(const Matrix<T>& a) {
  constexpr int64_t kTile = 32;
  Matrix<T> out(a.cols(), a.rows());
  parallel_for(a.cols(), kTile, [&](int64_t begin, int64_t end) {
    for (int64_t tile = 0; tile < a.rows(); tile += kTile) {
      const int64_t tile_end = std::min(tile + kTile, a.rows());
      for (int64_t j = begin; j < end; ++j) {
        for (int64_t i = tile; i < tile_end; ++i) out(j, i) = a(i, j);
      }
    }
  });
  return out;
}

/// matmul() of a square constant that every rank has whole and split rows. Every rank computes the
/// whole product: such a matrix is that of a small graph.
template <class T>
Var<T> matmul_split_right(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  const dist::RowShare& share = b.share();
  expects(!a.share() && !a.wants_gradient() && a.rows() == a.cols() && a.rows() == share.all(),
          "matmul: a split right side has a constant square left side");
  Matrix<T> out(a.rows(), b.cols());
  multiply_into(a.value(), all_rows(share, b.value()), out);
  return tape.record(
      tape.constant(own_rows(share, out), share), {b},
      [a, share, slot = b.slot()](Tape<T>& t, const Matrix<T>& g) {
        const auto into = t.target(slot, g.rows(), g.cols());
        Matrix<T> d = into.fresh ? Matrix<T>(a.cols(), g.cols()) : all_rows(share, into.gradient);
        transposed_multiply_into(a.value(), all_rows(share, g), d, {.accumulate = !into.fresh});
        into.gradient = own_rows(share, d);
      });
}

}  // namespace

template <class T>
Var<T> linear(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias) {
  // What is read of x here, or made of it again, may be freed in between.
  const auto make = [x = x.for_backward(), weight, bias, precision = tape.options().precision] {
    Matrix<T> out(x.rows(), weight.rows());
    multiply_transposed_into(x.value(), weight.value(), out,
                             {.share = x.share(), .precision = precision},
                             bias ? &bias.value() : nullptr);
    return out;
  };
  return tape.record(
      make(), {x, weight, bias},
      [x = x.for_backward(), weight, bias_slot = bias.slot()](Tape<T>& t, const Matrix<T>& g) {
        const auto options = [&](bool fresh) -> ProductOptions {
          return {.accumulate = !fresh, .share = x.share(), .precision = t.options().precision};
        };
        if (bias_slot >= 0) {
          const auto into = t.target(bias_slot, 1, g.cols());
          column_sums_into(g, into.gradient, !into.fresh, x.share());
        }
        if (weight.wants_gradient()) {
          const auto into = t.target(weight.slot(), weight.rows(), weight.cols());
          transposed_multiply_into(g, x.value(), into.gradient, options(into.fresh));
        }
        if (x.wants_gradient()) {
          const auto into = t.target(x.slot(), x.rows(), x.cols());
          multiply_into(g, weight.value(), into.gradient, options(into.fresh));
        }
      },
      make);
}

template <class T>
Var<T> matmul(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  if (b.share()) return matmul_split_right(tape, a, b);
  Matrix<T> out(a.rows(), b.cols());
  multiply_into(a.value(), b.value(), out, {.share = a.share()});
  return tape.record(std::move(out), {a, b}, [a, b](Tape<T>& t, const Matrix<T>& g) {
    if (a.wants_gradient()) {
      const auto into = t.target(a.slot(), a.rows(), a.cols());
      multiply_transposed_into(g, b.value(), into.gradient,
                               {.accumulate = !into.fresh, .share = a.share()});
    }
    if (b.wants_gradient()) {
      const auto into = t.target(b.slot(), b.rows(), b.cols());
      transposed_multiply_into(a.value(), g, into.gradient,
                               {.accumulate = !into.fresh, .share = a.share()});
    }
  });
}

template <class T>
Var<T> transpose(Tape<T>& tape, const Var<T>& a) {
  return tape.record(transposed_copy(a.value()), {a},
                     [slot = a.slot()](Tape<T>& t, const Matrix<T>& g) {
                       t.accumulate(slot, transposed_copy(g));
                     });
}

#define DGAT_INSTANTIATE(T)                                                      \
  template Var<T> linear(Tape<T>&, const Var<T>&, const Var<T>&, const Var<T>&); \
  template Var<T> matmul(Tape<T>&, const Var<T>&, const Var<T>&);                \
  template Var<T> transpose(Tape<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
