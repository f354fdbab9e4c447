#pragma once

#include <string>

#include "dgat/nn/model.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/sparse.h"

/// The pieces that models share: each declares its parameters and applies them.
namespace dgat::nn {

/// What a linear map reads: a matrix on the tape, or the sparse node features.
template <class T>
struct InputView {
  InputView(tensor::Var<T> x) : dense(std::move(x)) {}  // NOLINT: a layer takes either
  InputView(const tensor::SparseMatrix<T>& features, const tensor::EntryDropout& entry_dropout)
      : sparse(&features), dropout(entry_dropout) {}
  tensor::Var<T> dense;                             ///< empty: read `sparse`
  const tensor::SparseMatrix<T>* sparse = nullptr;  ///< must outlive the backward pass
  tensor::EntryDropout dropout;                     ///< to be applied to `sparse`
};

/// The node features after dropout. All maps that read one view see the same mask.
template <class T>
InputView<T> view_input(tensor::Tape<T>& tape, const NodeFeatures<T>& features, double dropout = 0);

/// x W^T + b; parameters NAME.weight [out, in] and NAME.bias [out].
///
/// A map of the node features needs prepare(): for sparse ones the weight stands in memory as
/// [in, out].
template <class T>
class Linear {
 public:
  Linear() = default;
  Linear(ParameterSet<T>& set, const std::string& name, int64_t out, int64_t in, bool bias = true,
         const Initializer& initializer = {})
      : weight_(&set.weight(name + ".weight", out, in, initializer)),
        bias_(bias ? &set.bias(name + ".bias", out, in) : nullptr) {}
  /// To be called from Model::prepare(), with the features or the form that the views will have.
  void prepare(const NodeFeatures<T>& features) { prepare(features.is_sparse()); }
  void prepare(bool sparse);
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x) const;
  tensor::Var<T> weight(tensor::Tape<T>& tape) const { return tape.parameter(*weight_); }
  tensor::Var<T> bias(tensor::Tape<T>& tape) const {
    return bias_ != nullptr ? tape.parameter(*bias_) : tensor::Var<T>();
  }

 private:
  tensor::Parameter<T>* weight_ = nullptr;
  tensor::Parameter<T>* bias_ = nullptr;
};

/// LayerNorm over rows; parameters NAME.weight = 1 and NAME.bias = 0.
template <class T>
class LayerNorm {
 public:
  LayerNorm() = default;
  LayerNorm(ParameterSet<T>& set, const std::string& name, int64_t width)
      : weight_(&set.constant(name + ".weight", 1, width, 1, false)),
        bias_(&set.constant(name + ".bias", 1, width, 0, false)) {}
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& x) const {
    return tensor::layer_norm(tape, x, tape.parameter(*weight_), tape.parameter(*bias_));
  }

 private:
  tensor::Parameter<T>* weight_ = nullptr;
  tensor::Parameter<T>* bias_ = nullptr;
};

/// BatchNorm over all nodes; parameters NAME.weight = 1 and NAME.bias = 0, buffers
/// NAME.running_mean = 0 and NAME.running_var = 1. A training pass moves the buffers.
template <class T>
class BatchNorm {
 public:
  BatchNorm() = default;
  BatchNorm(ParameterSet<T>& set, const std::string& name, int64_t width)
      : name_(name),
        weight_(&set.constant(name + ".weight", 1, width, 1, false)),
        bias_(&set.constant(name + ".bias", 1, width, 0, false)) {
    state_.mean = tensor::Matrix<T>::zeros(1, width);
    state_.variance = tensor::Matrix<T>::filled(1, width, T{1});
  }
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& x) {
    return tensor::batch_norm(tape, x, tape.parameter(*weight_), tape.parameter(*bias_), state_);
  }
  /// dropout(ReLU(norm(a + b))) in one pass; b may be empty.
  tensor::Var<T> relu_dropout(tensor::Tape<T>& tape, const tensor::Var<T>& a,
                              const tensor::Var<T>& b, double dropout) {
    return tensor::batch_norm_relu_dropout(tape, a, b, tape.parameter(*weight_),
                                           tape.parameter(*bias_), state_, dropout);
  }
  /// For Model::buffers().
  void list_buffers(std::vector<NamedBuffer<T>>& all) {
    all.push_back({name_ + ".running_mean", &state_.mean});
    all.push_back({name_ + ".running_var", &state_.variance});
  }

 private:
  std::string name_;
  tensor::Parameter<T>* weight_ = nullptr;
  tensor::Parameter<T>* bias_ = nullptr;
  tensor::BatchNormState<T> state_;
};

/// linear(in, width) -> dropout -> GELU -> linear(width, width); the last dropout is left to the
/// residual sum, which does it in the same pass. Parameters NAME.0 and NAME.1.
template <class T>
class FeedForward {
 public:
  FeedForward() = default;
  FeedForward(ParameterSet<T>& set, const std::string& name, int64_t width, int64_t in,
              double dropout)
      : first_(set, name + ".0", width, in),
        second_(set, name + ".1", width, width),
        dropout_(dropout) {}
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& x) const {
    return second_(tape, tensor::dropout_gelu(tape, first_(tape, x), dropout_));
  }

 private:
  Linear<T> first_, second_;
  double dropout_ = 0;
};

}  // namespace dgat::nn
