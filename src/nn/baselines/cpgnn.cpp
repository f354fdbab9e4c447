// CPGNN: Zhu et al., Graph Neural Networks with Heterophily, AAAI 2021.
//
//   prior R [N, C]:  MLP  R = ReLU(dropout(X W_1)) W_2
//                    Cheby (order 2, L~ = -D^-1/2 A D^-1/2), twice with ReLU between:
//                    sum_k T_k(L~) X W_k = Y_0 - Y_2 + L~ (Y_1 + 2 L~ Y_2),  Y_k = X W_k
//   beliefs B_0 = softmax(R) - 1/C,   B_k = B_0 + A B_{k-1} H,  k = 1 .. K (K = layers)
//   logits = B_K;  H [C, C] is the zero-centred compatibility matrix, learned
//
// Two stages. First the prior alone: cross-entropy of R. Then, from the best prior on validation,
//   H := Sinkhorn-Knopp(M) symmetrised, minus 1/C,   M = class means over training nodes of
//        D^-1 A B~,   B~ = labels of training nodes, softmax(R) elsewhere,
// and the joint loss   CE(B_K) + eta CE(R) + sum_i |sum_j H_ij|.   L2 acts on the prior's weights.
//
// A is the plain adjacency, as in the public code (`symmetric=1` normalises it: on hubs the plain
// one makes logits of order degree^K). Taken from the public code: no biases, Glorot
// weights, features scaled to row sum 1, D^-1 in M (the paper sums), best prior before the second
// stage, its 5e-4 |W|^2 as weight decay 1e-3. Differences: the code's second stage leaves CE(R) out
// although the paper has it; it may report a pre-training step, ours counts joint steps only; the
// optimiser starts afresh with the second stage; 40% of the steps are pre-training (400 of 1000).
// Training nodes without neighbours do not enter M; a class without any has a uniform row. Two
// classes keep two columns, the logit is their difference.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/tensor/split.h"
#include "two_columns.h"

namespace dgat::nn {
namespace {

using Square = std::vector<std::vector<double>>;

/// Scales columns and rows in turn until both sum to one: for the entries of a positive matrix.
void make_doubly_stochastic(Square& m) {
  constexpr int kRounds = 3000;
  constexpr double kTolerance = 1e-12, kSmallest = 1e-12;
  const size_t c = m.size();
  for (auto& row : m) {
    for (double& v : row) v += kSmallest;  // without total support the scaling would not converge
  }
  for (int round = 0; round < kRounds; ++round) {
    double change = 0;
    for (const bool columns : {true, false}) {
      for (size_t i = 0; i < c; ++i) {
        double sum = 0;
        for (size_t j = 0; j < c; ++j) sum += columns ? m[j][i] : m[i][j];
        for (size_t j = 0; j < c; ++j) {
          double& v = columns ? m[j][i] : m[i][j];
          change += std::abs(v / sum - v);
          v /= sum;
        }
      }
    }
    if (change < kTolerance) return;
  }
}

template <class T>
class Cpgnn final : public Model<T> {
 public:
  explicit Cpgnn(const ModelOptions& options)
      : Model<T>(options), chebyshev_(options.extra.at("chebyshev") != 0) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    const Initializer glorot = Initializer::glorot_uniform();
    for (int k = 0; k < (chebyshev_ ? 3 : 1); ++k) {
      first_.emplace_back(set, fmt::format("prior.0.{}", k), o.hidden, o.features, false, glorot);
    }
    for (int k = 0; k < (chebyshev_ ? 3 : 1); ++k) {
      second_.emplace_back(set, fmt::format("prior.1.{}", k), o.classes, o.hidden, false, glorot);
    }
    compatibility_ = &set.constant("compatibility", o.classes, o.classes, 0, false);
  }

  void prepare(const GraphInput<T>& input) override {
    for (Linear<T>& map : first_) map.prepare(*input.features);
    if (chebyshev_) laplacian_ = shared_adjacency(input, Normalisation::kSymmetric);
    adjacency_ = shared_adjacency(input, this->options().extra.at("symmetric") != 0
                                             ? Normalisation::kSymmetric
                                             : Normalisation::kNone);
  }

  double pretraining_share() const override { return this->options().extra.at("pretraining"); }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const ModelOptions& o = this->options();
    const Var<T> r = prior(tape, input, inspection);
    if (this->pretraining()) return class_logits(tape, r, o.classes);
    if (tape.training()) prior_ = r;
    const Var<T> start = tensor::add_bias(
        tape, tensor::softmax(tape, r),
        tape.constant(Matrix<T>::filled(1, o.classes, static_cast<T>(-1.0 / classes()))));
    const Var<T> h = tape.parameter(*compatibility_);
    Var<T> beliefs = start;
    for (int64_t k = 0; k < o.layers; ++k) {
      beliefs = tensor::add(tape, start,
                            tensor::spmm(tape, *adjacency_, tensor::matmul(tape, beliefs, h)));
    }
    return class_logits(tape, beliefs, o.classes);
  }

  Var<T> auxiliary_loss(Tape<T>& tape, const GraphInput<T>& input) override {
    if (this->pretraining()) return {};
    const Var<T> r = std::move(prior_);
    prior_ = {};
    const std::vector<int32_t> nodes = training_nodes(input);
    const Var<T> agreement =
        tensor::scale(tape, tensor::cross_entropy(tape, r, input.training_labels, nodes),
                      this->options().extra.at("eta"));
    const Var<T> ones = tape.constant(Matrix<T>::filled(this->options().classes, 1, T{1}));
    const Var<T> row_sums =
        tensor::abs(tape, tensor::matmul(tape, tape.parameter(*compatibility_), ones));
    return tensor::add(tape, agreement,
                       tensor::scale(tape, tensor::mean(tape, row_sums), classes()));
  }

  void end_pretraining(const GraphInput<T>& input) override {
    Tape<T> tape(tensor::TapeOptions{});
    const Var<T> beliefs = tensor::softmax(tape, prior(tape, input, nullptr));
    Square m =
        class_means(input, beliefs.share() ? tensor::all_rows(beliefs.share(), beliefs.value())
                                           : beliefs.value().clone());
    make_doubly_stochastic(m);
    for (size_t a = 0; a < m.size(); ++a) {
      for (size_t b = 0; b < m.size(); ++b) {
        compatibility_->value(static_cast<int64_t>(a), static_cast<int64_t>(b)) =
            static_cast<T>((m[a][b] + m[b][a]) / 2 - 1 / classes());
      }
    }
  }

 private:
  double classes() const { return static_cast<double>(this->options().classes); }

  static std::vector<int32_t> training_nodes(const GraphInput<T>& input) {
    std::vector<int32_t> nodes;
    for (size_t i = 0; i < input.training_labels.size(); ++i) {
      if (input.training_labels[i] >= 0) nodes.push_back(static_cast<int32_t>(i));
    }
    return nodes;
  }

  Var<T> prior(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) const {
    const InputView<T> features = view_input(tape, *input.features);
    std::vector<Var<T>> y;
    for (const Linear<T>& map : first_) y.push_back(map(tape, features));
    Var<T> x = chebyshev_ ? polynomial(tape, y)
                          : tensor::dropout(tape, y.front(), this->options().dropout);
    x = tensor::activate(tape, x, tensor::Activation::kRelu);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    y.clear();
    for (const Linear<T>& map : second_) y.push_back(map(tape, x));
    return chebyshev_ ? polynomial(tape, y) : y.front();
  }

  /// Y_0 - Y_2 + L~ (Y_1 + 2 L~ Y_2) with L~ = -S.
  Var<T> polynomial(Tape<T>& tape, const std::vector<Var<T>>& y) const {
    const Var<T> inner = tensor::add(tape, tensor::scale(tape, y[1], -1),
                                     tensor::scale(tape, tensor::spmm(tape, *laplacian_, y[2]), 2));
    const Var<T> outer = tensor::spmm(tape, *laplacian_, inner);
    return tensor::add(tape, tensor::add(tape, y[0], tensor::scale(tape, y[2], -1)), outer);
  }

  /// Row c: mean over the training nodes of class c of the mean belief of their neighbours.
  Square class_means(const GraphInput<T>& input, const Matrix<T>& beliefs) const {
    const auto c = static_cast<size_t>(this->options().classes);
    Square m(c, std::vector<double>(c, 0));
    std::vector<double> counts(c, 0);
    const auto& labels = input.training_labels;
    for (graph::NodeId i = 0; i < input.graph->nodes(); ++i) {
      const int32_t own = labels[static_cast<size_t>(i)];
      const auto neighbors = input.graph->neighbors(i);
      if (own < 0 || neighbors.empty()) continue;
      std::vector<double>& row = m[static_cast<size_t>(own)];
      const double share = 1 / static_cast<double>(neighbors.size());
      counts[static_cast<size_t>(own)] += 1;
      for (const graph::NodeId j : neighbors) {
        const int32_t known = labels[static_cast<size_t>(j)];
        if (known >= 0) {
          row[static_cast<size_t>(known)] += share;
          continue;
        }
        for (size_t b = 0; b < c; ++b) {
          row[b] += share * static_cast<double>(beliefs(j, static_cast<int64_t>(b)));
        }
      }
    }
    for (size_t a = 0; a < c; ++a) {
      for (double& v : m[a]) v = counts[a] > 0 ? v / counts[a] : 1 / classes();
    }
    return m;
  }

  bool chebyshev_;
  std::vector<Linear<T>> first_;  // one map, or one per polynomial
  std::vector<Linear<T>> second_;
  tensor::Parameter<T>* compatibility_ = nullptr;
  std::shared_ptr<const tensor::SparseMatrix<T>> adjacency_, laplacian_;
  Var<T> prior_;  // of the last training pass, for the joint loss
};

}  // namespace

template <class T>
ModelEntry<T> cpgnn_entry() {
  auto entry = baseline<T, Cpgnn>(
      "cpgnn", "prior beliefs propagated through a learned class-compatibility matrix");
  entry.info.equations =
      "R = MLP(X) or a Chebyshev network,  B_0 = softmax(R) - 1/C,\n"
      "B_k = B_0 + A B_{k-1} H,  logits = B_K,  K = layers,\n"
      "stage 1: CE(R);  H from training labels by Sinkhorn-Knopp;\n"
      "stage 2: CE(B_K) + eta CE(R) + sum_i |sum_j H_ij|";
  entry.info.reference = "Zhu et al., Graph Neural Networks with Heterophily, AAAI 2021";
  entry.info.defaults.insert({{"layers", "2"},
                              {"feature_scaling", "row-sum"},
                              {"hidden", "64"},
                              {"dropout", "0.5"},
                              {"lr", "0.01"},
                              {"weight_decay", "0.001"}});
  entry.info.grid = {{"feature_scaling", {"raw", "row-sum"}},
                     {"extra.chebyshev", {"0", "1"}},
                     {"extra.symmetric", {"0", "1"}}};
  entry.info.extras = {
      {"chebyshev", 0, 0, 1, "prior: 0 MLP, 1 Chebyshev polynomials of order 2", true},
      {"symmetric", 0, 0, 1, "propagate by 0: A, 1: D^-1/2 A D^-1/2", true},
      {"eta", 1, 0, 1e3, "weight of the prior in the joint loss"},
      {"pretraining", 0.4, 0, 0.95, "share of the steps that train the prior alone"}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> cpgnn_entry();

}  // namespace dgat::nn
