#include "dgat/tensor/adam.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "halves.h"
#include "kernels/kernels.h"

namespace dgat::tensor {
namespace {
constexpr int64_t kGrain = 1 << 13;
constexpr int64_t kLateGrain = 1 << 11;  // numbers of a late gradient at a time: the nearest cache

/// Numbers [begin, end) of a parameter that has a gradient; whole rows when that is late.
struct Piece {
  size_t parameter;
  int64_t begin, end;
};

/// Cuts parameters into pieces, and these into parallel blocks of one size, so that a thread meets
/// the same numbers in every step and has them in its cache.
template <class T>
class Pieces {
 public:
  explicit Pieces(std::span<Parameter<T>* const> parameters) {
    const auto each = [&](const auto& body) {
      for (size_t i = 0; i < parameters.size(); ++i) {
        if (parameters[i]->has_grad) body(i, *parameters[i]);
      }
    };
    // The first of two threads begins with first halves, the second ends with second ones.
    each([&](size_t i, const Parameter<T>& p) {
      if (p.late) add(i, p, 0, second_half(p));
    });
    each([&](size_t i, const Parameter<T>& p) {
      if (!p.late) add(i, p, 0, p.value.size());
    });
    each([&](size_t i, const Parameter<T>& p) {
      if (p.late) add(i, p, second_half(p), p.value.size());
    });
    blocks_.push_back(std::ssize(pieces_));
  }

  /// body(piece) for all: one parallel loop, because a network has dozens of parameters, most of
  /// them far too small for a loop of their own.
  template <class Body>
  void run(const Body& body) const {
    parallel_for(std::ssize(blocks_) - 1, 1, [&](int64_t block, int64_t) {
      const auto b = static_cast<size_t>(block);
      for (int64_t i = blocks_[b]; i < blocks_[b + 1]; ++i) body(pieces_[static_cast<size_t>(i)]);
    });
  }

 private:
  static int64_t second_half(const Parameter<T>& p) {
    const int64_t rows = p.value.rows(), cols = p.value.cols();
    return is_near<T>(rows, cols) ? first_half(rows) * cols : p.value.size();
  }

  /// Fills the last block and further ones.
  void add(size_t index, const Parameter<T>& p, int64_t begin, int64_t end) {
    const int64_t unit = p.late ? p.value.cols() : 1;
    while (begin < end) {
      if (room_ < unit) {
        blocks_.push_back(std::ssize(pieces_));
        room_ = std::max(kGrain, unit);
      }
      const int64_t count = std::min(end - begin, room_ / unit * unit);
      pieces_.push_back({index, begin, begin + count});
      room_ -= count;
      begin += count;
    }
  }

  std::vector<Piece> pieces_;
  std::vector<int64_t> blocks_;  // the first piece of each
  int64_t room_ = 0;             // in the last block
};

/// body(gradient, begin, end) for the numbers of a piece; a late gradient comes a few rows at a
/// time.
template <class T, class Body>
void for_gradients(const Parameter<T>& parameter, const Piece& piece, const Body& body) {
  if (!parameter.late) return body(parameter.grad.data() + piece.begin, piece.begin, piece.end);
  const int64_t cols = parameter.value.cols();
  const int64_t rows = std::max<int64_t>(1, kLateGrain / cols);
  Matrix<T> gradient(rows, cols);
  for (int64_t row = piece.begin / cols; row < piece.end / cols; row += rows) {
    const int64_t end = std::min(row + rows, piece.end / cols);
    parameter.late->rows(row, end, gradient.data());
    body(static_cast<const T*>(gradient.data()), row * cols, end * cols);
  }
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
    expects(p.late || p.grad.same_shape(p.value),
            "adam_update: the gradient has the value's shape");
    if (!moments[i].first.empty()) continue;
    moments[i].first = Matrix<T>::zeros(p.value.rows(), p.value.cols());
    moments[i].second = Matrix<T>::zeros(p.value.rows(), p.value.cols());
  }
  const auto none = static_cast<int64_t>(parameters.size());
  std::atomic<int64_t> first_bad{none};
  Pieces<T>(parameters).run([&](const Piece& piece) {
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
    for_gradients(p, piece, [&](const T* gradient, int64_t begin, int64_t end) {
      if (kernels<T>().all_finite(gradient, end - begin)) {
        kernels<T>().adam(p.value.data() + begin, gradient, m.first.data() + begin,
                          m.second.data() + begin, end - begin, numbers);
        return;
      }
      const auto index = static_cast<int64_t>(piece.parameter);
      for (int64_t seen = first_bad;
           index < seen && !first_bad.compare_exchange_weak(seen, index);) {
      }
    });
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
