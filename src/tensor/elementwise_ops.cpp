#include <algorithm>

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

/// Multiplies a gradient by the mask, in place.
template <class T>
void mask_in_place(const DropoutMask& mask, Matrix<T>& g) {
  parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().dropout(mask, begin, g.data() + begin, g.data() + begin, end - begin);
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
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().dropout(mask, begin, x.value().data() + begin, out.data() + begin, end - begin);
  });
  return tape.record(std::move(out), {x}, [slot = x.slot(), mask](Tape<T>& t, Matrix<T> g) {
    mask_in_place(mask, g);
    t.accumulate(slot, std::move(g));
  });
}

template <class T>
Var<T> dropout_gelu(Tape<T>& tape, const Var<T>& x, double p) {
  if (!tape.training() || p == 0) return gelu(tape, x);
  const DropoutMask mask = next_dropout_mask(tape, p);
  Matrix<T> out(x.rows(), x.cols()), slope(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().dropout_gelu(mask, begin, x.value().data() + begin, out.data() + begin,
                              slope.data() + begin, end - begin);
  });
  // The slope takes the place of x, which nothing else keeps.
  return tape.record(std::move(out), {x},
                     [slot = x.slot(), slope = std::move(slope)](Tape<T>& t, Matrix<T> g) {
                       parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
                         T* gradient = g.data();
                         const T* factor = slope.data();
                         for (int64_t i = begin; i < end; ++i) gradient[i] *= factor[i];
                       });
                       t.accumulate(slot, std::move(g));
                     });
}

template <class T>
Var<T> add_dropout(Tape<T>& tape, const Var<T>& x, const Var<T>& y, double p) {
  if (!tape.training() || p == 0) return add(tape, x, y);
  expects(x.value().same_shape(y.value()), "add_dropout: equal shapes");
  const DropoutMask mask = next_dropout_mask(tape, p);
  Matrix<T> out(x.rows(), x.cols());
  parallel_for(out.size(), grain(out.size()), [&](int64_t begin, int64_t end) {
    kernels<T>().add_dropout(mask, begin, x.value().data() + begin, y.value().data() + begin,
                             out.data() + begin, end - begin);
  });
  return tape.record(std::move(out), {x, y},
                     [x_slot = x.slot(), y_slot = y.slot(), mask](Tape<T>& t, Matrix<T> g) {
                       if (y_slot >= 0) {
                         Matrix<T> masked(g.rows(), g.cols());
                         parallel_for(g.size(), grain(g.size()), [&](int64_t begin, int64_t end) {
                           kernels<T>().dropout(mask, begin, g.data() + begin,
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
  template Var<T> add_dropout(Tape<T>&, const Var<T>&, const Var<T>&, double); \
  template Var<T> add(Tape<T>&, const Var<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
