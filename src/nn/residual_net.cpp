// Recipe `residual`: input linear -> dropout -> GELU; per layer x + FFN(convolution(LayerNorm(x)));
// output LayerNorm -> linear. With dot-product attention a layer is that of a transformer: the
// attention has an output map and a residual sum of its own. Names and shapes of the parameters are
// part of the file format.
#include <fmt/format.h>

#include <algorithm>

#include "recipes.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

namespace {

template <class T>
class ResidualBlock {
 public:
  ResidualBlock(ParameterSet<T>& set, const std::string& name, const ModelOptions& o,
                const NetKind& kind)
      : dropout_(o.dropout),
        transformer_(kind.convolution == ConvolutionKind::kDotProduct),
        norm_(set, name + "norm", o.hidden),
        convolution_(make_convolution(kind.convolution, set, name,
                                      {.in = o.hidden,
                                       .out = o.hidden,
                                       .heads = o.heads,
                                       .form = AttentionForm::kResidual,
                                       .edge_features = kind.directional ? 2 * o.eigenvectors : 0,
                                       .separate = kind.separate})) {
    const int64_t d = o.hidden, read = kind.separate ? 2 * d : d;
    if (transformer_) {
      out_ = Linear<T>(set, name + "lin_out", d, read);
      norm_ffn_ = LayerNorm<T>(set, name + "norm_ffn", d);
    }
    ffn_ = FeedForward<T>(set, name + "ffn", d, transformer_ ? d : read, o.dropout);
  }

  void prepare(const GraphInput<T>& input) {
    convolution_->prepare(input, /*reads_features=*/false);
  }

  /// The rows of the layer's receivers.
  Var<T> operator()(Tape<T>& tape, const Var<T>& x, const LayerRows<T>& layer,
                    Inspection<T>* inspection) const {
    // What is read of x is picked before the norm, so that its gradient comes last and is added to
    // that of the norm in place.
    const Var<T> own = layer.at_receivers(tape, x);
    const Var<T> message = (*convolution_)(tape, norm_(tape, x), layer, inspection);
    if (!transformer_) return tensor::add_dropout(tape, own, ffn_(tape, message), dropout_);
    const Var<T> y = tensor::add_dropout(tape, own, out_(tape, message), dropout_);
    return tensor::add_dropout(tape, y, ffn_(tape, norm_ffn_(tape, y)), dropout_);
  }

 private:
  double dropout_;
  bool transformer_;
  LayerNorm<T> norm_, norm_ffn_;
  std::unique_ptr<Convolution<T>> convolution_;
  Linear<T> out_;
  FeedForward<T> ffn_;
};

template <class T>
class ResidualNet final : public Model<T> {
 public:
  ResidualNet(const ModelOptions& options, const NetKind& kind)
      : Model<T>(options), by_messages_only_(is_attention(kind.convolution)) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    input_ = Linear<T>(set, "input", o.hidden, o.features);
    for (int64_t l = 0; l < o.layers; ++l) {
      blocks_.emplace_back(set, fmt::format("layers.{}.", l), o, kind);
    }
    norm_ = LayerNorm<T>(set, "norm", o.hidden);
    output_ = Linear<T>(set, "output", o.outputs(), o.hidden);
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    for (ResidualBlock<T>& block : blocks_) block.prepare(input);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const std::vector<LayerRows<T>> all(blocks_.size(), LayerRows<T>{input.messages.get()});
    return run(tape, input, all, inspection);
  }

  Var<T> forward_rows(Tape<T>& tape, const GraphInput<T>& input,
                      std::span<const int32_t> rows) override {
    return run(tape, input, field_(input.messages, rows, std::ssize(blocks_), by_messages_only_),
               nullptr);
  }

  /// An attention reads other nodes along messages only; the others take all rows at once.
  tensor::Matrix<T> forward_by_parts(Tape<T>& tape, const GraphInput<T>& input,
                                     const std::vector<std::vector<int32_t>>& parts) override {
    if (!by_messages_only_) return Model<T>::forward_by_parts(tape, input, parts);
    tensor::Matrix<T> x(input.nodes(), this->options().hidden);
    for (const std::vector<int32_t>& part : parts) {
      const NodeFeatures<T> own = input.features->rows_of(part);
      const Var<T> y = input_(tape, view_input(tape, own));
      put_rows(x, part, tensor::dropout_gelu(tape, y, this->options().dropout));
    }
    for (const ResidualBlock<T>& block : blocks_) {
      tensor::Matrix<T> next(x.rows(), x.cols());
      for (const std::vector<int32_t>& part : parts) {
        const std::vector<int32_t> read = nodes_read_by(input.messages->graph, part);
        const std::vector<int32_t> own = places_in(read, part);
        const Messages<T> messages = input.messages->into(part, read);
        const Var<T> senders = tensor::gather_rows(tape, tape.reference(x), read);
        put_rows(next, part, block(tape, senders, LayerRows<T>{&messages, own}, nullptr));
      }
      x = std::move(next);
    }
    tensor::Matrix<T> logits(x.rows(), this->options().outputs());
    for (const std::vector<int32_t>& part : parts) {
      const Var<T> rows = tensor::gather_rows(tape, tape.reference(x), part);
      put_rows(logits, part, output_(tape, norm_(tape, rows)));
    }
    return logits;
  }

 private:
  static void put_rows(tensor::Matrix<T>& into, std::span<const int32_t> places,
                       const Var<T>& rows) {
    for (int64_t k = 0; k < rows.rows(); ++k) {
      std::copy_n(rows.value().row(k), rows.cols(), into.row(places[static_cast<size_t>(k)]));
    }
  }

  Var<T> run(Tape<T>& tape, const GraphInput<T>& input, const std::vector<LayerRows<T>>& rows,
             Inspection<T>* inspection) const {
    Var<T> x = input_(tape, view_input(tape, *input.features));
    x = tensor::dropout_gelu(tape, x, this->options().dropout);
    for (size_t l = 0; l < blocks_.size(); ++l) x = blocks_[l](tape, x, rows[l], inspection);
    x = norm_(tape, x);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    return output_(tape, x);
  }

  bool by_messages_only_;
  Linear<T> input_;
  std::vector<ResidualBlock<T>> blocks_;
  LayerNorm<T> norm_;
  Linear<T> output_;
  ReceptiveField<T> field_;
};

}  // namespace

template <class T>
std::unique_ptr<Model<T>> make_residual_net(const ModelOptions& options, const NetKind& kind) {
  return std::make_unique<ResidualNet<T>>(options, kind);
}

template std::unique_ptr<Model<DGAT_SCALAR>> make_residual_net(const ModelOptions&, const NetKind&);

}  // namespace dgat::nn
