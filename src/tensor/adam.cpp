#include "dgat/tensor/adam.h"

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {
constexpr int64_t kGrain = 1 << 14;
}

template <class T>
void adam_update(Parameter<T>& parameter, AdamMoments<T>& moments, const AdamOptions& options,
                 int64_t step, double gradient_scale) {
  if (!parameter.has_grad) return;
  expects(step >= 1, "adam_update: steps count from 1");
  Matrix<T>& value = parameter.value;
  expects(parameter.grad.same_shape(value), "adam_update: the gradient has the value's shape");
  if (moments.first.empty()) {
    moments.first = Matrix<T>::zeros(value.rows(), value.cols());
    moments.second = Matrix<T>::zeros(value.rows(), value.cols());
  }
  const double own = parameter.own_weight_decay.value_or(options.weight_decay);
  const double decay = parameter.weight_decay ? own : 0;
  const double lr = options.lr * parameter.lr_scale;
  const AdamStep numbers{.lr = lr,
                         .beta1 = options.beta1,
                         .beta2 = options.beta2,
                         .epsilon = options.epsilon,
                         .correction1 = 1 - std::pow(options.beta1, static_cast<double>(step)),
                         .correction2 = 1 - std::pow(options.beta2, static_cast<double>(step)),
                         .l2 = options.decoupled ? 0 : decay,
                         .shrink = options.decoupled ? 1 - lr * decay : 1,
                         .gradient_scale = gradient_scale};
  parallel_for(value.size(), kGrain, [&](int64_t begin, int64_t end) {
    kernels<T>().adam(value.data() + begin, parameter.grad.data() + begin,
                      moments.first.data() + begin, moments.second.data() + begin, end - begin,
                      numbers);
  });
}

template <class T>
double sum_of_squares(const Matrix<T>& matrix) {
  return parallel_sum<double>(matrix.size(), kGrain, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double x = static_cast<double>(matrix.data()[i]);
      sum += x * x;
    }
    return sum;
  });
}

#define DGAT_INSTANTIATE(T)                                                                       \
  template void adam_update(Parameter<T>&, AdamMoments<T>&, const AdamOptions&, int64_t, double); \
  template double sum_of_squares(const Matrix<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
