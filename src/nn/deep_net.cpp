// Recipe `deep`, the classic networks as they are tuned today (Luo, Shi and Wu, Classic GNNs are
// Strong Baselines, 2024): per layer x <- dropout(ReLU(norm(convolution(x) + skip(x)))), then a
// linear map to the classes. Names and shapes of the parameters are part of the file format.
#include <fmt/format.h>

#include <optional>
#include <utility>

#include "recipes.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

namespace {

template <class T>
class DeepLayer {
 public:
  /// `reads_features`: the input is the node features, not the rows of another layer.
  DeepLayer(ParameterSet<T>& set, const ModelOptions& o, const NetKind& kind, int64_t layer,
            bool reads_features)
      : reads_features_(reads_features),
        identity_(o.skip == Skip::kIdentity && !reads_features),
        dropout_(o.dropout) {
    const std::string name = fmt::format("layers.{}.", layer);
    const int64_t in = reads_features ? o.features : o.hidden;
    const bool linear_skip = o.skip == Skip::kLinear;
    // A network without a graph has one linear map per layer, not two.
    if (kind.convolution != ConvolutionKind::kNone || !linear_skip) {
      convolution_ = make_convolution(kind.convolution, set, name + "conv.",
                                      {.in = in,
                                       .out = o.hidden,
                                       .heads = o.heads,
                                       .form = AttentionForm::kClassic,
                                       .edge_features = kind.directional ? 2 * o.eigenvectors : 0,
                                       .start = o.init});
    }
    if (linear_skip) skip_.emplace(set, name + "skip", o.hidden, in);
    if (o.norm == Norm::kBatch) batch_norm_.emplace(set, name + "norm", o.hidden);
    if (o.norm == Norm::kLayer) layer_norm_.emplace(set, name + "norm", o.hidden);
  }

  void prepare(const GraphInput<T>& input) {
    if (convolution_) convolution_->prepare(input, reads_features_);
    if (skip_ && reads_features_) skip_->prepare(*input.features);
  }

  /// The rows of the layer's receivers.
  Var<T> operator()(Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer,
                    Inspection<T>* inspection) {
    Var<T> y = skipped(tape, x, layer), message;
    if (convolution_) message = (*convolution_)(tape, x, layer, inspection);
    if (!y) std::swap(y, message);
    if (batch_norm_) return batch_norm_->relu_dropout(tape, y, message, dropout_);
    if (message) y = tensor::add(tape, y, message);
    if (layer_norm_) y = (*layer_norm_)(tape, y);
    return tensor::relu_dropout(tape, y, dropout_);
  }

  void list_buffers(std::vector<NamedBuffer<T>>& all) {
    if (batch_norm_) batch_norm_->list_buffers(all);
  }

 private:
  Var<T> skipped(Tape<T>& tape, const InputView<T>& x, const LayerRows<T>& layer) const {
    if (skip_) return map_at_receivers(tape, *skip_, x, layer);
    return identity_ ? layer.at_receivers(tape, x.dense) : Var<T>();
  }

  bool reads_features_, identity_;
  double dropout_;
  std::unique_ptr<Convolution<T>> convolution_;
  std::optional<Linear<T>> skip_;
  std::optional<BatchNorm<T>> batch_norm_;
  std::optional<LayerNorm<T>> layer_norm_;
};

template <class T>
class DeepNet final : public Model<T> {
 public:
  DeepNet(const ModelOptions& options, const NetKind& kind)
      : Model<T>(options), by_messages_only_(is_attention(kind.convolution)) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    if (o.input_linear) input_.emplace(set, "input", o.hidden, o.features);
    for (int64_t l = 0; l < o.layers; ++l) {
      layers_.emplace_back(set, o, kind, l, /*reads_features=*/l == 0 && !o.input_linear);
    }
    output_ = Linear<T>(set, "output", o.outputs(),
                        o.jumps == Jumps::kCat ? o.layers * o.hidden : o.hidden);
  }

  void prepare(const GraphInput<T>& input) override {
    if (input_) input_->prepare(*input.features);
    for (DeepLayer<T>& layer : layers_) layer.prepare(input);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const Var<T> x = run(tape, input, all_rows(input), inspection);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    return output_(tape, x);
  }

  /// Statistics of a batch are those of all nodes, and a jump reads what layers before the last
  /// give: then only the output map is left to be spared.
  Var<T> forward_rows(Tape<T>& tape, const GraphInput<T>& input,
                      std::span<const int32_t> rows) override {
    if (this->options().norm == Norm::kBatch || this->options().jumps != Jumps::kNone) {
      const Var<T> x = run(tape, input, all_rows(input), nullptr);
      return output_(tape, tensor::gather_rows(tape, x, rows));
    }
    const auto& some = field_(input.messages, rows, std::ssize(layers_), by_messages_only_);
    return output_(tape, run(tape, input, some, nullptr));
  }

  std::vector<NamedBuffer<T>> buffers() override {
    std::vector<NamedBuffer<T>> all;
    for (DeepLayer<T>& layer : layers_) layer.list_buffers(all);
    return all;
  }

 private:
  std::vector<LayerRows<T>> all_rows(const GraphInput<T>& input) const {
    return std::vector<LayerRows<T>>(layers_.size(), LayerRows<T>{input.messages.get()});
  }

  /// What the output map reads.
  Var<T> run(Tape<T>& tape, const GraphInput<T>& input, const std::vector<LayerRows<T>>& rows,
             Inspection<T>* inspection) {
    const ModelOptions& o = this->options();
    InputView<T> x = view_input(tape, *input.features);
    if (input_) x = tensor::dropout(tape, (*input_)(tape, x), o.dropout);
    std::vector<Var<T>> given;
    for (size_t l = 0; l < layers_.size(); ++l) {
      given.push_back(layers_[l](tape, x, rows[l], inspection));
      x = given.back();
    }
    if (o.jumps == Jumps::kCat) return tensor::concat_columns(tape, given);
    Var<T> read = given.back();
    for (size_t l = 0; o.jumps == Jumps::kSum && l + 1 < given.size(); ++l) {
      read = tensor::add(tape, read, given[l]);
    }
    return read;
  }

  bool by_messages_only_;
  std::optional<Linear<T>> input_;
  std::vector<DeepLayer<T>> layers_;
  Linear<T> output_;
  ReceptiveField<T> field_;
};

}  // namespace

template <class T>
std::unique_ptr<Model<T>> make_deep_net(const ModelOptions& options, const NetKind& kind) {
  return std::make_unique<DeepNet<T>>(options, kind);
}

template std::unique_ptr<Model<DGAT_SCALAR>> make_deep_net(const ModelOptions&, const NetKind&);

}  // namespace dgat::nn
