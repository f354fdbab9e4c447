#pragma once

#include <cstdint>
#include <span>

#include "dgat/tensor/tape.h"

namespace dgat::tensor {

struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8;
  double weight_decay = 0;
  /// true: AdamW, the value shrinks by lr * weight_decay. false: Adam with an L2 term in the
  /// gradient.
  bool decoupled = true;
};

/// First and second moments of one parameter.
template <class T>
struct AdamMoments {
  Matrix<T> first, second;
};

/// One update of parameter.value in place from parameter.grad, `step` counted from 1 (bias
/// correction); moments that are empty start at zero. A parameter without gradient is left alone.
/// Weight decay applies when parameter.weight_decay. A parameter may have its own decay and a
/// factor of the learning rate. `gradient_scale` multiplies the gradient (clipping). False: some of
/// the gradient is not finite; values near it are unchanged, others may be updated.
template <class T>
bool adam_update(Parameter<T>& parameter, AdamMoments<T>& moments, const AdamOptions& options,
                 int64_t step, double gradient_scale = 1);

/// The same for many parameters, parameters[i] with moments[i], in one parallel pass over all.
/// Returns the first whose gradient is not finite everywhere; -1 when there is none.
template <class T>
int64_t adam_update(std::span<Parameter<T>* const> parameters, std::span<AdamMoments<T>> moments,
                    const AdamOptions& options, int64_t step, double gradient_scale = 1);

/// Sum of squares of all entries, added in a fixed order in double (gradient norms).
template <class T>
double sum_of_squares(const Matrix<T>& matrix);

}  // namespace dgat::tensor
