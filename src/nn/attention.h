#pragma once

#include "dgat.h"

/// The attentions of GATv2 and of the graph transformer, each with an optional directional term.
namespace dgat::nn {

/// GATv2: score_ij = a . LeakyReLU(W_dst x_i + W_src x_j) + directional term, value_j = W_src x_j.
///
/// Parameters: NAMElin_src, NAMElin_dst, NAMEatt [heads, d].
template <class T>
class Gatv2Attention final : public Convolution<T> {
 public:
  Gatv2Attention(ParameterSet<T>& set, const std::string& name, const ConvolutionOptions& options);
  void prepare(const GraphInput<T>& input, bool reads_features) override;
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                            Inspection<T>* inspection) const override;

 private:
  ConvolutionOptions options_;
  Linear<T> lin_src_, lin_dst_;
  tensor::Parameter<T>* att_;
  MessageBias<T> bias_;
  std::optional<DirectionalTerm<T>> edge_;
};

/// Graph transformer: score_ij = q_i . k_j / sqrt(d) + directional term, q, k and v linear in x.
///
/// Parameters: NAMElin_query, NAMElin_key, NAMElin_value.
template <class T>
class DotAttention final : public Convolution<T> {
 public:
  DotAttention(ParameterSet<T>& set, const std::string& name, const ConvolutionOptions& options);
  void prepare(const GraphInput<T>& input, bool reads_features) override;
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                            Inspection<T>* inspection) const override;

 private:
  ConvolutionOptions options_;
  Linear<T> query_, key_, value_;
  MessageBias<T> bias_;
  std::optional<DirectionalTerm<T>> edge_;
};

}  // namespace dgat::nn
