#include "dgat/tensor/adam.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {
constexpr int64_t kGrain = 1 << 14;

/// Numbers [begin, end) of a parameter that has a gradient.
struct Piece {
  size_t parameter;
  int64_t begin, end;
};

/// body(piece) for all numbers of all parameters, in one parallel loop: a network has dozens of
/// parameters, most of them far too small for a loop of their own.
template <class T, class Body>
void for_pieces(std::span<Parameter<T>* const> parameters, const Body& body) {
  std::vector<Piece> pieces;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i]->has_grad) continue;
    const int64_t size = parameters[i]->grad.size();
    for (int64_t begin = 0; begin < size; begin += kGrain) {
      pieces.push_back({i, begin, std::min(begin + kGrain, size)});
    }
  }
  parallel_for(static_cast<int64_t>(pieces.size()), 1,
               [&](int64_t i, int64_t) { body(pieces[static_cast<size_t>(i)]); });
}
}  // namespace

template <class T>
void adam_update(std::span<Parameter<T>* const> parameters, std::span<AdamMoments<T>> moments,
                 const AdamOptions& options, int64_t step, double gradient_scale) {
  expects(step >= 1, "adam_update: steps count from 1");
  expects(parameters.size() == moments.size(), "adam_update: moments for every parameter");
  AdamStep common{.lr = options.lr,
                  .beta1 = options.beta1,
                  .beta2 = options.beta2,
                  .epsilon = options.epsilon,
                  .correction1 = 1 - std::pow(options.beta1, static_cast<double>(step)),
                  .correction2 = 1 - std::pow(options.beta2, static_cast<double>(step)),
                  .l2 = 0,
                  .shrink = 1,
                  .gradient_scale = gradient_scale};
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter<T>& p = *parameters[i];
    if (!p.has_grad) continue;
    expects(p.grad.same_shape(p.value), "adam_update: the gradient has the value's shape");
    if (!moments[i].first.empty()) continue;
    moments[i].first = Matrix<T>::zeros(p.value.rows(), p.value.cols());
    moments[i].second = Matrix<T>::zeros(p.value.rows(), p.value.cols());
  }
  for_pieces(parameters, [&](const Piece& piece) {
    Parameter<T>& p = *parameters[piece.parameter];
    const double own = p.own_weight_decay.value_or(options.weight_decay);
    const double decay = p.weight_decay ? own : 0;
    AdamStep numbers = common;
    numbers.lr = options.lr * p.lr_scale;
    if (options.decoupled) {
      numbers.shrink = 1 - numbers.lr * decay;
    } else {
      numbers.l2 = decay;
    }
    AdamMoments<T>& m = moments[piece.parameter];
    kernels<T>().adam(p.value.data() + piece.begin, p.grad.data() + piece.begin,
                      m.first.data() + piece.begin, m.second.data() + piece.begin,
                      piece.end - piece.begin, numbers);
  });
}

template <class T>
void adam_update(Parameter<T>& parameter, AdamMoments<T>& moments, const AdamOptions& options,
                 int64_t step, double gradient_scale) {
  Parameter<T>* const one = &parameter;
  adam_update<T>({&one, 1}, {&moments, 1}, options, step, gradient_scale);
}

template <class T>
int64_t first_not_finite(std::span<Parameter<T>* const> parameters) {
  const auto none = static_cast<int64_t>(parameters.size());
  std::atomic<int64_t> first{none};
  for_pieces(parameters, [&](const Piece& piece) {
    const T* gradient = parameters[piece.parameter]->grad.data();
    if (kernels<T>().all_finite(gradient + piece.begin, piece.end - piece.begin)) return;
    const auto index = static_cast<int64_t>(piece.parameter);
    for (int64_t seen = first; index < seen && !first.compare_exchange_weak(seen, index);) {
    }
  });
  return first == none ? -1 : first.load();
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
  template int64_t first_not_finite(std::span<Parameter<T>* const>);                              \
  template double sum_of_squares(const Matrix<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE
template void adam_update(std::span<Parameter<float>* const>, std::span<AdamMoments<float>>,
                          const AdamOptions&, int64_t, double);
template void adam_update(std::span<Parameter<double>* const>, std::span<AdamMoments<double>>,
                          const AdamOptions&, int64_t, double);

}  // namespace dgat::tensor
