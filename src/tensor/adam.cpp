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
constexpr int64_t kAdamGrain = 1 << 13;

/// Numbers [begin, end) of a parameter that has a gradient.
struct Piece {
  size_t parameter;
  int64_t begin, end;
};

/// body(piece) for all parameters that have a gradient: one parallel loop over blocks of kAdamGrain
/// numbers, because a network has dozens of parameters, most of them far too small for a loop of
/// their own.
template <class T, class Body>
void for_pieces(std::span<Parameter<T>* const> parameters, const Body& body) {
  std::vector<Piece> pieces;
  std::vector<int64_t> blocks;  // the first piece of each
  int64_t room = 0;             // in the last block
  for (size_t i = 0; i < parameters.size(); ++i) {
    const int64_t size = parameters[i]->has_grad ? parameters[i]->value.size() : 0;
    for (int64_t begin = 0; begin < size;) {
      if (room == 0) {
        blocks.push_back(std::ssize(pieces));
        room = kAdamGrain;
      }
      const int64_t count = std::min(size - begin, room);
      pieces.push_back({i, begin, begin + count});
      room -= count;
      begin += count;
    }
  }
  blocks.push_back(std::ssize(pieces));
  parallel_for(std::ssize(blocks) - 1, 1, [&](int64_t block, int64_t) {
    const auto b = static_cast<size_t>(block);
    for (int64_t i = blocks[b]; i < blocks[b + 1]; ++i) body(pieces[static_cast<size_t>(i)]);
  });
}

}  // namespace

template <class T>
int64_t adam_update(std::span<Parameter<T>* const> parameters, std::span<AdamMoments<T>> moments,
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
  const auto none = static_cast<int64_t>(parameters.size());
  std::atomic<int64_t> first_bad{none};
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
    const T* gradient = p.grad.data() + piece.begin;
    const int64_t count = piece.end - piece.begin;
    if (kernels<T>().all_finite(gradient, count)) {
      kernels<T>().adam(p.value.data() + piece.begin, gradient, m.first.data() + piece.begin,
                        m.second.data() + piece.begin, count, numbers);
      return;
    }
    const auto index = static_cast<int64_t>(piece.parameter);
    for (int64_t seen = first_bad; index < seen && !first_bad.compare_exchange_weak(seen, index);) {
    }
  });
  return first_bad == none ? -1 : first_bad.load();
}

template <class T>
bool adam_update(Parameter<T>& parameter, AdamMoments<T>& moments, const AdamOptions& options,
                 int64_t step, double gradient_scale) {
  Parameter<T>* const one = &parameter;
  return adam_update<T>({&one, 1}, {&moments, 1}, options, step, gradient_scale) < 0;
}

template <class T>
double sum_of_squares(const Matrix<T>& matrix) {
  return parallel_sum<double>(matrix.size(), kAdamGrain, [&](int64_t begin, int64_t end) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i) {
      const double x = static_cast<double>(matrix.data()[i]);
      sum += x * x;
    }
    return sum;
  });
}

#define DGAT_INSTANTIATE(T)                                                                       \
  template bool adam_update(Parameter<T>&, AdamMoments<T>&, const AdamOptions&, int64_t, double); \
  template double sum_of_squares(const Matrix<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE
template int64_t adam_update(std::span<Parameter<float>* const>, std::span<AdamMoments<float>>,
                             const AdamOptions&, int64_t, double);
template int64_t adam_update(std::span<Parameter<double>* const>, std::span<AdamMoments<double>>,
                             const AdamOptions&, int64_t, double);

}  // namespace dgat::tensor
