// pgcn: one graph convolution with the operator of the parametrised Laplacian.
//
//   P = P(1, gamma) = (gamma D + (1 - gamma) I)^-1 (gamma A + (1 - gamma) I)
//   H = dropout(ReLU(P X W0)),   logits = H W1 + b1
//
// Paper: the Directional Graph Attention paper, appendix D.2.
//
// Left open there, chosen here:
// - W0 has no bias, W1 has one; both start uniform(+-1/sqrt(in)). Dropout follows the ReLU.
// - gamma = 0 gives P = I, a perceptron without graph (not the limit D - A of section 2). At gamma
// = 1
//   an isolated node has no row to average: its row of P is 0. At any other gamma it keeps itself.
// - The text has one layer; the authors' script stacks two. layers > 1 repeats
//   H <- dropout(ReLU(P H W_l)).
//
// Nothing that is trained or dropped stands before P X: it is computed once where that makes a step
// cheaper (N F entries of P X against the entries of X and P), else a step computes P (X W0).
#include <fmt/format.h>

#include <memory>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"

namespace dgat::nn {
namespace {

template <class T>
class Pgcn final : public Model<T> {
 public:
  explicit Pgcn(const ModelOptions& options) : Model<T>(options) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    input_ = Linear<T>(set, "input", o.hidden, o.features, /*bias=*/false);
    for (int64_t l = 1; l < o.layers; ++l) {
      hidden_.emplace_back(set, fmt::format("layers.{}.lin", l), o.hidden, o.hidden,
                           /*bias=*/false);
    }
    output_ = Linear<T>(set, "output", o.outputs(), o.hidden);
  }

  void prepare(const GraphInput<T>& input) override {
    const NodeFeatures<T>& x = *input.features;
    const double gamma = this->options().extra.at("gamma");
    propagation_ = shared_operator<T>(
        input, fmt::format("P(1, {})", gamma),
        [&] {
          return PartSize{sparse_bytes<T>(x.rows(), input.graph->arcs() + x.rows()), {}};
        },
        [&] { return laplacian_propagation<T>(*input.graph, gamma); });
    const bool store = !x.is_sparse() || x.rows() * x.cols() <= x.sparse().all_nonzeros() +
                                                                    propagation_->all_nonzeros();
    propagated_ = nullptr;
    if (store) {
      propagated_ = input.precomputed->template get<tensor::Matrix<T>>(
          name_on_rank(input, fmt::format("pgcn: P(1, {}) X", gamma)),
          [&] {
            return PartSize{x.rows() * x.cols() * static_cast<int64_t>(sizeof(T)), {}};
          },
          [&] { return propagated(*propagation_, dense_copy(x)); });
    }
    input_.prepare(!store);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    Var<T> x;
    if (propagated_ == nullptr) {
      x = spmm(tape, *propagation_, input_(tape, view_input(tape, *input.features)));
    } else {
      x = input_(tape, tape.reference(*propagated_, input.features->share()));
    }
    x = activated(tape, x);
    for (const Linear<T>& layer : hidden_) {
      x = activated(tape, layer(tape, spmm(tape, *propagation_, x)));
    }
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    return output_(tape, x);
  }

 private:
  Var<T> activated(Tape<T>& tape, const Var<T>& x) const {
    return tensor::dropout(tape, tensor::activate(tape, x, tensor::Activation::kRelu),
                           this->options().dropout);
  }

  Linear<T> input_;
  std::vector<Linear<T>> hidden_;
  Linear<T> output_;
  std::shared_ptr<const tensor::SparseMatrix<T>> propagation_;
  std::shared_ptr<const tensor::Matrix<T>> propagated_;  // P X, or null
};

}  // namespace

template <class T>
ModelEntry<T> pgcn_entry() {
  auto entry = baseline<T, Pgcn>("pgcn", "one convolution with the parametrised operator P");
  entry.info.equations =
      "P = (gamma D + (1-gamma) I)^-1 (gamma A + (1-gamma) I)\n"
      "logits = ReLU(P X W0) W1 + b1";
  entry.info.reference = "the Directional Graph Attention paper, appendix D.2";
  entry.info.uses_edge_weights = true;
  entry.info.defaults.insert({{"layers", "1"},
                              {"hidden", "64"},
                              {"dropout", "0.1"},
                              {"lr", "0.01"},
                              {"weight_decay", "0.001"}});
  entry.info.extras = {{"gamma", 0.5, 0, 1, "weight of the degrees in P; 0 is a perceptron"}};
  entry.info.grid = {
      {"extra.gamma", {"0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"}}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> pgcn_entry();

}  // namespace dgat::nn
