#include <memory>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"

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

/// Of y = x W^T + b, given dy: dW = dy^T x and the column sums of dy. Nothing in the pass waits for
/// them, so that another thread may compute them.
template <class T>
void fill_parameter_gradients(Tape<T>& tape, const std::shared_ptr<const Matrix<T>>& dy,
                              const Var<T>& x, int32_t weight_slot, int32_t bias_slot) {
  constexpr int64_t kWorthHandingOver = 1 << 16;  // multiply-adds: one or two microseconds
  struct Into {
    Matrix<T>* gradient = nullptr;
    bool accumulate = false;
  };
  const auto target = [&](int32_t slot, int64_t rows, int64_t cols) {
    if (slot < 0) return Into{};
    const auto into = tape.target(slot, rows, cols);
    return Into{&into.gradient, !into.fresh};
  };
  const Into bias = target(bias_slot, 1, dy->cols());
  const Into weight = target(weight_slot, dy->cols(), x.cols());
  const auto fill = [dy, x, bias, weight] {
    if (bias.gradient != nullptr) column_sums_into(*dy, *bias.gradient, bias.accumulate);
    if (weight.gradient != nullptr) {
      transposed_multiply_into(*dy, x.value(), *weight.gradient, weight.accumulate);
    }
  };
  if (tape.may_go_aside(weight_slot) && (bias_slot < 0 || tape.may_go_aside(bias_slot)) &&
      dy->size() * x.cols() >= kWorthHandingOver) {
    tape.aside({weight_slot, bias_slot}, fill);
  } else {
    fill();
  }
}

}  // namespace

template <class T>
Var<T> linear(Tape<T>& tape, const Var<T>& x, const Var<T>& weight, const Var<T>& bias,
              Matrix<T> known) {
  Matrix<T> out = std::move(known);
  if (out.empty()) {
    out = Matrix<T>(x.rows(), weight.rows());
    multiply_transposed_into(x.value(), weight.value(), out, false, bias ? &bias.value() : nullptr);
  }
  expects(out.rows() == x.rows() && out.cols() == weight.rows(),
          "linear: a known value has the shape of the product");
  return tape.record(std::move(out), {x, weight, bias},
                     [x, weight, bias_slot = bias.slot()](Tape<T>& t, Matrix<T> gradient) {
                       const auto g = std::make_shared<const Matrix<T>>(std::move(gradient));
                       fill_parameter_gradients(t, g, x, weight.slot(), bias_slot);
                       if (x.wants_gradient()) {
                         const auto into = t.target(x.slot(), x.rows(), x.cols());
                         multiply_into(*g, weight.value(), into.gradient, !into.fresh);
                       }
                     });
}

template <class T>
Var<T> matmul(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  Matrix<T> out(a.rows(), b.cols());
  multiply_into(a.value(), b.value(), out);
  return tape.record(std::move(out), {a, b}, [a, b](Tape<T>& t, const Matrix<T>& g) {
    if (a.wants_gradient()) {
      const auto into = t.target(a.slot(), a.rows(), a.cols());
      multiply_transposed_into(g, b.value(), into.gradient, !into.fresh);
    }
    if (b.wants_gradient()) {
      const auto into = t.target(b.slot(), b.rows(), b.cols());
      transposed_multiply_into(a.value(), g, into.gradient, !into.fresh);
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

#define DGAT_INSTANTIATE(T)                                                                 \
  template Var<T> linear(Tape<T>&, const Var<T>&, const Var<T>&, const Var<T>&, Matrix<T>); \
  template Var<T> matmul(Tape<T>&, const Var<T>&, const Var<T>&);                           \
  template Var<T> transpose(Tape<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
