// fsgnn: features of every hop side by side, each with one weight.
//
//   S_0 = X,  S_{2k-1} = A^k X,  S_{2k} = (A+I)^k X  for k = 1..K, both operators
//   symmetric-normalised t_l = (S_l W_l + b_l) / |S_l W_l + b_l|_2 per row,   m = softmax(mixing)
//   logits = dropout(ReLU([m_0 t_0 || ... || m_2K t_2K])) W_o + b_o
//
// Paper: Maurya, Liu, Murata, Simplifying approach to Node Classification in Graph Neural Networks,
// 2022 (first as "Improving Graph Neural Networks with Simple Architecture Design", 2021).
//
// Choices, and differences from the public code:
// - The normalised operators of that code (the formula above writes A and A + I): powers of the
//   plain adjacency grow like the degree and overflow single precision.
// - Graphs are undirected unless --directed is given; the code reads two of its sets as directed.
// - Groups of the optimiser as there: mixing (all ones at the start) has a decay of its own and a
//   factor of the learning rate; W_l and W_o share weight_decay. Biases are not decayed.
// - Dividing rows of X by their sum is the option feature_scaling.
//
// No dropout stands before W_l, so that S_l can be computed once. That is done where it makes steps
// cheaper: with N F entries per stored S_l against k more products with the adjacency and d
// columns; sparse bags of words stay as they are. What does not fit the budget is an error that
// names
// --extra store=0, which computes A^k (X W_l) in every step: the same but for rounding, so the
// memory of a machine must not decide it. A power of A is never formed.
#include <fmt/format.h>

#include <memory>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/core/interrupt.h"

namespace dgat::nn {
namespace {

template <class T>
class Fsgnn final : public Model<T> {
 public:
  explicit Fsgnn(const ModelOptions& options)
      : Model<T>(options), hops_(static_cast<int64_t>(options.extra.at("hops"))) {
    const ModelOptions& o = this->options();
    ParameterSet<T>& set = this->parameters();
    const int64_t blocks = 2 * hops_ + 1;
    for (int64_t l = 0; l < blocks; ++l) {
      const std::string name = fmt::format("blocks.{}", l);
      blocks_.emplace_back(set, name, o.hidden, o.features, /*bias=*/false);
      biases_.push_back(&set.bias(name + ".bias", o.hidden, o.features));
    }
    mixing_ = &set.constant("mixing", 1, blocks, 1, /*weight_decay=*/true);
    mixing_->own_weight_decay = o.extra.at("mixing_decay");
    mixing_->lr_scale = o.extra.at("mixing_lr");
    output_ = Linear<T>(set, "output", o.outputs(), blocks * o.hidden);
  }

  void prepare(const GraphInput<T>& input) override {
    const NodeFeatures<T>& x = *input.features;
    plain_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/false);
    looped_ = shared_adjacency(input, Normalisation::kSymmetric, /*self_loops=*/true);
    stored_ = storing_pays(x) ? stored_features(input) : nullptr;
    for (size_t l = 0; l < blocks_.size(); ++l) {
      blocks_[l].prepare(x.is_sparse() && (l == 0 || stored_ == nullptr));
    }
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    const InputView<T> view = view_input(tape, *input.features);
    const Var<T> weights = tensor::softmax(tape, tape.parameter(*mixing_));
    std::vector<Var<T>> parts;
    for (int64_t l = 0; l < static_cast<int64_t>(blocks_.size()); ++l) {
      Var<T> t = add_bias(tape, block(tape, input, view, l), tape.parameter(*biases_[index(l)]));
      if (this->options().extra.at("normalise_rows") != 0) t = row_l2_normalize(tape, t);
      parts.push_back(scale_by(tape, t, slice_columns(tape, weights, l, l + 1)));
    }
    Var<T> x = tensor::activate(tape, concat_columns(tape, parts), tensor::Activation::kRelu);
    if (inspection != nullptr) inspection->embeddings = x.value().clone();
    return output_(tape, tensor::dropout(tape, x, this->options().dropout));
  }

 private:
  static size_t index(int64_t l) { return static_cast<size_t>(l); }
  /// Block l > 0 holds hop (l + 1) / 2, with self loops when l is even.
  static int64_t hop_of(int64_t l) { return (l + 1) / 2; }
  const tensor::SparseMatrix<T>& adjacency_of(int64_t l) const {
    return l % 2 == 0 ? *looped_ : *plain_;
  }

  /// S_l W_l.
  Var<T> block(Tape<T>& tape, const GraphInput<T>& input, const InputView<T>& view,
               int64_t l) const {
    const Linear<T>& map = blocks_[index(l)];
    if (l > 0 && stored_ != nullptr) {
      return map(tape, tape.reference((*stored_)[index(l - 1)], input.features->share()));
    }
    Var<T> x = map(tape, view);
    for (int64_t hop = 0; hop < hop_of(l); ++hop) x = spmm(tape, adjacency_of(l), x);
    return x;
  }

  /// Multiplications per column of a step, stored against not stored.
  bool storing_pays(const NodeFeatures<T>& x) const {
    if (hops_ == 0 || this->options().extra.at("store") == 0) return false;
    const int64_t entries = x.is_sparse() ? x.sparse().all_nonzeros() : x.rows() * x.cols();
    const int64_t products =
        hops_ * (hops_ + 1) / 2 * (plain_->all_nonzeros() + looped_->all_nonzeros());
    return 2 * hops_ * x.rows() * x.cols() <= 2 * hops_ * entries + products;
  }

  std::shared_ptr<const std::vector<tensor::Matrix<T>>> stored_features(
      const GraphInput<T>& input) const {
    const int64_t rows = input.features->rows(), cols = input.features->cols(), count = 2 * hops_;
    return input.precomputed->template get<std::vector<tensor::Matrix<T>>>(
        name_on_rank(input, fmt::format("fsgnn: features of {} hops", hops_)),
        [&] {
          return PartSize{
              count * rows * cols * static_cast<int64_t>(sizeof(T)),
              fmt::format("{} matrices of {} x {}; --extra store=0 keeps none", count, rows, cols)};
        },
        [&] {
          const tensor::Matrix<T> x = dense_copy(*input.features);
          std::vector<tensor::Matrix<T>> blocks;
          for (int64_t l = 1; l <= count; ++l) {
            throw_if_interrupted("fsgnn: features of hops");
            blocks.push_back(propagated(adjacency_of(l), l <= 2 ? x : blocks[index(l - 3)]));
          }
          return blocks;
        });
  }

  int64_t hops_;
  std::vector<Linear<T>> blocks_;
  std::vector<tensor::Parameter<T>*> biases_;
  tensor::Parameter<T>* mixing_;
  Linear<T> output_;
  std::shared_ptr<const tensor::SparseMatrix<T>> plain_, looped_;
  std::shared_ptr<const std::vector<tensor::Matrix<T>>> stored_;  // S_1, S_2, ...; or null
};

}  // namespace

template <class T>
ModelEntry<T> fsgnn_entry() {
  auto entry = baseline<T, Fsgnn>("fsgnn", "features of every hop with a learned weight per hop");
  entry.info.equations =
      "t_l = normalised rows of S_l W_l + b_l,  S in {X, A^k X, (A+I)^k X}\n"
      "logits = ReLU([m_0 t_0 || m_1 t_1 || ...]) W + b,  m = softmax(mixing)";
  entry.info.reference = "Maurya et al., Simplifying approach to Node Classification in GNNs, 2022";
  entry.info.uses_layers = false;
  entry.info.defaults.insert({{"hidden", "64"}, {"dropout", "0.5"}, {"lr", "0.01"}});
  entry.info.extras = {
      {"hops", 3, 0, 32, "highest power of the adjacency", /*whole=*/true},
      {"normalise_rows", 1, 0, 1, "1: rows of a block have unit norm", /*whole=*/true},
      {"mixing_lr", 1, 0, 1000, "learning rate of the mixing, times lr"},
      {"mixing_decay", 0.1, 0, 1000, "weight decay of the mixing"},
      {"store", 1, 0, 1, "1: compute features of all hops once where that saves time",
       /*whole=*/true}};
  entry.info.grid = {{"extra.mixing_decay", {"0", "0.0001", "0.001", "0.01", "0.1"}},
                     {"extra.mixing_lr", {"1", "4"}}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> fsgnn_entry();

}  // namespace dgat::nn
