// DGAT: graph attention that reads where an edge points on the graph (paper, sections 3.4 and 3.5).
//
// An edge (i, j) of the rewired graph carries, from the vector phi = phi^(1)(gamma),
//
//   f_ij = [B_av(phi)(i, j), B_dx(phi)(i, j)]                                          (eq. 15)
//
// (rewire/edge_features.h; k eigenvectors give 2k numbers). Layer l scores edges by features and by
// direction,
//
//   r_ij = LeakyReLU(a . [W_n h_i || W_n h_j || W_e f_ij])                             (eq. 16)
//   alpha_ij = exp(r_ij) / sum over k in N(i) + {i} of exp(r_ik),
//
// and its heads m = 1..M give
//
//   h_i' = ( ||_m sigma( sum_j alpha_ij^m W^m h_j ) ) W.                               (eq. 17)
//
// The dot product with a = [a_dst || a_src || a_e] is a sum of three, so that two are computed per
// node and the third collapses to 2k numbers per head before it meets an edge.
//
// This file holds eq. 16 and the sum of eq. 17. The rest of a layer is the recipe's: `classic`
// (classic_net.cpp) is eq. 17 as it stands, with sigma = ELU and the last W behind --projection;
// `residual` (residual_net.cpp) has norms, residual sums and a feed-forward network instead. There
// every head reads all of W_n h and linear maps have biases (AttentionForm).
#include "dgat.h"

#include "recipe_models.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

template <class T>
HeadScores<T>::HeadScores(ParameterSet<T>& set, const std::string& name,
                          const ConvolutionOptions& o, bool bias) {
  if (o.form == AttentionForm::kResidual) {
    whole_ = Linear<T>(set, name, o.heads, o.out, bias);
  } else {
    slices_ = &set.weight(name, o.heads, o.out / o.heads, o.initializer());
  }
}

template <class T>
Var<T> HeadScores<T>::operator()(Tape<T>& tape, const Var<T>& y) const {
  if (slices_ == nullptr) return whole_(tape, y);
  return tensor::head_dots(tape, y, tape.parameter(*slices_));
}

template <class T>
DirectionalTerm<T>::DirectionalTerm(ParameterSet<T>& set, const std::string& name,
                                    const ConvolutionOptions& o) {
  const bool residual = o.form == AttentionForm::kResidual;
  lin_edge_ =
      Linear<T>(set, name + "lin_edge", o.out, o.edge_features, /*bias=*/residual, o.initializer());
  if (residual) {
    att_edge_ = Linear<T>(set, name + "att_edge", o.heads, o.out);
  } else {
    slices_ = &set.weight(name + "att_edge", o.heads, o.out / o.heads, o.initializer());
  }
}

/// a_e . (W_e f + b) + c = (a_e W_e) . f + (a_e . b + c): 2k coefficients and a bias per head.
template <class T>
tensor::EdgeTerm<T> DirectionalTerm<T>::operator()(Tape<T>& tape,
                                                   const Messages<T>& messages) const {
  if (slices_ == nullptr) {
    const Var<T> coefficients =
        tensor::matmul(tape, att_edge_.weight(tape), lin_edge_.weight(tape));
    return {&messages.features, coefficients, att_edge_(tape, lin_edge_.bias(tape))};
  }
  const Var<T> columns = tensor::transpose(tape, lin_edge_.weight(tape));  // one per number of f
  const Var<T> dots = tensor::head_dots(tape, columns, tape.parameter(*slices_));
  return {&messages.features, tensor::transpose(tape, dots), {}};
}

template <class T>
DirectionalAttention<T>::DirectionalAttention(ParameterSet<T>& set, const std::string& name,
                                              const ConvolutionOptions& o)
    : options_(o),
      lin_(set, name + "lin", o.out, o.in, /*bias=*/o.form == AttentionForm::kResidual,
           o.initializer()),
      att_src_(set, name + "att_src", o, /*bias=*/true),
      att_dst_(set, name + "att_dst", o, /*bias=*/false),
      bias_(set, name, o),
      edge_(directional_term(set, name, o)) {}

template <class T>
void DirectionalAttention<T>::prepare(const GraphInput<T>& input, bool reads_features) {
  if (reads_features) lin_.prepare(*input.features);
}

template <class T>
Var<T> DirectionalAttention<T>::operator()(Tape<T>& tape, const InputView<T>& h,
                                           const LayerRows<T>& layer,
                                           Inspection<T>* inspection) const {
  tensor::EdgeTerm<T> edge;
  if (edge_) edge = (*edge_)(tape, *layer.messages);               // a_e . (W_e f_ij)
  const Var<T> y = lin_(tape, h);                                  // W_n h
  const Var<T> src = att_src_(tape, y);                            // a_src . y_j
  const Var<T> dst = layer.at_receivers(tape, att_dst_(tape, y));  // a_dst . y_i
  const Var<T> values = tensor::dropout(tape, y, options_.dropout_values);
  Var<T> message = tensor::additive_attention(
      tape, layer.messages->graph, values, dst, src, edge,
      {.heads = options_.heads, .dropout = options_.dropout}, next_attention(inspection));
  if (!options_.separate) return bias_(tape, message);
  return tensor::concat_columns(tape, {layer.at_receivers(tape, y), message});
}

/// The family: the three attentions, each with a directional term, and the form that keeps a node's
/// own part beside what it receives.
template <class T>
std::vector<ModelEntry<T>> directional_models() {
  using K = ConvolutionKind;
  std::vector<ModelEntry<T>> family;
  for (const K kind : {K::kAdditive, K::kGatv2, K::kDotProduct}) {
    for (const bool separate : {false, true}) {
      const NetKind net{kind, separate, /*directional=*/true};
      family.push_back(recipe_model<T>(attention_info(net), net));
    }
  }
  return family;
}

template class HeadScores<DGAT_SCALAR>;
template class DirectionalTerm<DGAT_SCALAR>;
template class DirectionalAttention<DGAT_SCALAR>;
template std::vector<ModelEntry<DGAT_SCALAR>> directional_models();

}  // namespace dgat::nn
