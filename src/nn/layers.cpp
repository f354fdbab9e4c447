#include "layers.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

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
  if (x.dense) return tensor::linear(tape, x.dense, weight, bias);
  return tensor::sparse_linear(tape, x.features->sparse(), weight, bias, x.dropout);
}

template <class T>
Var<T> head_products(Tape<T>& tape, const Var<T>& x, const Var<T>& a) {
  const int64_t heads = a.rows(), d = a.cols(), n = x.rows();
  expects(x.cols() == heads * d, "a head owns a slice of the columns");
  constexpr int64_t kRows = 256;
  Matrix<T> out(n, heads);
  const Matrix<T>& xv = x.value();
  const Matrix<T>& av = a.value();
  parallel_for(n, kRows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        const T *xi = xv.row(i) + h * d, *ah = av.row(h);
        T sum = 0;
        for (int64_t c = 0; c < d; ++c) sum += xi[c] * ah[c];
        out(i, h) = sum;
      }
    }
  });
  return tape.record(std::move(out), {x, a}, [x, a, heads, d, n](Tape<T>& t, const Matrix<T>& g) {
    if (x.slot() >= 0) {
      Matrix<T> gx(n, heads * d);
      parallel_for(n, kRows, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          for (int64_t h = 0; h < heads; ++h) {
            T* out_row = gx.row(i) + h * d;
            const T* ah = a.value().row(h);
            for (int64_t c = 0; c < d; ++c) out_row[c] = g(i, h) * ah[c];
          }
        }
      });
      t.accumulate(x.slot(), std::move(gx));
    }
    if (a.slot() < 0) return;
    const int64_t blocks = block_count(n, kRows);
    Matrix<T> partial = Matrix<T>::zeros(blocks, heads * d);
    parallel_blocks(n, kRows, [&](int64_t block, int64_t begin, int64_t end) {
      T* sum = partial.row(block);
      for (int64_t i = begin; i < end; ++i) {
        for (int64_t h = 0; h < heads; ++h) {
          const T* xi = x.value().row(i) + h * d;
          for (int64_t c = 0; c < d; ++c) sum[h * d + c] += g(i, h) * xi[c];
        }
      }
    });
    Matrix<T> ga = Matrix<T>::zeros(heads, d);
    for (int64_t b = 0; b < blocks; ++b) {
      for (int64_t k = 0; k < heads * d; ++k) ga.data()[k] += partial.row(b)[k];
    }
    t.accumulate(a.slot(), std::move(ga));
  });
}

template class InputLinear<float>;
template class InputLinear<double>;
template InputView<float> view_input(Tape<float>&, const NodeFeatures<float>&, double);
template InputView<double> view_input(Tape<double>&, const NodeFeatures<double>&, double);
template Var<float> head_products(Tape<float>&, const Var<float>&, const Var<float>&);
template Var<double> head_products(Tape<double>&, const Var<double>&, const Var<double>&);

}  // namespace dgat::nn
