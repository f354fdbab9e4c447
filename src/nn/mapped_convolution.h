#pragma once

#include "convolution.h"

/// Convolutions with constant weights and linear maps of their own.
namespace dgat::nn {

/// gcn:    M (x W^T) + b, M = (D+I)^-1/2 (A+I) (D+I)^-1/2
/// sage:   x W_own^T + b + M (x W_mean^T), M = D^-1 A
/// resnet: x W^T + b
///
/// The narrower of x and x W^T is summed over neighbours.
/// Parameters: NAMElin.{weight,bias}, or NAMElin_own.{weight,bias} and NAMElin_mean.weight.
template <class T>
class MappedConvolution final : public Convolution<T> {
 public:
  MappedConvolution(ConvolutionKind kind, ParameterSet<T>& set, const std::string& name,
                    const ConvolutionOptions& options);
  void prepare(const GraphInput<T>& input, bool reads_features) override;
  tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                            Inspection<T>* inspection) const override;

 private:
  /// M (x W^T) at the receivers.
  tensor::Var<T> summed(tensor::Tape<T>& tape, const InputView<T>& x,
                        const LayerRows<T>& layer) const;

  ConvolutionKind kind_;
  bool sum_first_;
  Linear<T> own_, neighbours_;
  tensor::Parameter<T>* bias_ = nullptr;
  std::shared_ptr<const tensor::SparseMatrix<T>> matrix_;
};

}  // namespace dgat::nn
