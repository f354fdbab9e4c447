// fagcn: signed edge weights, so that a layer can smooth or sharpen.
//
//   h0 = dropout(ReLU(dropout(X) W1 + b1)),   h = h0
//   per layer:  e_ij = tanh(g . [h_i || h_j] + c) / sqrt(d_i d_j),   j in N(i), no self loop
//               h_i <- eps h0_i + sum_j dropout(e_ij) h_j
//   logits = h W2 + b2
//
// Paper: Bo, Wang, Shi, Shen, Beyond Low-frequency Information in Graph Convolutional Networks,
// AAAI 2021.
//
// Choices the paper leaves open, as in the public code: the receiver's half of g comes first; each
// layer has its own gate with a bias c; h0 is the dropped h; no activation between layers; W1, W2
// and g start Xavier-normal with gain 1.414, biases uniform(+-1/sqrt(in)); degrees are at least 1,
// so an isolated node keeps eps h0.
//
// Differences from the public code: biases are not decayed; two classes share one logit; dividing
// rows of X by their sum is the option feature_scaling. Defaults were chosen on the validation
// nodes of chameleon_filtered and squirrel_filtered; the code has hidden 32, lr 0.01 and decay
// 0.00005.
//
// Cost per layer: two numbers per node and one per arc for the gate, one weighted sum over arcs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/split.h"

namespace dgat::nn {
namespace {

/// The arcs, and 1 / sqrt(d_i d_j) on each: [arcs, 1].
template <class T>
struct ScaledArcs {
  tensor::MessageGraph graph;
  tensor::Matrix<T> scale;
};

template <class T>
ScaledArcs<T> scaled_arcs(const graph::CsrGraph& graph) {
  ScaledArcs<T> out{tensor::MessageGraph::from(graph, /*self_loops=*/false),
                    tensor::Matrix<T>(graph.arcs(), 1)};
  const auto degree = [&graph](graph::NodeId i) {
    return std::max(1.0, static_cast<double>(graph.degree(i)));
  };
  int64_t arc = 0;
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    for (const graph::NodeId j : graph.neighbors(i)) {
      out.scale(arc++, 0) = static_cast<T>(1 / std::sqrt(degree(i) * degree(j)));
    }
  }
  return out;
}

template <class T>
ScaledArcs<T> part_of(const ScaledArcs<T>& whole, dist::Communicator& ranks) {
  ScaledArcs<T> part{whole.graph.part(ranks), {}};
  part.scale = tensor::own_rows(part.graph.share()->arcs, whole.scale);
  return part;
}

template <class T>
class Fagcn final : public Model<T> {
 public:
  explicit Fagcn(const ModelOptions& options) : Model<T>(options) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    const Initializer start = Initializer::xavier_normal(1.414);
    input_ = Linear<T>(set, "input", o.hidden, o.features, /*bias=*/true, start);
    for (int64_t l = 0; l < o.layers; ++l) {
      gates_.emplace_back(set, fmt::format("layers.{}.gate", l), 1, 2 * o.hidden, /*bias=*/true,
                          start);
    }
    output_ = Linear<T>(set, "output", o.outputs(), o.hidden, /*bias=*/true, start);
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    arcs_ = input.precomputed->template get<ScaledArcs<T>>(
        name_on_rank(input, "fagcn: arcs"),
        [&] {
          return PartSize{sparse_bytes<T>(input.graph->nodes(), input.graph->arcs()), {}};
        },
        [&] {
          ScaledArcs<T> whole = scaled_arcs<T>(*input.graph);
          return input.ranks == nullptr ? std::move(whole) : part_of(whole, *input.ranks);
        });
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const double dropout = this->options().dropout, eps = this->options().extra.at("eps");
    Var<T> h = input_(tape, view_input(tape, *input.features, dropout));
    h = tensor::dropout(tape, tensor::activate(tape, h, tensor::Activation::kRelu), dropout);
    const Var<T> kept = scale(tape, h, eps);
    for (const Linear<T>& gate : gates_) {
      const int64_t d = h.cols();
      const Var<T> g = gate.weight(tape);
      const Var<T> receiver = linear(tape, h, slice_columns(tape, g, 0, d), gate.bias(tape));
      const Var<T> sender = linear(tape, h, slice_columns(tape, g, d, 2 * d));
      Var<T> e = tensor::activate(tape, edge_additive_scores(tape, arcs_->graph, receiver, sender),
                                  tensor::Activation::kTanh);
      e = tensor::dropout(tape, multiply(tape, e, tape.reference(arcs_->scale)), dropout);
      h = add(tape, kept, edge_aggregate(tape, arcs_->graph, e, h));
    }
    if (inspection != nullptr) inspection->embeddings = h.value().clone();
    return output_(tape, h);
  }

 private:
  Linear<T> input_;
  std::vector<Linear<T>> gates_;
  Linear<T> output_;
  std::shared_ptr<const ScaledArcs<T>> arcs_;
};

}  // namespace

template <class T>
ModelEntry<T> fagcn_entry() {
  auto entry = baseline<T, Fagcn>("fagcn", "signed edge weights; every layer adds the input");
  entry.info.equations =
      "e_ij = tanh(g.[h_i || h_j] + c) / sqrt(d_i d_j)\n"
      "h_i <- eps h0_i + sum_{j in N(i)} e_ij h_j";
  entry.info.reference = "Bo et al., Beyond Low-frequency Information in GCNs, AAAI 2021";
  entry.info.defaults.insert({{"layers", "2"},
                              {"hidden", "64"},
                              {"dropout", "0.5"},
                              {"lr", "0.03"},
                              {"weight_decay", "0.001"}});
  entry.info.extras = {{"eps", 0.4, 0, 1, "share of the first representation in every layer"}};
  entry.info.grid = {{"extra.eps", {"0.1", "0.2", "0.3", "0.4", "0.5", "0.7", "1"}}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> fagcn_entry();

}  // namespace dgat::nn
