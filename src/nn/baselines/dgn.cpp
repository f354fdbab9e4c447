// DGN: Beaini et al., Directional Graph Networks, ICML 2021.
//
//   h = X W_in + b
//   per layer, over neighbours j of i, for each eigenvector phi of L_rw = I - D^-1 A:
//     g_ij = (phi_j - phi_i) / (sum_m |phi_m - phi_i| + 1e-8)
//     mean_i = (1/d_i) sum_j e_ij,   av_i = sum_j |g_ij| e_ij,
//     dx_i = | sum_j g_ij e_ij - (sum_j g_ij) h_i |
//     simple:  e_ij = h_j,                   h' = Linear([mean || av_1 || dx_1 || av_2 ...])
//     complex: e_ij = U h_j + V h_i + b,     h' = Linear([h || mean || av_1 || dx_1 || ...])
//     h <- dropout(h + ReLU(BatchNorm(h')))
//   logits = MLP(h), widths d, d/2, d/4, outputs, ReLU between
//
// Messages of the complex form never exist per edge: with u = U h, v = V h + b the sums are
//   mean = D^-1 A u + [d_i > 0] v,  av = |G| u + s v,  dx = | G u + c (v - h) |,
// s_i = sum_j |g_ij|, c_i = sum_j g_ij. One product with a sparse matrix per aggregator.
//
// As in the public code: absolute value on dx (so the sign of phi does not matter), residual sum,
// own features only in the complex form, one linear map per message. Differences: eigenvectors of
// L_rw, as the paper's theory has them (the code takes D - A); a linear input map, because features
// are not integers; no class weights in the loss. "Towers" are the two forms above, not the slices
// of d that the code also calls towers. Off by default, as extra options:
//   graph_norm  h' / sqrt(N) in front of the BatchNorm. It removes the scale again, except through
//               its epsilon: columns of small variance are damped, in training and evaluation.
//   scalers     Linear reads [a || a log(d_i + 1) / delta || a delta / log(d_i + 1)], a the
//               aggregators, delta the mean of log(d + 1) over the nodes (0 for a node without
//               neighbours)
//   xavier      maps of a layer start uniform within g sqrt(6 / (in + out)), g = 1 / in, biases 0
//
// `--eigenvectors K` gives K fields; --laplacian tuned and --rewire apply as they do to dgat.
// Defaults by validation on chameleon_filtered, 3 splits, 4 layers: simple with lr 1e-3 0.436, 3e-4
// 0.426, 1e-4 0.420; complex with lr 1e-4 0.412.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "../adjacency.h"
#include "../layers.h"
#include "baselines.h"
#include "dgat/core/error.h"
#include "dgat/tensor/split.h"

namespace dgat::nn {
namespace {

/// The aggregation matrices of one message graph, and their row sums.
template <class T>
struct Fields {
  struct Operator {
    SparseMatrix<T> matrix;
    Matrix<T> row_sums;  ///< [n, 1]
  };
  std::vector<Operator> operators;       ///< mean, av_1, dx_1, av_2, dx_2, ...
  Matrix<T> amplification, attenuation;  ///< [n, 1], the degree scalers
};

/// Bytes per field: the matrix and its row sums.
template <class T>
int64_t field_bytes(const Messages<T>& messages) {
  return (1 + messages.features.cols()) *
         sparse_bytes<T>(messages.graph.nodes(), messages.graph.arcs());
}

/// log(d + 1) / delta and its inverse for every node, delta the mean of log(d + 1).
template <class T>
void add_scalers(const std::vector<int64_t>& offsets, Fields<T>& fields) {
  const int64_t n = std::ssize(offsets) - 1;
  const auto size = [&](int64_t i) {
    const auto at = static_cast<size_t>(i);
    return std::log(static_cast<double>(offsets[at + 1] - offsets[at] + 1));
  };
  double mean = 0;
  for (int64_t i = 0; i < n; ++i) mean += size(i) / static_cast<double>(n);
  fields.amplification = Matrix<T>::zeros(n, 1);
  fields.attenuation = Matrix<T>::zeros(n, 1);
  for (int64_t i = 0; i < n; ++i) {
    if (size(i) == 0) continue;
    fields.amplification(i, 0) = static_cast<T>(size(i) / mean);
    fields.attenuation(i, 0) = static_cast<T>(mean / size(i));
  }
}

/// Drops the self loops; column c of the features is operator 1 + c.
template <class T>
Fields<T> make_fields(const Messages<T>& messages) {
  const int64_t n = messages.graph.nodes();
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> senders;
  std::vector<int64_t> arcs;  // position of each kept arc among all
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t e = messages.graph.offsets()[static_cast<size_t>(i)];
         e < messages.graph.offsets()[static_cast<size_t>(i) + 1]; ++e) {
      const int32_t j = messages.graph.senders()[static_cast<size_t>(e)];
      if (j == i) continue;
      senders.push_back(j);
      arcs.push_back(e);
    }
    offsets.push_back(static_cast<int64_t>(senders.size()));
  }
  Fields<T> fields;
  add_scalers(offsets, fields);
  std::vector<T> values(senders.size());
  for (int64_t c = -1; c < messages.features.cols(); ++c) {
    Matrix<T> sums(n, 1);
    for (int64_t i = 0; i < n; ++i) {
      double sum = 0;
      const int64_t begin = offsets[static_cast<size_t>(i)];
      const int64_t end = offsets[static_cast<size_t>(i) + 1];
      for (int64_t e = begin; e < end; ++e) {
        T& value = values[static_cast<size_t>(e)];
        value = c < 0 ? static_cast<T>(1 / static_cast<double>(end - begin))
                      : messages.features(arcs[static_cast<size_t>(e)], c);
        sum += static_cast<double>(value);
      }
      sums(i, 0) = c < 0 ? static_cast<T>(end > begin ? 1 : 0) : static_cast<T>(sum);
    }
    fields.operators.push_back({SparseMatrix<T>(n, n, offsets, senders, values), std::move(sums)});
  }
  return fields;
}

/// The parts of this rank.
template <class T>
Fields<T> part_of(const Fields<T>& whole, dist::Communicator& ranks) {
  const dist::RowShare rows = dist::share_of(ranks, whole.amplification.rows());
  Fields<T> part;
  for (const auto& [matrix, row_sums] : whole.operators) {
    part.operators.push_back(
        {matrix.part(ranks, /*split_columns=*/true), tensor::own_rows(rows, row_sums)});
  }
  part.amplification = tensor::own_rows(rows, whole.amplification);
  part.attenuation = tensor::own_rows(rows, whole.attenuation);
  return part;
}

/// A map of a layer. `columns`: those of the authors' map that it is a part of.
template <class T>
Linear<T> layer_map(ParameterSet<T>& set, const std::string& name, int64_t out, int64_t in,
                    int64_t columns, bool bias, bool xavier) {
  if (!xavier) return Linear<T>(set, name, out, in, bias);
  const auto own = static_cast<double>(in + out), whole = static_cast<double>(columns + out);
  const double gain = std::sqrt(own / whole) / static_cast<double>(columns);
  Linear<T> map(set, name, out, in, bias, {Initializer::Kind::kGlorotUniform, gain});
  if (bias) {
    for (T& value : set.find(name + ".bias")->parameter.value.values()) value = T{0};
  }
  return map;
}

template <class T>
class DgnLayer {
 public:
  DgnLayer(ParameterSet<T>& set, const std::string& name, const ModelOptions& o,
           int64_t aggregators, bool complex)
      : complex_(complex),
        scalers_(o.extra.at("scalers") != 0),
        graph_norm_(o.extra.at("graph_norm") != 0),
        dropout_(o.dropout) {
    const int64_t d = o.hidden;
    const bool xavier = o.extra.at("xavier") != 0;
    if (complex) {
      sender_ = layer_map(set, name + "sender", d, d, 2 * d, /*bias=*/false, xavier);
      receiver_ = layer_map(set, name + "receiver", d, d, 2 * d, /*bias=*/true, xavier);
    }
    const int64_t read = ((scalers_ ? 3 : 1) * aggregators + (complex ? 1 : 0)) * d;
    mix_ = layer_map(set, name + "mix", d, read, read, /*bias=*/true, xavier);
    norm_ = BatchNorm<T>(set, name + "norm", d);
  }

  /// `used[a]`: whether operator a is an aggregator.
  Var<T> operator()(Tape<T>& tape, const Fields<T>& fields, const std::vector<bool>& used,
                    const Var<T>& h) {
    const Var<T> u = complex_ ? sender_(tape, h) : h;
    const Var<T> v = complex_ ? receiver_(tape, h) : Var<T>();
    const Var<T> minus_h = tensor::scale(tape, h, -1);
    std::vector<Var<T>> parts;
    for (size_t a = 0; a < used.size(); ++a) {
      if (!used[a]) continue;
      const auto& [matrix, row_sums] = fields.operators[a];
      const bool dx = a > 0 && a % 2 == 0;
      Var<T> sum = tensor::spmm(tape, matrix, u), own = v;
      if (dx) own = v ? tensor::add(tape, v, minus_h) : minus_h;
      if (own) {
        sum = tensor::add(tape, sum, tensor::scale_rows(tape, own, tape.reference(row_sums)));
      }
      parts.push_back(dx ? tensor::abs(tape, sum) : sum);
    }
    const size_t aggregated = parts.size();
    for (const Matrix<T>* scaler : {&fields.amplification, &fields.attenuation}) {
      for (size_t a = 0; scalers_ && a < aggregated; ++a) {
        parts.push_back(tensor::scale_rows(tape, parts[a], tape.reference(*scaler)));
      }
    }
    if (complex_) parts.insert(parts.begin(), h);
    Var<T> out = mix_(tape, tensor::concat_columns(tape, parts));
    if (graph_norm_) {
      out = tensor::scale(tape, out, 1 / std::sqrt(static_cast<double>(h.all_rows())));
    }
    out = norm_(tape, out);
    out = tensor::activate(tape, out, tensor::Activation::kRelu);
    return tensor::dropout(tape, tensor::add(tape, h, out), dropout_);
  }

  BatchNorm<T>& norm() { return norm_; }

 private:
  bool complex_, scalers_, graph_norm_;
  double dropout_;
  Linear<T> sender_, receiver_, mix_;
  BatchNorm<T> norm_;
};

template <class T>
class Dgn final : public Model<T> {
 public:
  explicit Dgn(const ModelOptions& options) : Model<T>(options) {
    const ModelOptions& o = this->options();
    const bool av = o.extra.at("av") != 0, dx = o.extra.at("dx") != 0;
    if ((av || dx) && !o.directional) {
      throw_input(
          "dgn: av and dx need directions; leave --directional on or set --extra av=0,dx=0");
    }
    used_ = {o.extra.at("mean") != 0};
    for (int64_t k = 0; k < o.eigenvectors && o.directional; ++k) {
      used_.push_back(av);
      used_.push_back(dx);
    }
    const int64_t aggregators = std::count(used_.begin(), used_.end(), true);
    if (aggregators == 0) throw_input("dgn: mean, av and dx are all 0; leave one aggregator on");
    constexpr int64_t kNarrowest = 4;
    if (o.hidden < kNarrowest) throw_input("dgn: hidden must be at least 4, got {}", o.hidden);
    ParameterSet<T>& set = this->parameters();
    input_ = Linear<T>(set, "input", o.hidden, o.features);
    for (int64_t l = 0; l < o.layers; ++l) {
      layers_.emplace_back(set, fmt::format("layers.{}.", l), o, aggregators,
                           o.extra.at("complex") != 0);
    }
    int64_t width = o.hidden;
    for (const char* name : {"readout.0", "readout.1"}) {
      readout_.emplace_back(set, name, width / 2, width);
      width /= 2;
    }
    output_ = Linear<T>(set, "output", o.outputs(), width);
  }

  void prepare(const GraphInput<T>& input) override {
    input_.prepare(*input.features);
    const Messages<T>& messages = input.messages->whole ? *input.messages->whole : *input.messages;
    // A rewiring that differs between splits makes message graphs of its own.
    fields_ = input.precomputed->template get<Fields<T>>(
        name_on_rank(input, fmt::format("dgn: aggregation matrices {}", fmt::ptr(&messages))),
        [&] {
          return PartSize{field_bytes(messages), {}};
        },
        [&] {
          Fields<T> whole = make_fields(messages);
          return input.ranks == nullptr ? std::move(whole) : part_of(whole, *input.ranks);
        });
    expects(fields_->operators.size() >= used_.size(), "the edges carry every eigenvector");
  }

  Var<T> forward(Tape<T>& tape, const GraphInput<T>& input, Inspection<T>* inspection) override {
    Var<T> h = input_(tape, view_input(tape, *input.features));
    for (DgnLayer<T>& layer : layers_) h = layer(tape, *fields_, used_, h);
    for (const Linear<T>& linear : readout_) {
      h = tensor::activate(tape, linear(tape, h), tensor::Activation::kRelu);
    }
    if (inspection != nullptr) inspection->embeddings = h.value().clone();
    return output_(tape, h);
  }

  std::vector<NamedBuffer<T>> buffers() override {
    std::vector<NamedBuffer<T>> all;
    for (DgnLayer<T>& layer : layers_) layer.norm().list_buffers(all);
    return all;
  }

 private:
  Linear<T> input_;
  std::vector<DgnLayer<T>> layers_;
  std::vector<Linear<T>> readout_;
  Linear<T> output_;
  std::vector<bool> used_;  // mean, av_1, dx_1, ...
  std::shared_ptr<const Fields<T>> fields_;
};

}  // namespace

template <class T>
ModelEntry<T> dgn_entry() {
  auto entry = baseline<T, Dgn>(
      "dgn", "directional graph network: mean, smoothing and derivative along phi");
  entry.info.equations =
      "aggregators mean, av = B_av e, dx = |B_dx e| of phi of the random-walk Laplacian,\n"
      "e_ij = h_j (simple) or U h_j + V h_i + b (complex),\n"
      "h <- dropout(h + ReLU(BatchNorm(Linear([h (complex) || aggregators])))),\n"
      "logits = MLP(h), widths d, d/2, d/4";
  entry.info.reference = "Beaini et al., Directional Graph Networks, ICML 2021";
  entry.info.directional = true;
  entry.info.defaults.insert({{"laplacian", "default"},
                              {"rewire", "none"},
                              {"layers", "4"},
                              {"hidden", "64"},
                              {"dropout", "0.3"},
                              {"lr", "0.001"},
                              {"weight_decay", "1e-06"}});
  entry.info.grid = {{"extra.complex", {"0", "1"}},    {"extra.av", {"0", "1"}},
                     {"extra.dx", {"0", "1"}},         {"extra.scalers", {"0", "1"}},
                     {"extra.graph_norm", {"0", "1"}}, {"extra.xavier", {"0", "1"}}};
  entry.info.extras = {
      {"complex", 0, 0, 1, "1: messages of both ends (complex), 0: of the sender (simple)", true},
      {"mean", 1, 0, 1, "aggregate the mean of the neighbours", true},
      {"av", 1, 0, 1, "aggregate by B_av, the smoothing along phi", true},
      {"dx", 1, 0, 1, "aggregate by B_dx, the derivative along phi", true},
      {"scalers", 0, 0, 1, "1: aggregators also times and divided by log(degree + 1)", true},
      {"graph_norm", 0, 0, 1, "1: divide by sqrt(nodes) in front of the BatchNorm", true},
      {"xavier", 0, 0, 1, "1: the authors' initial weights, Xavier with gain 1/in, biases 0",
       true}};
  return entry;
}

template ModelEntry<DGAT_SCALAR> dgn_entry();

}  // namespace dgat::nn
