#pragma once

#include <optional>

#include "convolution.h"
#include "dgat/tensor/attention.h"

/// The attention layer of the paper (section 3.4; formulas and code in dgat.cpp).
namespace dgat::nn {

/// One score per head for every row of y: a_h . y_i, by the slice of the head or by the whole row.
///
/// Parameters: NAME [heads, d], or NAME.weight [heads, out] and NAME.bias.
template <class T>
class HeadScores {
 public:
  HeadScores(ParameterSet<T>& set, const std::string& name, const ConvolutionOptions& options,
             bool bias);
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& y) const;

 private:
  tensor::Parameter<T>* slices_ = nullptr;
  Linear<T> whole_;
};

/// What the direction of an edge adds to the scores of a head: a_e . (W_e f_ij).
///
/// Any attention may have one. Parameters: NAMElin_edge.weight [out, 2k] is W_e, NAMEatt_edge is
/// a_e; biases in the residual form.
template <class T>
class DirectionalTerm {
 public:
  DirectionalTerm(ParameterSet<T>& set, const std::string& name, const ConvolutionOptions& options);
  tensor::EdgeTerm<T> operator()(tensor::Tape<T>& tape, const Messages<T>& messages) const;

 private:
  Linear<T> lin_edge_, att_edge_;
  tensor::Parameter<T>* slices_ = nullptr;  // a_e in the classic form
};

/// A bias behind the sum, if the options ask for one: parameter NAMEbias [out].
template <class T>
class MessageBias {
 public:
  MessageBias(ParameterSet<T>& set, const std::string& name, const ConvolutionOptions& options)
      : bias_(options.bias ? &convolution_bias(set, name + "bias", options) : nullptr) {}
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const tensor::Var<T>& message) const {
    return bias_ != nullptr ? tensor::add_bias(tape, message, tape.parameter(*bias_)) : message;
  }

 private:
  tensor::Parameter<T>* bias_;
};

/// GAT's attention with a directional term; without one it is GAT's.
///
/// Parameters: NAMElin is W_n, NAMEatt_dst and NAMEatt_src are the parts of a that meet i and j.
template <class T>
class DirectionalAttention final : public Convolution<T> {
 public:
  DirectionalAttention(ParameterSet<T>& set, const std::string& name,
                       const ConvolutionOptions& options);
  void prepare(const GraphInput<T>& input, bool reads_features) override;
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                            Inspection<T>* inspection) const override;

 private:
  ConvolutionOptions options_;
  Linear<T> lin_;
  HeadScores<T> att_src_, att_dst_;
  MessageBias<T> bias_;
  std::optional<DirectionalTerm<T>> edge_;
};

/// The pieces that attentions share.
template <class T>
std::optional<DirectionalTerm<T>> directional_term(ParameterSet<T>& set, const std::string& name,
                                                   const ConvolutionOptions& options) {
  if (options.edge_features == 0) return std::nullopt;
  return DirectionalTerm<T>(set, name, options);
}
template <class T>
tensor::Matrix<T>* next_attention(Inspection<T>* inspection) {
  return inspection != nullptr ? &inspection->attention.emplace_back() : nullptr;
}

}  // namespace dgat::nn
