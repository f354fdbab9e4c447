// jacobiconv: a linear map, then a polynomial filter per output column in the Jacobi basis.
//
//   z = dropout_out(dropout(X) W + b),   S = D^-1/2 A D^-1/2 (no self loops)
//   logits_l = sum_{k=0..K} beta_kl gamma_1 ... gamma_k  P_k^{a,b}(S) z_l,   gamma_i = bound
//   tanh(eta_i)
//
//   P_0 = I,  P_1 = (a-b)/2 I + (a+b+2)/2 S,  and for k >= 2 with c = 2k+a+b
//   P_k = (t S + t' I) P_{k-1} - t'' P_{k-2},   t   = c (c-1) / (2k (k+a+b)),
//   t' = (c-1)(a^2-b^2) / (2k (k+a+b)(c-2)),    t'' = (k+a-1)(k+b-1) c / (k (k+a+b)(c-2))
//
// There is no non-linearity anywhere. beta, eta, W and b are learned; beta starts at 1 and every
// eta at min(1, 1/bound).
//
// Paper: Wang and Zhang, How Powerful are Spectral Graph Neural Networks, ICML 2022 (with the
// polynomial coefficient decomposition into gammas).
//
// Choices, and differences from the public code:
// - Isolated nodes: their row of S is 0.
// - That code subtracts the t' term, which is not the Jacobi recurrence unless a = b; here it is
//   added. It also holds one eta more than it uses.
// - Three learning rates and decays (W | eta | beta), as there: `lr` and `weight_decay` are those
// of
//   W; the extras say the other rates as multiples of lr, and the other decays. b is not decayed.
// - Two classes: one filtered column.
// - Defaults are what its authors' search found for chameleon, with the decay of W chosen on
//   validation nodes.
//
// The gammas do not depend on the node, so they are pulled out of the recurrence: K sparse products
// with `outputs` columns per pass. The basis P_k(S) X is not kept: both dropouts stand before the
// filter, and K+1 copies of X would cost more than the products they save.
#include <algorithm>
#include <cmath>
#include <memory>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"

namespace dgat::nn {
namespace {

template <class T>
class Jacobiconv final : public Model<T> {
 public:
  explicit Jacobiconv(const ModelOptions& options)
      : Model<T>(options), degree_(static_cast<int64_t>(options.extra.at("k"))) {
    const auto& extra = this->options().extra;
    ParameterSet<T>& set = this->parameters();
    const int64_t outputs = this->options().outputs();
    input_ = Linear<T>(set, "input", outputs, this->options().features);
    beta_ = &set.constant("filter.beta", degree_ + 1, outputs, 1, /*weight_decay=*/true);
    beta_->lr_scale = extra.at("beta_lr");
    beta_->own_weight_decay = extra.at("beta_decay");
    const double start = std::min(1.0, 1 / extra.at("bound"));
    eta_ = &set.constant("filter.eta", 1, degree_, start, /*weight_decay=*/true);
    eta_->lr_scale = extra.at("eta_lr");
    eta_->own_weight_decay = extra.at("eta_decay");
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    adjacency_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/false);
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input,
                 Inspection<T>* /*inspection*/) override {
    const auto& extra = this->options().extra;
    Var<T> z = input_(tape, view_input(tape, *input.features, this->options().dropout));
    z = tensor::dropout(tape, z, extra.at("output_dropout"));

    const Var<T> gammas =
        scale(tape, tensor::activate(tape, tape.parameter(*eta_), tensor::Activation::kTanh),
              extra.at("bound"));
    const Var<T> beta = tape.parameter(*beta_);
    Var<T> before, now = z, sum, product;
    for (int32_t k = 0; k <= degree_; ++k) {
      if (k > 0) {
        Var<T> next = next_power(tape, k, now, before);
        before = std::move(now);
        now = std::move(next);
        const Var<T> gamma = slice_columns(tape, gammas, k - 1, k);
        product = k == 1 ? gamma : multiply(tape, product, gamma);
      }
      Var<T> coefficients = gather_rows<T>(tape, beta, std::span(&k, 1));
      if (k > 0) coefficients = scale_by(tape, coefficients, product);
      const Var<T> term = scale_columns(tape, now, coefficients);
      sum = k == 0 ? term : add(tape, sum, term);
    }
    return sum;
  }

 private:
  /// P_k(S) z from P_{k-1}(S) z and P_{k-2}(S) z.
  Var<T> next_power(Tape<T>& tape, int64_t k, const Var<T>& last, const Var<T>& before) const {
    const double a = this->options().extra.at("a"), b = this->options().extra.at("b");
    const Var<T> moved = spmm(tape, *adjacency_, last);
    const auto combined = [&](double of_moved, double of_last) {
      const Var<T> first = scale(tape, moved, of_moved);
      return of_last == 0 ? first : add(tape, first, scale(tape, last, of_last));
    };
    if (k == 1) return combined((a + b + 2) / 2, (a - b) / 2);
    const auto n = static_cast<double>(k);
    const double c = 2 * n + a + b, common = 2 * n * (n + a + b);
    return add(tape, combined(c * (c - 1) / common, (c - 1) * (a * a - b * b) / (common * (c - 2))),
               scale(tape, before, -2 * (n + a - 1) * (n + b - 1) * c / (common * (c - 2))));
  }

  int64_t degree_;
  Linear<T> input_;
  tensor::Parameter<T>*beta_, *eta_;
  std::shared_ptr<const tensor::SparseMatrix<T>> adjacency_;
};

}  // namespace

template <class T>
ModelEntry<T> jacobiconv_entry() {
  auto entry = baseline<T, Jacobiconv>("jacobiconv", "linear map and a learned Jacobi filter");
  entry.info.equations =
      "z = X W + b,  S = D^-1/2 A D^-1/2\n"
      "logits_l = sum_{k=0..K} beta_kl gamma_1...gamma_k P_k^{a,b}(S) z_l,  gamma = bound "
      "tanh(eta)";
  entry.info.reference = "Wang and Zhang, How Powerful are Spectral GNNs, ICML 2022";
  entry.info.uses_hidden = entry.info.uses_layers = false;
  entry.info.defaults.insert({{"dropout", "0.6"}, {"lr", "0.05"}, {"weight_decay", "0.001"}});
  const double open = 1e-3;  // the recurrence needs a, b > -1
  entry.info.extras = {{"k", 10, 1, 100, "degree of the polynomials", /*whole=*/true},
                       {"a", 0, -1 + open, 10, "first exponent of the Jacobi weight"},
                       {"b", 0, -1 + open, 10, "second exponent of the Jacobi weight"},
                       {"bound", 2, 0.01, 10, "largest size of a gamma"},
                       {"output_dropout", 0.5, 0, 0.999, "dropout between linear map and filter"},
                       {"eta_lr", 0.2, 0, 1000, "learning rate of eta, times lr"},
                       {"eta_decay", 0.0001, 0, 1000, "weight decay of eta"},
                       {"beta_lr", 1, 0, 1000, "learning rate of beta, times lr"},
                       {"beta_decay", 0.0005, 0, 1000, "weight decay of beta"}};
  entry.info.grid = {{"extra.output_dropout", {"0", "0.2", "0.4", "0.6", "0.8"}},
                     {"extra.a", {"-0.5", "0", "0.5", "1", "2"}},
                     {"extra.b", {"-0.5", "0", "0.5", "1", "2"}},
                     {"extra.bound", {"0.5", "1", "1.5", "2"}}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> jacobiconv_entry();

}  // namespace dgat::nn
