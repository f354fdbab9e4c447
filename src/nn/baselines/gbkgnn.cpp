// GBK-GNN: Du et al., GBK-GNN: Gated Bi-Kernel Graph Neural Networks, WWW 2022.
//
//   score_ij = LeakyReLU_0.2( a_dst.(W_g x_i) + a_src.(W_g x_j) ),   sigma = sigmoid(score)
//   h_i = W_f x_i + b + (1/d_i) sum_j [ sigma_ij W_s x_j + (1 - sigma_ij) W_d x_j ]
//   x <- dropout(ReLU(h)) between layers; the last layer gives the logits
//   loss = cross-entropy + lambda sum over layers of
//          mean over arcs with two training ends of BCE(sigma_ij, [y_i = y_j])
//
// Computed as W_f x + b + D^-1 ( sum_j sigma_ij p_j ) + D^-1 A q, with q = W_d x, p = W_s x - q: a
// number per arc for the gate, never a vector. Isolated nodes keep W_f x + b. Without an arc
// between training nodes the gate has no loss.
//
// This is the paper's model with GraphSAGE as the base. The public code differs in four places: its
// dissimilar kernel reads x_i instead of x_j; even widths concatenate two kernels of half the width
// instead of adding; the gate's loss feeds [1 - sigma, sigma] to a softmax as if they were logits;
// and its edge labels compare class numbers by cosine, not by equality. Left open by the paper and
// taken from the code: the form of the score, Glorot weights for the gate and the kernels.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/split.h"

namespace dgat::nn {
namespace {

/// The graph without self loops and what its arcs are supervised with.
template <class T>
struct GatedGraph {
  tensor::MessageGraph graph;
  tensor::Matrix<T> inverse_degrees;  ///< [n, 1]; 0 for isolated nodes
};

template <class T>
GatedGraph<T> gated_graph(const graph::CsrGraph& graph) {
  GatedGraph<T> out{tensor::MessageGraph::from(graph, /*self_loops=*/false),
                    tensor::Matrix<T>(graph.nodes(), 1)};
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    const auto degree = static_cast<double>(graph.degree(i));
    out.inverse_degrees(i, 0) = static_cast<T>(degree > 0 ? 1 / degree : 0);
  }
  return out;
}

template <class T>
GatedGraph<T> part_of(const GatedGraph<T>& whole, dist::Communicator& ranks) {
  GatedGraph<T> part{whole.graph.part(ranks), {}};
  part.inverse_degrees = tensor::own_rows(part.graph.share()->receivers, whole.inverse_degrees);
  return part;
}

template <class T>
class GbkLayer {
 public:
  GbkLayer(ParameterSet<T>& set, const std::string& name, int64_t out, int64_t in)
      : own_(set, name + "own", out, in),
        gate_(set, name + "gate", out, in, false, Initializer::glorot_uniform()),
        similar_(set, name + "similar", out, in, false, Initializer::glorot_uniform()),
        dissimilar_(set, name + "dissimilar", out, in, false, Initializer::glorot_uniform()),
        gate_dst_(set, name + "gate_dst", 1, out, false, Initializer::glorot_uniform()),
        gate_src_(set, name + "gate_src", 1, out, false, Initializer::glorot_uniform()) {}

  void prepare(const NodeFeatures<T>& features) {
    for (Linear<T>* map : {&own_, &gate_, &similar_, &dissimilar_}) map->prepare(features);
  }

  /// Leaves the scores of the gate in `scores`.
  Var<T> operator()(Tape<T>& tape, const GatedGraph<T>& gated, const tensor::SparseMatrix<T>& mean,
                    const InputView<T>& x, Var<T>& scores) const {
    const Var<T> g = gate_(tape, x);
    scores =
        tensor::edge_additive_scores(tape, gated.graph, gate_dst_(tape, g), gate_src_(tape, g));
    scores = tensor::activate(tape, scores, tensor::Activation::kLeakyRelu);
    const Var<T> sigma = tensor::activate(tape, scores, tensor::Activation::kSigmoid);
    const Var<T> q = dissimilar_(tape, x);
    const Var<T> p = tensor::add(tape, similar_(tape, x), tensor::scale(tape, q, -1));
    const Var<T> gated_sum = tensor::edge_aggregate(tape, gated.graph, sigma, p);
    Var<T> out = tensor::scale_rows(tape, gated_sum, tape.reference(gated.inverse_degrees));
    out = tensor::add(tape, out, tensor::spmm(tape, mean, q));
    return tensor::add(tape, out, own_(tape, x));
  }

 private:
  Linear<T> own_, gate_, similar_, dissimilar_, gate_dst_, gate_src_;
};

template <class T>
class Gbkgnn final : public Model<T> {
 public:
  explicit Gbkgnn(const ModelOptions& options) : Model<T>(options) {
    const ModelOptions& o = this->options();
    for (int64_t l = 0; l < o.layers; ++l) {
      const bool last = l + 1 == o.layers;
      layers_.emplace_back(this->parameters(), fmt::format("layers.{}.", l),
                           last ? o.outputs() : o.hidden, l == 0 ? o.features : o.hidden);
    }
  }

  void prepare(const GraphInput<T>& input) override {
    const graph::CsrGraph& graph = *input.graph;
    layers_.front().prepare(*input.features);
    mean_ = shared_adjacency(input, Normalisation::kMean);
    gated_ = input.precomputed->template get<GatedGraph<T>>(
        name_on_rank(input, "gbkgnn: arcs by receiver and by sender"),
        [&] {
          return PartSize{sparse_bytes<float>(graph.nodes(), graph.arcs()), {}};
        },
        [&] {
          GatedGraph<T> whole = gated_graph<T>(graph);
          return input.ranks == nullptr ? std::move(whole) : part_of(whole, *input.ranks);
        });
    agrees_.assign(static_cast<size_t>(graph.arcs()), 0);
    supervised_.clear();
    if (input.training_labels.empty()) return;
    for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
      const int32_t own = input.training_labels[static_cast<size_t>(i)];
      for (graph::ArcIndex e = graph.begin(i); e < graph.end(i) && own >= 0; ++e) {
        const auto j = static_cast<size_t>(graph.targets()[static_cast<size_t>(e)]);
        if (input.training_labels[j] < 0) continue;
        supervised_.push_back(static_cast<int32_t>(e));
        agrees_[static_cast<size_t>(e)] = input.training_labels[j] == own ? 1 : 0;
      }
    }
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    std::vector<Var<T>> scores(layers_.size());
    Var<T> x = layers_[0](tape, *gated_, *mean_, view_input(tape, *input.features), scores[0]);
    for (size_t l = 1; l < layers_.size(); ++l) {
      x = tensor::activate(tape, x, tensor::Activation::kRelu);
      if (inspection != nullptr) inspection->embeddings = x.value().clone();
      x = tensor::dropout(tape, x, this->options().dropout);
      x = layers_[l](tape, *gated_, *mean_, x, scores[l]);
    }
    if (tape.training()) scores_ = std::move(scores);
    return x;
  }

  Var<T> auxiliary_loss(Tape<T>& tape, const GraphInput<T>& /*input*/) override {
    const std::vector<Var<T>> scores = std::move(scores_);
    Var<T> sum;
    for (const Var<T>& s : scores) {
      if (supervised_.empty()) break;
      const Var<T> loss = tensor::binary_cross_entropy(tape, s, agrees_, supervised_);
      sum = sum ? tensor::add(tape, sum, loss) : loss;
    }
    return sum ? tensor::scale(tape, sum, this->options().extra.at("lambda")) : sum;
  }

 private:
  std::vector<GbkLayer<T>> layers_;
  std::shared_ptr<const GatedGraph<T>> gated_;
  std::shared_ptr<const tensor::SparseMatrix<T>> mean_;
  std::vector<int32_t> supervised_;  // arcs whose ends are both training nodes
  std::vector<int32_t> agrees_;      // per arc: 1 when their labels are equal
  std::vector<Var<T>> scores_;       // of the last training pass, for the gate's loss
};

}  // namespace

template <class T>
ModelEntry<T> gbkgnn_entry() {
  auto entry = baseline<T, Gbkgnn>(
      "gbkgnn", "two kernels mixed by a gate per edge that training labels supervise");
  entry.info.equations =
      "sigma_ij = sigmoid(LeakyReLU(a_dst.(W_g x_i) + a_src.(W_g x_j))),\n"
      "h_i = W_f x_i + b + mean over j of sigma_ij W_s x_j + (1 - sigma_ij) W_d x_j,\n"
      "loss + lambda sum over layers of BCE(sigma_ij, [y_i = y_j]) on training arcs";
  entry.info.reference = "Du et al., GBK-GNN: Gated Bi-Kernel Graph Neural Networks, WWW 2022";
  entry.info.defaults.insert({{"layers", "2"},
                              {"hidden", "64"},
                              {"dropout", "0.5"},
                              {"lr", "0.01"},
                              {"weight_decay", "0.001"}});
  entry.info.grid = {{"extra.lambda", {"1", "8", "30"}}};
  entry.info.extras = {{"lambda", 1, 0, 1e3, "weight of the gate's loss"}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> gbkgnn_entry();

}  // namespace dgat::nn
