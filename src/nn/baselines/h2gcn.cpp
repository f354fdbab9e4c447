// H2GCN: Zhu et al., Beyond Homophily in Graph Neural Networks, NeurIPS 2020.
//
//   r_0 = ReLU(X W_e)
//   r_k = [ S_1 r_{k-1} || S_2 r_{k-1} ],  k = 1 .. K     (K = layers, width 2^k d)
//   logits = dropout([ r_0 || r_1 || ... || r_K ]) W_c
//
// S_1 = D^-1/2 A D^-1/2 and S_2 = D_2^-1/2 A_2 D_2^-1/2, where A_2 joins nodes at distance exactly
// two and D_2 holds its own degrees; neither has self loops. Rounds have no weights and no
// activation; neither linear map has a bias.
//
// Choices left open by the paper, taken from the public code: Glorot uniform weights, dropout only
// in front of W_c, Adam, L2 on both weights (its 5e-4 |W|^2 is our weight decay 1e-3). Differences:
// that code scales the rows of X to sum 1; here they stay as they are by default (validation on
// chameleon_filtered, 3 splits: 0.43 against 0.39), --feature-scaling row-sum is its way. Ours
// keeps the first best validation step, theirs the last. `relu=0` is the paper's variant without
// it.
//
// Cost per step: two products with S_1 and S_2 per round, O((2E + arcs of A_2) d 2^K). A_2 is made
// once per data set and refused beyond the memory budget: it has sum_j d_j (d_j - 1) arcs at most,
// linear in N at a bounded degree, quadratic on a star. Where A_2 joins more than a quarter of all
// pairs (squirrel), S_2 is kept as a dense matrix: its products are several times faster so.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/core/error.h"
#include "dgat/graph/two_hop.h"

namespace dgat::nn {
namespace {

constexpr int64_t kMostRounds = 6;  // the width doubles every round

/// Bytes of S_2: from a bound, or counted when the bound alone would be refused.
template <class T>
PartSize two_hop_size(const graph::CsrGraph& graph, int64_t budget) {
  constexpr int64_t kCountable =
      20'000'000'000;  // two-paths that are worth a sweep, about a minute
  const int64_t paths = graph::count_two_paths(graph), n = graph.nodes();
  const auto bytes = [n](int64_t arcs) {
    return sparse_bytes<T>(n, arcs) + arcs * static_cast<int64_t>(sizeof(graph::NodeId));
  };
  const int64_t bound = std::min(paths, n * (n - 1) - graph.arcs());
  if (bytes(bound) <= budget || paths > kCountable) {
    return {bytes(bound), fmt::format("at most {} pairs at distance two, {} paths", bound, paths)};
  }
  const int64_t arcs = graph::count_two_hop_arcs(graph);
  return {bytes(arcs), fmt::format("{} pairs at distance two, {} paths", arcs, paths)};
}

template <class T>
class H2gcn final : public Model<T> {
 public:
  explicit H2gcn(const ModelOptions& options) : Model<T>(options) {
    const ModelOptions& o = this->options();
    if (o.layers > kMostRounds) {
      throw_input("h2gcn: at most {} layers, got {}; the width doubles with each", kMostRounds,
                  o.layers);
    }
    const int64_t width = ((int64_t{2} << o.layers) - 1) * o.hidden;
    const Initializer glorot = Initializer::glorot_uniform();
    embed_ = Linear<T>(this->parameters(), "embed", o.hidden, o.features, false, glorot);
    classify_ = Linear<T>(this->parameters(), "classify", o.outputs(), width, false, glorot);
  }

  void prepare(const GraphInput<T>& input) override {
    embed_.prepare(*input.features);
    one_hop_ = shared_adjacency(input, Normalisation::kSymmetric);
    const graph::CsrGraph& graph = *input.graph;
    const auto make = [&graph] {
      return symmetric_adjacency<T>(graph::two_hop_graph(graph), /*self_loops=*/false);
    };
    two_hop_ = shared_operator<T>(
        input, "h2gcn: two-hop graph",
        [&] { return two_hop_size<T>(graph, input.precomputed->bytes_left()); }, make);
    two_hop_dense_ = nullptr;  // of the graph before
    const int64_t cells = graph.nodes() * graph.nodes();
    const double joined = static_cast<double>(two_hop_->all_nonzeros());
    if (joined < this->options().extra.at("dense") * static_cast<double>(cells)) return;
    two_hop_dense_ = input.precomputed->template get<Matrix<T>>(
        "h2gcn: two-hop graph as a dense matrix",
        [&] {
          return PartSize{cells * static_cast<int64_t>(sizeof(T)), {}};
        },
        [&] { return two_hop_->share() ? dense_copy(make()) : dense_copy(*two_hop_); });
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const ModelOptions& o = this->options();
    Var<T> r = embed_(tape, view_input(tape, *input.features));
    if (o.extra.at("relu") != 0) r = tensor::activate(tape, r, tensor::Activation::kRelu);
    std::vector<Var<T>> rounds = {r};
    for (int64_t k = 0; k < o.layers; ++k) {
      const Var<T> far = two_hop_dense_ ? tensor::matmul(tape, tape.reference(*two_hop_dense_), r)
                                        : tensor::spmm(tape, *two_hop_, r);
      r = tensor::concat_columns(tape, {tensor::spmm(tape, *one_hop_, r), far});
      rounds.push_back(r);
    }
    r = tensor::concat_columns(tape, rounds);
    if (inspection != nullptr) inspection->embeddings = r.value().clone();
    return classify_(tape, tensor::dropout(tape, r, o.dropout));
  }

 private:
  Linear<T> embed_, classify_;
  std::shared_ptr<const SparseMatrix<T>> one_hop_, two_hop_;
  // Instead of two_hop_, where that is full; whole on every rank.
  std::shared_ptr<const Matrix<T>> two_hop_dense_;
};

}  // namespace

template <class T>
ModelEntry<T> h2gcn_entry() {
  auto entry = baseline<T, H2gcn>("h2gcn", "own, one-hop and two-hop representations kept apart");
  entry.info.equations =
      "r_0 = ReLU(X W_e),  r_k = [S_1 r_{k-1} || S_2 r_{k-1}],\n"
      "logits = dropout([r_0 || ... || r_K]) W_c,  K = layers,\n"
      "S_1, S_2 = D^-1/2 A D^-1/2 of the one-hop and the exact two-hop graph";
  entry.info.reference = "Zhu et al., Beyond Homophily in Graph Neural Networks, NeurIPS 2020";
  entry.info.defaults.insert({{"layers", "2"},
                              {"hidden", "64"},
                              {"dropout", "0.5"},
                              {"lr", "0.01"},
                              {"weight_decay", "0.001"}});
  entry.info.grid = {{"feature_scaling", {"raw", "row-sum"}}};
  entry.info.extras = {{"relu", 1, 0, 1, "1: ReLU behind the embedding, 0: none", /*whole=*/true},
                       {"dense", 0.25, 0, 1, "share of joined pairs from which S_2 is kept dense"}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> h2gcn_entry();

}  // namespace dgat::nn
