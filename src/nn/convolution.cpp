#include "convolution.h"

#include "adjacency.h"
#include "attention.h"
#include "dgat.h"
#include "mapped_convolution.h"

namespace dgat::nn {
namespace {
using tensor::Tape;
using tensor::Var;

/// gcn and sage: M x with a constant matrix; resnet: x.
template <class T>
class ConstantConvolution final : public Convolution<T> {
 public:
  ConstantConvolution(ConvolutionKind kind, bool separate) : kind_(kind), separate_(separate) {}

  void prepare(const GraphInput<T>& input, bool /*reads_features*/) override {
    if (kind_ == ConvolutionKind::kSymmetric) {
      matrix_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/true,
                                 EdgeWeights::kUsed);
    } else if (kind_ == ConvolutionKind::kMean) {
      matrix_ =
          shared_adjacency(input, Normalisation::kMean, /*self_loops=*/false, EdgeWeights::kUsed);
    }
  }

  Var<T> operator()(Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                    Inspection<T>* /*inspection*/) const override {
    if (!matrix_) return layer.at_receivers(tape, x.dense);
    Var<T> message = layer.at_receivers(tape, tensor::spmm(tape, *matrix_, x.dense));
    if (!separate_) return message;
    return tensor::concat_columns(tape, {layer.at_receivers(tape, x.dense), message});
  }

 private:
  ConvolutionKind kind_;
  bool separate_;
  std::shared_ptr<const tensor::SparseMatrix<T>> matrix_;
};

}  // namespace

template <class T>
std::unique_ptr<Convolution<T>> make_convolution(ConvolutionKind kind, ParameterSet<T>& set,
                                                 const std::string& name,
                                                 const ConvolutionOptions& options) {
  switch (kind) {
    case ConvolutionKind::kAdditive:
      return std::make_unique<DirectionalAttention<T>>(set, name, options);
    case ConvolutionKind::kGatv2:
      return std::make_unique<Gatv2Attention<T>>(set, name, options);
    case ConvolutionKind::kDotProduct:
      return std::make_unique<DotAttention<T>>(set, name, options);
    default:
      if (options.form == AttentionForm::kClassic) {
        return std::make_unique<MappedConvolution<T>>(kind, set, name, options);
      }
      return std::make_unique<ConstantConvolution<T>>(kind, options.separate);
  }
}

template std::unique_ptr<Convolution<DGAT_SCALAR>> make_convolution(ConvolutionKind,
                                                                    ParameterSet<DGAT_SCALAR>&,
                                                                    const std::string&,
                                                                    const ConvolutionOptions&);

}  // namespace dgat::nn
