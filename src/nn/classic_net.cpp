// Recipe `classic`, the network of the original GAT paper: layer l is the concatenation over heads
// of ELU(sum_j alpha_ij W x_j), the last layer one head to the classes; dropout on the input of
// every layer and on alpha. Names and shapes of the parameters are part of the file format.
#include <fmt/format.h>

#include <optional>

#include "recipes.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

namespace {

template <class T>
class ClassicLayer {
 public:
  ClassicLayer(ParameterSet<T>& set, const ModelOptions& o, const NetKind& kind, int64_t layer)
      : first_(layer == 0), last_(layer + 1 == o.layers) {
    const std::string name = fmt::format("layers.{}.", layer);
    attention_ = make_convolution(kind.convolution, set, name,
                                  {.in = first_ ? o.features : o.hidden,
                                   .out = last_ ? o.outputs() : o.hidden,
                                   .heads = last_ ? 1 : o.heads,
                                   .form = AttentionForm::kClassic,
                                   .edge_features = kind.directional ? 2 * o.eigenvectors : 0,
                                   .dropout = o.dropout,
                                   .dropout_values = o.dropout_values ? o.dropout : 0,
                                   .bias = o.conv_bias,
                                   .start = o.init});
    if (o.projection && !last_) {
      projection_.emplace(set, name + "projection", o.hidden, o.hidden, /*bias=*/false);
    }
  }

  void prepare(const GraphInput<T>& input) { attention_->prepare(input, first_); }

  /// The rows of the layer's receivers.
  Var<T> operator()(Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                    Inspection<T>* inspection) const {
    Var<T> message = (*attention_)(tape, x, layer, inspection);
    if (last_) return message;
    message = tensor::activate(tape, message, tensor::Activation::kElu);
    return projection_ ? (*projection_)(tape, message) : message;
  }

 private:
  bool first_, last_;
  std::unique_ptr<Convolution<T>> attention_;
  std::optional<Linear<T>> projection_;
};

template <class T>
class ClassicNet final : public Model<T> {
 public:
  ClassicNet(const ModelOptions& options, const NetKind& kind) : Model<T>(options) {
    for (int64_t l = 0; l < options.layers; ++l) {
      layers_.emplace_back(this->parameters(), this->options(), kind, l);
    }
  }

  void prepare(const GraphInput<T>& input) override {
    for (ClassicLayer<T>& layer : layers_) layer.prepare(input);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const std::vector<LayerRows<T>> all(layers_.size(), LayerRows<T>{input.messages.get()});
    return run(tape, input, all, inspection);
  }

  Var<T> forward_rows(Tape<T>& tape, const GraphInput<T>& input,
                      std::span<const int32_t> rows) override {
    return run(tape, input, field_(input.messages, rows, std::ssize(layers_), true), nullptr);
  }

 private:
  Var<T> run(Tape<T>& tape, const GraphInput<T>& input, const std::vector<LayerRows<T>>& rows,
             Inspection<T>* inspection) const {
    const double dropout = this->options().dropout;
    Var<T> x = layers_[0](tape, view_input(tape, *input.features, dropout), rows[0], inspection);
    for (size_t l = 1; l < layers_.size(); ++l) {
      if (inspection != nullptr) inspection->embeddings = x.value().clone();
      x = layers_[l](tape, tensor::dropout(tape, x, dropout), rows[l], inspection);
    }
    return x;
  }

  std::vector<ClassicLayer<T>> layers_;
  ReceptiveField<T> field_;
};

}  // namespace

template <class T>
std::unique_ptr<Model<T>> make_classic_net(const ModelOptions& options, const NetKind& kind) {
  return std::make_unique<ClassicNet<T>>(options, kind);
}

template std::unique_ptr<Model<DGAT_SCALAR>> make_classic_net(const ModelOptions&, const NetKind&);

}  // namespace dgat::nn
