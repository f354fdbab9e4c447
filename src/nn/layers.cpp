#include "layers.h"

#include "dgat/core/error.h"

namespace dgat::nn {
using tensor::Matrix;
using tensor::Tape;
using tensor::Var;

template <class T>
InputView<T> view_input(Tape<T>& tape, const NodeFeatures<T>& features, double dropout) {
  if (!tape.training()) dropout = 0;
  if (!features.is_sparse()) {
    return tensor::dropout(tape, tape.reference(features.dense(), features.share()), dropout);
  }
  if (dropout == 0) return {features.sparse(), {}};
  return {features.sparse(), {dropout, tape.next_random_stream()}};
}

template <class T>
void Linear<T>::prepare(bool sparse) {
  if (weight_->transposed == sparse) return;
  const Matrix<T> old = std::move(weight_->value);
  weight_->value = Matrix<T>(old.cols(), old.rows());
  for (int64_t i = 0; i < old.rows(); ++i) {
    for (int64_t j = 0; j < old.cols(); ++j) weight_->value(j, i) = old(i, j);
  }
  weight_->transposed = sparse;
  weight_->clear_grad();
}

template <class T>
Var<T> Linear<T>::operator()(Tape<T>& tape, const InputView<T>& x) const {
  expects(weight_->transposed != static_cast<bool>(x.dense), "Linear: prepare() saw this input");
  return x.dense ? tensor::linear(tape, x.dense, weight(tape), bias(tape))
                 : tensor::sparse_linear(tape, *x.sparse, weight(tape), bias(tape), x.dropout);
}

template class Linear<DGAT_SCALAR>;
template InputView<DGAT_SCALAR> view_input(Tape<DGAT_SCALAR>&, const NodeFeatures<DGAT_SCALAR>&,
                                           double);

}  // namespace dgat::nn
