#pragma once

#include <memory>
#include <string>

#include "layers.h"
#include "receptive_field.h"

/// Graph convolutions: what a node receives from its neighbours. The recipes (recipes.h) put norms,
/// residual sums and activations around them.
namespace dgat::nn {

enum class ConvolutionKind {
  kNone,       ///< resnet: the node itself, no graph
  kMean,       ///< sage: the mean of the neighbours
  kSymmetric,  ///< gcn: (D+I)^-1/2 (A+I) (D+I)^-1/2 x
  kAdditive,   ///< gat: score_ij = LeakyReLU(a_dst.y_i + a_src.y_j), y = W x
  kGatv2,      ///< gatv2: score_ij = a.LeakyReLU(W_dst x_i + W_src x_j)
  kDotProduct  ///< gt: score_ij = q_i.k_j / sqrt(d)
};
constexpr bool is_attention(ConvolutionKind kind) {
  return kind >= ConvolutionKind::kAdditive;
}

/// How a recipe writes a convolution.
enum class AttentionForm {
  kClassic,  ///< head h scores by its own slice, a_h . y_i,h; nothing has a bias; gcn and sage
             ///< have linear maps (mapped_convolution.h)
  kResidual  ///< every head scores by the whole row, a_h . y_i; linear maps have biases; gcn and
             ///< sage have none of their own
};

struct ConvolutionOptions {
  int64_t in = 0, out = 0;
  int64_t heads = 1;
  AttentionForm form = AttentionForm::kClassic;
  int64_t edge_features = 0;  ///< columns of f_ij; 0: scores without a directional term
  bool separate = false;      ///< gives [own_i || message_i] instead of message_i
  double dropout = 0;         ///< on the attention weights
  double dropout_values = 0;  ///< on the values of an attention, behind the scores (gatv2: before)
  bool bias = false;          ///< attention: a bias behind the sum, NAMEbias
  Start start = Start::kUniform;

  Initializer initializer() const {
    return start == Start::kGlorot ? Initializer::glorot_uniform() : Initializer{};
  }
};

/// A bias [out] that starts as the options say.
template <class T>
tensor::Parameter<T>& convolution_bias(ParameterSet<T>& set, const std::string& name,
                                       const ConvolutionOptions& o) {
  return o.start == Start::kGlorot ? set.constant(name, 1, o.out, 0, /*weight_decay=*/false)
                                   : set.bias(name, o.out, o.in);
}

/// message_i = sum over j in N(i) of alpha_ij v_j, with constant or learned weights alpha.
template <class T>
class Convolution {
 public:
  Convolution() = default;
  virtual ~Convolution() = default;
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  /// Called from Model::prepare(). `reads_features`: x will be a view of the node features.
  virtual void prepare(const GraphInput<T>& /*input*/, bool /*reads_features*/) {}

  /// One row for every receiver of the layer; x has one for every sender. An attention adds its
  /// weights to the inspection, if there is one.
  virtual tensor::Var<T> operator()(tensor::Tape<T>& tape, const InputView<T>& x,
                                    const LayerRows<T>& layer, Inspection<T>* inspection) const = 0;
};

/// The rows of map(x) at the receivers; picked before the map where x is a matrix, which is less
/// work.
template <class T>
tensor::Var<T> map_at_receivers(tensor::Tape<T>& tape, const Linear<T>& map, const InputView<T>& x,
                                const LayerRows<T>& layer) {
  return x.dense ? map(tape, layer.at_receivers(tape, x.dense))
                 : layer.at_receivers(tape, map(tape, x));
}

/// Declares the parameters NAME... in the set.
template <class T>
std::unique_ptr<Convolution<T>> make_convolution(ConvolutionKind kind, ParameterSet<T>& set,
                                                 const std::string& name,
                                                 const ConvolutionOptions& options);

}  // namespace dgat::nn
