// Recipe `classic`, the network of the original GAT paper: layer l is the concatenation over heads
// of ELU(sum_j alpha_ij W x_j), the last layer one head to the classes; dropout on the input of
// every layer and on alpha. Scores are per head: a_h . [y_i,h || y_j,h (|| W_e,h f_ij)].
#include <optional>

#include "attention_kind.h"
#include "dgat/core/error.h"
#include "dgat/tensor/attention.h"
#include "layers.h"
#include "wanted_rows.h"

namespace dgat::nn {
using tensor::Tape;
using tensor::Var;

namespace {

/// A linear map without bias that reads the node features in the first layer and a hidden
/// representation in the others.
template <class T>
class LayerMap {
 public:
  LayerMap() = default;
  LayerMap(ParameterSet<T>& set, const std::string& name, int64_t out, int64_t in, bool first) {
    if (first) {
      features_ = InputLinear<T>(set, name, out, in, /*bias=*/false);
    } else {
      hidden_ = Linear<T>(set, name, out, in, /*bias=*/false);
    }
  }
  void prepare(const NodeFeatures<T>& features) { features_.prepare(features); }
  /// `x` is empty in the first layer.
  Var<T> operator()(Tape<T>& tape, const InputView<T>& features, const Var<T>& x) const {
    return x ? hidden_(tape, x) : features_(tape, features);
  }

 private:
  InputLinear<T> features_;
  Linear<T> hidden_;
};

template <class T>
class ClassicLayer {
 public:
  ClassicLayer(ParameterSet<T>& set, const std::string& name, const ModelOptions& o,
               Aggregation aggregation, bool directional, int64_t layer)
      : aggregation_(aggregation), first_(layer == 0), last_(layer + 1 == o.layers) {
    heads_ = last_ ? 1 : o.heads;
    const int64_t out = last_ ? o.outputs() : o.hidden, in = first_ ? o.features : o.hidden;
    const int64_t d = out / heads_;
    const auto map = [&](const char* part) {
      return LayerMap<T>(set, name + part, out, in, first_);
    };
    const auto vector = [&](const char* part) { return &set.weight(name + part, heads_, d); };
    if (aggregation == Aggregation::kAdditive) {
      value_ = map("lin");
      att_src_ = vector("att_src");
      att_dst_ = vector("att_dst");
    } else if (aggregation == Aggregation::kGatv2) {
      value_ = map("lin_src");
      query_ = map("lin_dst");
      att_src_ = vector("att");
    } else {
      query_ = map("lin_query");
      key_ = map("lin_key");
      value_ = map("lin_value");
    }
    if (directional) {
      lin_edge_ = &set.weight(name + "lin_edge.weight", out, 2 * o.eigenvectors);
      att_edge_ = vector("att_edge");
    }
    if (o.projection && !last_) {
      projection_ = Linear<T>(set, name + "projection", o.hidden, o.hidden, /*bias=*/false);
      projected_ = true;
    }
  }

  void prepare(const NodeFeatures<T>& features) {
    if (!first_) return;
    value_.prepare(features);
    if (aggregation_ != Aggregation::kAdditive) query_.prepare(features);
    if (aggregation_ == Aggregation::kDotProduct) key_.prepare(features);
  }

  /// The rows of all nodes after this layer, or of those that `readers` names.
  Var<T> operator()(Tape<T>& tape, const NodeFeatures<T>& nodes, const Messages<T>& messages,
                    const Readers& readers, Var<T> x, double dropout,
                    Inspection<T>* inspection) const {
    InputView<T> features;
    if (first_) {
      features = view_input(tape, nodes, dropout);
    } else {
      x = tensor::dropout(tape, x, dropout);
    }
    const tensor::AttentionOptions attention{.heads = heads_, .dropout = dropout};
    tensor::EdgeTerm<T> edge;
    if (att_edge_ != nullptr) {  // a_edge,h . (W_e,h f): one row of coefficients per head
      const Var<T> columns = tensor::transpose(tape, tape.parameter(*lin_edge_));
      edge = {&messages.features,
              tensor::transpose(tape, tensor::head_dots(tape, columns, tape.parameter(*att_edge_))),
              {}};
    }
    tensor::Matrix<T>* alpha = nullptr;
    if (inspection != nullptr) alpha = &inspection->attention.emplace_back();
    const tensor::MessageGraph& graph = messages.graph;
    const Var<T> value = value_(tape, features, x);
    Var<T> message;
    if (aggregation_ == Aggregation::kAdditive) {
      message = tensor::additive_attention(
          tape, graph, value,
          readers(tape, tensor::head_dots(tape, value, tape.parameter(*att_dst_))),
          tensor::head_dots(tape, value, tape.parameter(*att_src_)), edge, attention, alpha);
    } else if (aggregation_ == Aggregation::kGatv2) {
      message = tensor::gatv2_attention(tape, graph, readers(tape, query_(tape, features, x)),
                                        value, tape.parameter(*att_src_), edge, attention, alpha);
    } else {
      message = tensor::dot_attention(tape, graph, readers(tape, query_(tape, features, x)),
                                      key_(tape, features, x), value, edge, attention, alpha);
    }
    if (last_) return message;
    message = tensor::activate(tape, message, tensor::Activation::kElu);
    return projected_ ? projection_(tape, message) : message;
  }

 private:
  Aggregation aggregation_;
  bool first_, last_, projected_ = false;
  int64_t heads_ = 1;
  LayerMap<T> value_, query_, key_;
  tensor::Parameter<T>*att_src_ = nullptr, *att_dst_ = nullptr;
  tensor::Parameter<T>*lin_edge_ = nullptr, *att_edge_ = nullptr;
  Linear<T> projection_;
};

template <class T>
class ClassicNet final : public Model<T> {
 public:
  ClassicNet(const ModelOptions& options, Aggregation aggregation, bool directional)
      : Model<T>(options) {
    for (int64_t l = 0; l < options.layers; ++l) {
      layers_.emplace_back(this->parameters(), fmt::format("layers.{}.", l), this->options(),
                           aggregation, directional, l);
    }
  }

  void prepare(const GraphInput<T>& input) override {
    for (ClassicLayer<T>& layer : layers_) layer.prepare(*input.features);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    Var<T> x;
    for (const ClassicLayer<T>& layer : layers_) {
      if (inspection != nullptr && x) inspection->embeddings = x.value().clone();
      x = layer(tape, *input.features, *input.messages, {}, x, this->options().dropout, inspection);
    }
    return x;
  }

  Var<T> forward_rows(Tape<T>& tape, const GraphInput<T>& input,
                      std::span<const int32_t> rows) override {
    const auto& shares = shares_(input.messages, rows, std::ssize(layers_), true);
    Var<T> x;
    for (size_t l = 0; l < layers_.size(); ++l) {
      x = layers_[l](tape, *input.features, *shares[l].messages, shares[l].readers, x,
                     this->options().dropout, nullptr);
    }
    return x;
  }

 private:
  std::vector<ClassicLayer<T>> layers_;
  LayerShares<T> shares_;
};

}  // namespace

template <class T>
std::unique_ptr<Model<T>> make_classic_net(const ModelOptions& options, Aggregation aggregation,
                                           bool directional) {
  return std::make_unique<ClassicNet<T>>(options, aggregation, directional);
}

template std::unique_ptr<Model<float>> make_classic_net(const ModelOptions&, Aggregation, bool);
template std::unique_ptr<Model<double>> make_classic_net(const ModelOptions&, Aggregation, bool);

}  // namespace dgat::nn
