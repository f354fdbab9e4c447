// Recipe `residual`: input linear -> dropout -> GELU; per layer x + FFN(aggregate(LayerNorm(x)));
// output LayerNorm -> linear. Names and shapes of the parameters are part of the file format.
#include <optional>

#include "attention_kind.h"
#include "dgat/core/error.h"
#include "dgat/tensor/attention.h"
#include "layers.h"
#include "operators.h"
#include "wanted_rows.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

namespace {

bool is_attention(Aggregation a) {
  return a == Aggregation::kAdditive || a == Aggregation::kGatv2 || a == Aggregation::kDotProduct;
}

/// The directional term of the scores: linear(2k, d) then linear(d, heads), collapsed to 2k numbers
/// and a bias per head before it meets an edge.
template <class T>
class EdgeScores {
 public:
  EdgeScores(ParameterSet<T>& set, const std::string& name, const ModelOptions& o)
      : inner_(set, name + "lin_edge", o.hidden, 2 * o.eigenvectors),
        outer_(set, name + "att_edge", o.heads, o.hidden) {}
  tensor::EdgeTerm<T> term(Tape<T>& tape, const tensor::Matrix<T>& features) const {
    return {&features, tensor::matmul(tape, outer_.weight(tape), inner_.weight(tape)),
            outer_(tape, inner_.bias(tape))};
  }

 private:
  Linear<T> inner_, outer_;
};

/// One layer: norm, aggregation, feed-forward, residual sums.
template <class T>
class ResidualBlock {
 public:
  ResidualBlock(ParameterSet<T>& set, const std::string& name, const ModelOptions& o,
                Aggregation aggregation, bool separate, bool directional)
      : options_(o), aggregation_(aggregation), separate_(separate) {
    const int64_t d = o.hidden;
    norm_ = LayerNorm<T>(set, name + "norm", d);
    if (aggregation == Aggregation::kAdditive) {
      lin_ = Linear<T>(set, name + "lin", d, d);
      att_src_ = Linear<T>(set, name + "att_src", o.heads, d);
      att_dst_ = Linear<T>(set, name + "att_dst", o.heads, d, /*bias=*/false);
    } else if (aggregation == Aggregation::kGatv2) {
      lin_ = Linear<T>(set, name + "lin_src", d, d);
      lin_dst_ = Linear<T>(set, name + "lin_dst", d, d);
      att_ = &set.weight(name + "att", o.heads, d / o.heads);
    } else if (aggregation == Aggregation::kDotProduct) {
      query_ = Linear<T>(set, name + "lin_query", d, d);
      key_ = Linear<T>(set, name + "lin_key", d, d);
      lin_ = Linear<T>(set, name + "lin_value", d, d);
    }
    if (is_attention(aggregation) && directional) edge_.emplace(set, name, o);
    const int64_t read = separate ? 2 * d : d;
    if (aggregation == Aggregation::kDotProduct) {
      out_ = Linear<T>(set, name + "lin_out", d, read);
      norm_ffn_ = LayerNorm<T>(set, name + "norm_ffn", d);
      ffn_ = FeedForward<T>(set, name + "ffn", d, d, o.dropout);
    } else {
      ffn_ = FeedForward<T>(set, name + "ffn", d, read, o.dropout);
    }
  }

  /// The rows of x after this layer, or of those nodes that `readers` names.
  Var<T> operator()(Tape<T>& tape, const Messages<T>& messages, const Readers& readers,
                    const std::shared_ptr<const tensor::SparseMatrix<T>>& constant_weights,
                    Var<T> x, Inspection<T>* inspection) const {
    const double p = options_.dropout;
    // What is read of x is picked before the norm, so that its gradient comes last and is added to
    // that of the norm in place.
    const Var<T> kept = readers(tape, x);
    Var<T> message = norm_(tape, x);
    if (aggregation_ == Aggregation::kDotProduct) {
      message = out_(tape, attend(tape, messages, readers, message, inspection));
      x = tensor::add_dropout(tape, kept, message, p);
      return tensor::add_dropout(tape, x, ffn_(tape, norm_ffn_(tape, x)), p);
    }
    if (is_attention(aggregation_)) {
      message = attend(tape, messages, readers, message, inspection);
    } else if (aggregation_ == Aggregation::kNone) {
      message = readers(tape, message);
    } else {
      const Var<T> own = message;
      message = readers(tape, tensor::spmm(tape, *constant_weights, own));
      if (separate_) message = tensor::concat_columns(tape, {readers(tape, own), message});
    }
    return tensor::add_dropout(tape, kept, ffn_(tape, message), p);
  }

 private:
  /// The message, or [own || message].
  Var<T> attend(Tape<T>& tape, const Messages<T>& messages, const Readers& readers, const Var<T>& x,
                Inspection<T>* inspection) const {
    const tensor::AttentionOptions attention{.heads = options_.heads};
    tensor::EdgeTerm<T> edge;
    if (edge_) edge = edge_->term(tape, messages.features);
    tensor::Matrix<T>* alpha = nullptr;
    if (inspection != nullptr) alpha = &inspection->attention.emplace_back();
    Var<T> own, message;
    if (aggregation_ == Aggregation::kAdditive) {
      own = lin_(tape, x);
      message =
          tensor::additive_attention(tape, messages.graph, own, readers(tape, att_dst_(tape, own)),
                                     att_src_(tape, own), edge, attention, alpha);
      if (separate_) own = readers(tape, own);
    } else if (aggregation_ == Aggregation::kGatv2) {
      own = lin_(tape, x);
      message = tensor::gatv2_attention(tape, messages.graph, lin_dst_(tape, readers(tape, x)), own,
                                        tape.parameter(*att_), edge, attention, alpha);
      if (separate_) own = readers(tape, own);
    } else {
      own = readers(tape, x);
      message = tensor::dot_attention(tape, messages.graph, query_(tape, own), key_(tape, x),
                                      lin_(tape, x), edge, attention, alpha);
    }
    return separate_ ? tensor::concat_columns(tape, {own, message}) : message;
  }

  ModelOptions options_;
  Aggregation aggregation_;
  bool separate_;
  LayerNorm<T> norm_, norm_ffn_;
  Linear<T> lin_, lin_dst_, att_src_, att_dst_, query_, key_, out_;
  tensor::Parameter<T>* att_ = nullptr;
  std::optional<EdgeScores<T>> edge_;
  FeedForward<T> ffn_;
};

template <class T>
class ResidualNet final : public Model<T> {
 public:
  ResidualNet(const ModelOptions& options, Aggregation aggregation, bool separate, bool directional)
      : Model<T>(options), aggregation_(aggregation) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    input_ = InputLinear<T>(set, "input", o.hidden, o.features);
    for (int64_t l = 0; l < o.layers; ++l) {
      blocks_.emplace_back(set, fmt::format("layers.{}.", l), o, aggregation, separate,
                           directional);
    }
    norm_ = LayerNorm<T>(set, "norm", o.hidden);
    output_ = Linear<T>(set, "output", o.outputs(), o.hidden);
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    if (aggregation_ == Aggregation::kSymmetric) {
      constant_weights_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/true);
    } else if (aggregation_ == Aggregation::kMean) {
      constant_weights_ = shared_adjacency(input, Normalisation::kMean);
    }
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    Var<T> x = first(tape, input);
    for (const ResidualBlock<T>& block : blocks_) {
      x = block(tape, *input.messages, {}, constant_weights_, std::move(x), inspection);
    }
    x = norm_(tape, x);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    return output_(tape, x);
  }

  Var<T> forward_rows(Tape<T>& tape, const GraphInput<T>& input,
                      std::span<const int32_t> rows) override {
    const auto& shares =
        shares_(input.messages, rows, std::ssize(blocks_), is_attention(aggregation_));
    Var<T> x = first(tape, input);
    for (size_t l = 0; l < blocks_.size(); ++l) {
      x = blocks_[l](tape, *shares[l].messages, shares[l].readers, constant_weights_, std::move(x),
                     nullptr);
    }
    return output_(tape, norm_(tape, x));
  }

 private:
  Var<T> first(Tape<T>& tape, const GraphInput<T>& input) const {
    const Var<T> x = input_(tape, view_input(tape, *input.features));
    return tensor::dropout_gelu(tape, x, this->options().dropout);
  }

  Aggregation aggregation_;
  InputLinear<T> input_;
  std::vector<ResidualBlock<T>> blocks_;
  LayerNorm<T> norm_;
  Linear<T> output_;
  std::shared_ptr<const tensor::SparseMatrix<T>> constant_weights_;  // gcn and sage
  LayerShares<T> shares_;
};

}  // namespace

template <class T>
std::unique_ptr<Model<T>> make_residual_net(const ModelOptions& options, Aggregation aggregation,
                                            bool separate, bool directional) {
  return std::make_unique<ResidualNet<T>>(options, aggregation, separate, directional);
}

template std::unique_ptr<Model<float>> make_residual_net(const ModelOptions&, Aggregation, bool,
                                                         bool);
template std::unique_ptr<Model<double>> make_residual_net(const ModelOptions&, Aggregation, bool,
                                                          bool);

}  // namespace dgat::nn
