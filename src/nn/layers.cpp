#include "layers.h"

#include "dgat/core/error.h"

namespace dgat::nn {
using tensor::Matrix;
using tensor::Tape;
using tensor::Var;

template <class T>
void InputLinear<T>::prepare(bool sparse) {
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
InputView<T> view_input(Tape<T>& tape, const NodeFeatures<T>& features, double dropout) {
  if (!tape.training()) dropout = 0;
  InputView<T> view{&features, {}, {}};
  if (!features.is_sparse()) {
    view.dense = tape.reference(features.dense());
    if (dropout > 0) view.dense = tensor::dropout(tape, view.dense, dropout);
  } else if (dropout > 0) {
    view.dropout = {dropout, tape.next_random_stream()};
  }
  return view;
}

template <class T>
Var<T> InputLinear<T>::operator()(Tape<T>& tape, const InputView<T>& x) const {
  expects(weight_->transposed != static_cast<bool>(x.dense), "prepare() saw these features");
  const Var<T> weight = tape.parameter(*weight_);
  const Var<T> bias = bias_ != nullptr ? tape.parameter(*bias_) : Var<T>();
  return x.dense ? tensor::linear(tape, x.dense, weight, bias)
                 : tensor::sparse_linear(tape, x.features->sparse(), weight, bias, x.dropout);
}

template class InputLinear<float>;
template class InputLinear<double>;
template InputView<float> view_input(Tape<float>&, const NodeFeatures<float>&, double);
template InputView<double> view_input(Tape<double>&, const NodeFeatures<double>&, double);

}  // namespace dgat::nn
