#include <algorithm>
#include <functional>
#include <memory>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/ops.h"
#include "dropout_mask.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {

/// Numbers per block: small matrices keep two threads busy, large ones do not hand out crumbs. A
/// multiple of 64, as the dropout kernels need.
int64_t grain(int64_t numbers) {
  return numbers < 1 << 16 ? 1 << 12 : 1 << 14;
}

/// Multiplies a gradient by the mask, in place; its first entry is the one at position `at`.
template <class T>
void mask_in_place(const DropoutMask& mask, int64_t at, Matrix<T>& g) {
  parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
    dropout_at(mask, at + begin, g.data() + begin, g.data() + begin, end - begin);
  });
}

template <class T>
Matrix<T> sum_of(const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> out(a.rows(), a.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    const T *x = a.data(), *y = b.data();
    T* z = out.data();
    for (int64_t i = begin; i < end; ++i) z[i] = x[i] + y[i];
  });
  return out;
}

}  // namespace

template <class T>
Var<T> activate(Tape<T>& tape, const Var<T>& x, Activation activation, double slope) {
  Matrix<T> out(x.rows(), x.cols());
  const T negative = static_cast<T>(slope);
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().activate(activation, negative, x.value().data() + begin, out.data() + begin,
                          end - begin);
  });
  return tape.record(std::move(out), {x}, [x, activation, negative](Tape<T>& t, Matrix<T> g) {
    parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
      kernels<T>().activate_backward(activation, negative, x.value().data() + begin,
                                     g.data() + begin, end - begin);
    });
    t.accumulate(x.slot(), std::move(g));
  });
}

template <class T>
Var<T> dropout(Tape<T>& tape, const Var<T>& x, double p) {
  if (!tape.training() || p == 0) return x;
  const DropoutMask mask = next_dropout_mask(tape, p);
  const int64_t at = any_first_position(x);
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    dropout_at(mask, at + begin, x.value().data() + begin, out.data() + begin, end - begin);
  });
  return tape.record(std::move(out), {x}, [slot = x.slot(), mask, at](Tape<T>& t, Matrix<T> g) {
    mask_in_place(mask, at, g);
    t.accumulate(slot, std::move(g));
  });
}

template <class T>
Var<T> dropout_gelu(Tape<T>& tape, const Var<T>& x, double p) {
  if (!tape.training() || p == 0) return gelu(tape, x);
  const DropoutMask mask = next_dropout_mask(tape, p);
  const int64_t at = first_position(x);
  // The slope takes the place of x, which nothing else keeps. Where memory is saved, it comes again
  // with the value.
  const auto slope = std::make_shared<Matrix<T>>();
  const auto make = [x = x.for_backward(), mask, at, slope] {
    const Matrix<T>& from = x.value();
    Matrix<T> out(from.rows(), from.cols());
    *slope = Matrix<T>(from.rows(), from.cols());
    parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
      kernels<T>().dropout_gelu(mask, at + begin, from.data() + begin, out.data() + begin,
                                slope->data() + begin, end - begin);
    });
    return out;
  };
  Matrix<T> out = make();
  std::function<Matrix<T>()> again;  // empty where x need not be kept
  if (tape.saves_memory()) {
    *slope = Matrix<T>();
    again = [make, x = x.for_backward()] {
      Matrix<T> remade = make();
      x.forget();
      return remade;
    };
  }
  return tape.record(
      std::move(out), {x},
      [slot = x.slot(), slope, again](Tape<T>& t, Matrix<T> g) {
        if (slope->empty() && !g.empty()) again();
        parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
          T* gradient = g.data();
          const T* factor = slope->data();
          for (int64_t i = begin; i < end; ++i) gradient[i] *= factor[i];
        });
        t.accumulate(slot, std::move(g));
      },
      again);
}

template <class T>
Var<T> relu_dropout(Tape<T>& tape, const Var<T>& x, double p) {
  if (!tape.training() || p == 0) return activate(tape, x, Activation::kRelu);
  const DropoutMask mask = next_dropout_mask(tape, p);
  const int64_t at = first_position(x);
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().relu_dropout(mask, at + begin, x.value().data() + begin, out.data() + begin,
                              end - begin);
  });
  const Var<T> result = tape.constant(std::move(out), x.share());
  return tape.record(
      result, {x},
      [result, slot = x.slot(), factor = static_cast<T>(mask.scale)](Tape<T>& t, Matrix<T> g) {
        parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
          const T* y = result.value().data();
          for (int64_t i = begin; i < end; ++i) {
            g.data()[i] = y[i] > T{0} ? g.data()[i] * factor : T{0};
          }
        });
        t.accumulate(slot, std::move(g));
      });
}

template <class T>
Var<T> add_dropout(Tape<T>& tape, const Var<T>& x, const Var<T>& y, double p) {
  if (!tape.training() || p == 0) return add(tape, x, y);
  expects(x.value().same_shape(y.value()), "add_dropout: equal shapes");
  const DropoutMask mask = next_dropout_mask(tape, p);
  const int64_t at = first_position(x);
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().add_dropout(mask, at + begin, x.value().data() + begin, y.value().data() + begin,
                             out.data() + begin, end - begin);
  });
  return tape.record(std::move(out), {x, y},
                     [x_slot = x.slot(), y_slot = y.slot(), mask, at](Tape<T>& t, Matrix<T> g) {
                       if (y_slot >= 0) {
                         Matrix<T> masked(g.rows(), g.cols());
                         parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
                           kernels<T>().dropout(mask, at + begin, g.data() + begin,
                                                masked.data() + begin, end - begin);
                         });
                         t.accumulate(y_slot, std::move(masked));
                       }
                       t.accumulate(x_slot, std::move(g));
                     });
}

template <class T>
Var<T> add(Tape<T>& tape, const Var<T>& a, const Var<T>& b) {
  expects(a.value().same_shape(b.value()), "add: equal shapes");
  return tape.record(sum_of(a.value(), b.value()), {a, b},
                     [a_slot = a.slot(), b_slot = b.slot()](Tape<T>& t, Matrix<T> g) {
                       if (a_slot >= 0 && b_slot >= 0) t.accumulate(b_slot, g.clone());
                       t.accumulate(a_slot >= 0 ? a_slot : b_slot, std::move(g));
                     });
}

#define DGAT_INSTANTIATE(T)                                                    \
  template Var<T> activate(Tape<T>&, const Var<T>&, Activation, double);       \
  template Var<T> dropout(Tape<T>&, const Var<T>&, double);                    \
  template Var<T> dropout_gelu(Tape<T>&, const Var<T>&, double);               \
  template Var<T> relu_dropout(Tape<T>&, const Var<T>&, double);               \
  template Var<T> add_dropout(Tape<T>&, const Var<T>&, const Var<T>&, double); \
  template Var<T> add(Tape<T>&, const Var<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
