#include "attention.h"

namespace dgat::nn {
namespace {
using tensor::Tape;
using tensor::Var;

bool has_bias(const ConvolutionOptions& o) {
  return o.form == AttentionForm::kResidual;
}

/// The rows of map(x) at the receivers. The classic form picks them behind the map, because its
/// first layer reads sparse features; the residual form before it, which is less work. (One could
/// be had for both, at the price of other last bits.)
template <class T>
Var<T> query_rows(Tape<T>& tape, const Linear<T>& map, const InputView<T>& x,
                  const LayerRows<T>& layer, AttentionForm form) {
  if (form == AttentionForm::kResidual) return map(tape, layer.at_receivers(tape, x.dense));
  return layer.at_receivers(tape, map(tape, x));
}

}  // namespace

template <class T>
Gatv2Attention<T>::Gatv2Attention(ParameterSet<T>& set, const std::string& name,
                                  const ConvolutionOptions& o)
    : options_(o),
      lin_src_(set, name + "lin_src", o.out, o.in, has_bias(o), o.initializer()),
      lin_dst_(set, name + "lin_dst", o.out, o.in, has_bias(o), o.initializer()),
      att_(&set.weight(name + "att", o.heads, o.out / o.heads, o.initializer())),
      bias_(set, name, o),
      edge_(directional_term(set, name, o)) {}

template <class T>
void Gatv2Attention<T>::prepare(const GraphInput<T>& input, bool reads_features) {
  if (!reads_features) return;
  for (Linear<T>* map : {&lin_src_, &lin_dst_}) map->prepare(*input.features);
}

template <class T>
Var<T> Gatv2Attention<T>::operator()(Tape<T>& tape, const InputView<T>& x,
                                     const LayerRows<T>& layer, Inspection<T>* inspection) const {
  tensor::EdgeTerm<T> edge;
  if (edge_) edge = (*edge_)(tape, *layer.messages);
  const Var<T> src = tensor::dropout(tape, lin_src_(tape, x), options_.dropout_values);
  const Var<T> dst = query_rows(tape, lin_dst_, x, layer, options_.form);
  Var<T> message = tensor::gatv2_attention(
      tape, layer.messages->graph, dst, src, tape.parameter(*att_), edge,
      {.heads = options_.heads, .dropout = options_.dropout}, next_attention(inspection));
  if (!options_.separate) return bias_(tape, message);
  return tensor::concat_columns(tape, {layer.at_receivers(tape, src), message});
}

template <class T>
DotAttention<T>::DotAttention(ParameterSet<T>& set, const std::string& name,
                              const ConvolutionOptions& o)
    : options_(o),
      query_(set, name + "lin_query", o.out, o.in, has_bias(o), o.initializer()),
      key_(set, name + "lin_key", o.out, o.in, has_bias(o), o.initializer()),
      value_(set, name + "lin_value", o.out, o.in, has_bias(o), o.initializer()),
      bias_(set, name, o),
      edge_(directional_term(set, name, o)) {}

template <class T>
void DotAttention<T>::prepare(const GraphInput<T>& input, bool reads_features) {
  if (!reads_features) return;
  for (Linear<T>* map : {&query_, &key_, &value_}) map->prepare(*input.features);
}

template <class T>
Var<T> DotAttention<T>::operator()(Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                                   Inspection<T>* inspection) const {
  tensor::EdgeTerm<T> edge;
  if (edge_) edge = (*edge_)(tape, *layer.messages);
  // What the residual form reads of x is picked first, so that its gradient is added last.
  const bool pick_first = options_.form == AttentionForm::kResidual;
  const Var<T> own = pick_first ? layer.at_receivers(tape, x.dense) : Var<T>();
  const Var<T> value = tensor::dropout(tape, value_(tape, x), options_.dropout_values);
  const Var<T> key = key_(tape, x);
  const Var<T> query = pick_first ? query_(tape, own) : layer.at_receivers(tape, query_(tape, x));
  Var<T> message = tensor::dot_attention(tape, layer.messages->graph, query, key, value, edge,
                                         {.heads = options_.heads, .dropout = options_.dropout},
                                         next_attention(inspection));
  if (!options_.separate) return bias_(tape, message);
  return tensor::concat_columns(tape, {own, message});
}

template class Gatv2Attention<DGAT_SCALAR>;
template class DotAttention<DGAT_SCALAR>;

}  // namespace dgat::nn
