// gprgnn: a perceptron, then a learned polynomial of the normalised adjacency.
//
//   S = (D+I)^-1/2 (A+I) (D+I)^-1/2
//   h = ReLU(dropout(X) W1 + b1),   z = dropout_prop(dropout(h) W2 + b2)
//   logits = sum_{k=0..K} w_k S^k z,   w learned
//
// Paper: Chien, Peng, Li, Milenkovic, Adaptive Universal Generalized PageRank Graph Neural Network,
// ICLR 2021.
//
// Start of w: that of personalised PageRank, w_k = alpha (1 - alpha)^k for k < K and
// w_K = (1 - alpha)^K. alpha = 1 starts as the perceptron alone, alpha = 0 at S^K.
//
// Choices, and differences from the public code:
// - Same learning rate for w, but no decay on it, as there. Biases are not decayed here; there they
//   are.
// - Two classes: one logit column instead of two.
// - Other starts of w (single power, random) are left out: alpha = 0 and 1 are the two ends.
// - The code divides rows of X by their sum; here that is the option feature_scaling.
// - Defaults are those of the code's chameleon script, with the start alpha 0.1 of the paper and a
//   decay chosen on validation nodes.
// - Selection by the validation metric, as for every model here; there by validation loss.
#include <cmath>
#include <memory>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"

namespace dgat::nn {
namespace {

template <class T>
class Gprgnn final : public Model<T> {
 public:
  explicit Gprgnn(const ModelOptions& options)
      : Model<T>(options), powers_(static_cast<int64_t>(options.extra.at("k"))) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    input_ = Linear<T>(set, "input", o.hidden, o.features);
    output_ = Linear<T>(set, "output", o.outputs(), o.hidden);
    weights_ = &set.constant("propagation.weights", 1, powers_ + 1, 0, /*weight_decay=*/false);
    const double alpha = o.extra.at("alpha");
    for (int64_t k = 0; k <= powers_; ++k) {
      const double rest = std::pow(1 - alpha, static_cast<double>(k));
      weights_->value(0, k) = static_cast<T>(k < powers_ ? alpha * rest : rest);
    }
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    adjacency_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/true);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const double dropout = this->options().dropout;
    Var<T> x = input_(tape, view_input(tape, *input.features, dropout));
    x = tensor::activate(tape, x, tensor::Activation::kRelu);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    x = output_(tape, tensor::dropout(tape, x, dropout));
    x = tensor::dropout(tape, x, this->options().extra.at("propagation_dropout"));

    const Var<T> weights = tape.parameter(*weights_);
    Var<T> sum;
    for (int64_t k = 0; k <= powers_; ++k) {
      if (k > 0) x = spmm(tape, *adjacency_, x);
      const Var<T> term = scale_by(tape, x, slice_columns(tape, weights, k, k + 1));
      sum = k == 0 ? term : add(tape, sum, term);
    }
    return sum;
  }

 private:
  int64_t powers_;
  Linear<T> input_, output_;
  tensor::Parameter<T>* weights_;
  std::shared_ptr<const tensor::SparseMatrix<T>> adjacency_;
};

}  // namespace

template <class T>
ModelEntry<T> gprgnn_entry() {
  auto entry = baseline<T, Gprgnn>("gprgnn", "perceptron, then generalised PageRank");
  entry.info.equations =
      "z = MLP(X),  S = (D+I)^-1/2 (A+I) (D+I)^-1/2\n"
      "logits = sum_{k=0..K} w_k S^k z,  w learned from a PageRank start";
  entry.info.reference = "Chien et al., Adaptive Universal Generalized PageRank GNN, ICLR 2021";
  entry.info.uses_layers = false;
  entry.info.defaults.insert(
      {{"hidden", "64"}, {"dropout", "0.5"}, {"lr", "0.05"}, {"weight_decay", "0.001"}});
  entry.info.extras = {
      {"k", 10, 0, 100, "highest power of the adjacency", /*whole=*/true},
      {"alpha", 0.1, 0, 1, "teleport probability of the start; 1: no propagation, 0: S^k alone"},
      {"propagation_dropout", 0.7, 0, 0.999, "dropout between perceptron and propagation"}};
  entry.info.grid = {{"extra.alpha", {"0", "0.1", "0.5", "0.9", "1"}},
                     {"extra.propagation_dropout", {"0", "0.5", "0.7"}}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> gprgnn_entry();

}  // namespace dgat::nn
