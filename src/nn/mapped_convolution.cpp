#include "mapped_convolution.h"

#include "adjacency.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

template <class T>
MappedConvolution<T>::MappedConvolution(ConvolutionKind kind, ParameterSet<T>& set,
                                        const std::string& name, const ConvolutionOptions& o)
    : kind_(kind), sum_first_(o.in < o.out) {
  if (kind == ConvolutionKind::kSymmetric) {
    neighbours_ = Linear<T>(set, name + "lin", o.out, o.in, /*bias=*/false, o.initializer());
    bias_ = &convolution_bias(set, name + "lin.bias", o);
  } else if (kind == ConvolutionKind::kMean) {
    own_ = Linear<T>(set, name + "lin_own", o.out, o.in, /*bias=*/true, o.initializer());
    neighbours_ = Linear<T>(set, name + "lin_mean", o.out, o.in, /*bias=*/false, o.initializer());
  } else {
    own_ = Linear<T>(set, name + "lin", o.out, o.in, /*bias=*/true, o.initializer());
  }
}

template <class T>
void MappedConvolution<T>::prepare(const GraphInput<T>& input, bool reads_features) {
  if (kind_ == ConvolutionKind::kSymmetric) {
    matrix_ =
        shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/true, EdgeWeights::kUsed);
  } else if (kind_ == ConvolutionKind::kMean) {
    matrix_ =
        shared_adjacency(input, Normalisation::kMean, /*self_loops=*/false, EdgeWeights::kUsed);
  }
  if (!reads_features) return;
  if (kind_ != ConvolutionKind::kSymmetric) own_.prepare(*input.features);
  if (matrix_) neighbours_.prepare(*input.features);
}

template <class T>
Var<T> MappedConvolution<T>::summed(Tape<T>& tape, const InputView<T>& x,
                                    const LayerRows<T>& layer) const {
  if (sum_first_ && x.dense) {
    return neighbours_(tape, layer.at_receivers(tape, tensor::spmm(tape, *matrix_, x.dense)));
  }
  return layer.at_receivers(tape, tensor::spmm(tape, *matrix_, neighbours_(tape, x)));
}

template <class T>
Var<T> MappedConvolution<T>::operator()(Tape<T>& tape, const InputView<T>& x,
                                        const LayerRows<T>& layer,
                                        Inspection<T>* /*inspection*/) const {
  if (kind_ == ConvolutionKind::kSymmetric) {
    return tensor::add_bias(tape, summed(tape, x, layer), tape.parameter(*bias_));
  }
  const Var<T> own = map_at_receivers(tape, own_, x, layer);
  return matrix_ ? tensor::add(tape, own, summed(tape, x, layer)) : own;
}

template class MappedConvolution<DGAT_SCALAR>;

}  // namespace dgat::nn
