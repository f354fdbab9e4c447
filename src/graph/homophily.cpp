#include "dgat/graph/homophily.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"

namespace dgat::graph {
namespace {

__extension__ using Wide = __int128;  // products of similarity sums and class sizes

double ratio(double above, double below) {
  return below == 0 ? std::numeric_limits<double>::quiet_NaN() : above / below;
}

double entropy_term(double p) {
  return p > 0 ? p * std::log(p) : 0;
}

/// The labelled part of a graph: rows and neighbours without a label are passed over.
class Labelled {
 public:
  Labelled(const CsrGraph& graph, std::span<const int32_t> labels, int classes)
      : graph_(graph), labels_(labels), classes_(static_cast<size_t>(classes)) {}

  size_t classes() const { return classes_; }
  int32_t label(int64_t i) const { return labels_[static_cast<size_t>(i)]; }
  template <class Visit>
  void for_neighbor_labels(int64_t i, Visit&& visit) const {
    for (const NodeId j : graph_.neighbors(static_cast<NodeId>(i))) {
      if (const int32_t z = label(j); z >= 0) visit(static_cast<size_t>(z));
    }
  }
  /// Sum over labelled nodes of tables of `width` numbers; add(i, table) is called once per node.
  template <class T, class Add>
  std::vector<T> sum_tables(size_t width, Add&& add) const {
    const int64_t n = graph_.nodes();
    // All tables together stay within a few times the size of the labels.
    const int64_t grain = std::max({int64_t{1} << 12, n / 32 + 1, static_cast<int64_t>(width)});
    std::vector<std::vector<T>> tables(static_cast<size_t>(block_count(n, grain)));
    parallel_blocks(n, grain, [&](int64_t block, int64_t first, int64_t last) {
      auto& table = tables[static_cast<size_t>(block)];
      table.assign(width, T{});
      for (int64_t i = first; i < last; ++i) {
        if (label(i) >= 0) add(i, table.data());
      }
    });
    std::vector<T> sum(width, T{});
    for (const auto& table : tables) {
      for (size_t k = 0; k < width; ++k) sum[k] += table[k];
    }
    return sum;
  }

 private:
  const CsrGraph& graph_;
  std::span<const int32_t> labels_;
  size_t classes_;
};

/// Everything the edge-wise measures need: how often each pair of classes meets.
struct Counts {
  std::vector<int64_t> nodes;   ///< per class
  std::vector<int64_t> arcs;    ///< classes x classes; symmetric
  std::vector<int64_t> degree;  ///< row sums of arcs
  int64_t all_nodes = 0, all_arcs = 0;
};

Counts count(const Labelled& graph) {
  const size_t c = graph.classes();
  std::vector<int64_t> table = graph.sum_tables<int64_t>(c * c + c, [&](int64_t i, int64_t* t) {
    const auto z = static_cast<size_t>(graph.label(i));
    int64_t* row = t + z * c;
    graph.for_neighbor_labels(i, [&](size_t other) { ++row[other]; });
    ++t[c * c + z];
  });
  Counts counts;
  const auto split = table.begin() + static_cast<std::ptrdiff_t>(c * c);
  counts.nodes.assign(split, table.end());
  table.erase(split, table.end());
  counts.arcs = std::move(table);
  counts.degree.assign(c, 0);
  for (size_t a = 0; a < c; ++a) {
    for (size_t b = 0; b < c; ++b) counts.degree[a] += counts.arcs[a * c + b];
    counts.all_nodes += counts.nodes[a];
    counts.all_arcs += counts.degree[a];
  }
  return counts;
}

void edge_measures(const Counts& counts, Homophily& out) {
  const size_t c = counts.nodes.size();
  const auto arcs = static_cast<double>(counts.all_arcs);
  const auto nodes = static_cast<double>(counts.all_nodes);
  int64_t same = 0;
  double squares = 0, pair_sum = 0, single_sum = 0, excess = 0;
  int present = 0;
  for (size_t a = 0; a < c; ++a) {
    const int64_t own = counts.arcs[a * c + a];
    const auto degree = static_cast<double>(counts.degree[a]);
    same += own;
    if (counts.nodes[a] > 0) ++present;
    if (counts.degree[a] > 0) {
      excess += std::max(
          0.0, static_cast<double>(own) / degree - static_cast<double>(counts.nodes[a]) / nodes);
      squares += (degree / arcs) * (degree / arcs);
      single_sum += entropy_term(degree / arcs);
    }
    for (size_t b = 0; b < c; ++b) {
      const int64_t pair = counts.arcs[a * c + b];
      if (pair == 0) continue;
      pair_sum += entropy_term(static_cast<double>(pair) / arcs);
      out.compatibility[a * c + b] = static_cast<double>(pair) / degree;
    }
  }
  out.edge = ratio(static_cast<double>(same), arcs);
  out.class_ = ratio(excess, counts.all_arcs > 0 ? present - 1 : 0);
  out.adjusted_edge = ratio(out.edge - squares, 1 - squares);
  out.label_informativeness = 2 - ratio(pair_sum, single_sum);
}

/// Columns of the per-node sums behind the table of joint probabilities.
enum NodeSum : size_t { kOwnShare, kConnected, kAggregates, kNodeSums };

void node_measures(const Labelled& graph, const Counts& counts, bool skip_isolated,
                   Homophily& out) {
  const size_t c = graph.classes();
  // M_c.e_k = arcs from class c to class k, plus the self loop of every node of c.
  std::vector<int64_t> similarity = counts.arcs;
  std::vector<int64_t> total = counts.degree;
  for (size_t a = 0; a < c; ++a) {
    similarity[a * c + a] += counts.nodes[a];
    total[a] += counts.nodes[a];
  }
  const std::vector<double> sums =
      graph.sum_tables<double>(c * c + kNodeSums, [&](int64_t i, double* t) {
        const auto z = static_cast<size_t>(graph.label(i));
        const int64_t* own_row = similarity.data() + z * c;
        Wide own = own_row[z], all = total[z];
        int64_t degree = 0, same = 0;
        graph.for_neighbor_labels(i, [&](size_t other) {
          own += own_row[other];
          all += total[other];
          ++degree;
          if (other == z) ++same;
        });
        const int64_t inside = counts.nodes[z], outside = counts.all_nodes - inside;
        double* node = t + c * c;
        if (own * outside >= (all - own) * inside) ++node[kAggregates];
        if (degree == 0) return;
        const double weight = 1.0 / static_cast<double>(degree);
        ++node[kConnected];
        node[kOwnShare] += static_cast<double>(same) * weight;
        graph.for_neighbor_labels(i, [&](size_t other) { t[z * c + other] += weight; });
      });
  const double* node = sums.data() + c * c;
  const auto nodes = static_cast<double>(counts.all_nodes);
  out.node = ratio(node[kOwnShare], skip_isolated ? node[kConnected] : nodes);
  out.aggregation_raw = ratio(node[kAggregates], nodes);
  // Not std::max alone: an undefined share must stay undefined.
  out.aggregation = out.aggregation_raw < 0.5 ? 0.0 : 2 * out.aggregation_raw - 1;

  std::vector<double> here(c, 0.0), there(c, 0.0);
  double joint = 0, entropy_here = 0, entropy_there = 0;
  for (size_t a = 0; a < c; ++a) {
    for (size_t b = 0; b < c; ++b) {
      const double p = ratio(sums[a * c + b], node[kConnected]);
      here[a] += p;
      there[b] += p;
      joint += entropy_term(p);
    }
  }
  for (size_t a = 0; a < c; ++a) {
    entropy_here += entropy_term(here[a]);
    entropy_there += entropy_term(there[a]);
  }
  // The entropy of a single class is zero, but its shares add up to one only within rounding.
  const auto sources = std::count_if(here.begin(), here.end(), [](double p) { return p > 0; });
  out.node_label_informativeness =
      ratio(entropy_here + entropy_there - joint, sources > 1 ? entropy_here : 0);
}

void check_labels(const CsrGraph& graph, std::span<const int32_t> labels, int classes) {
  if (labels.size() != static_cast<size_t>(graph.nodes())) {
    throw_input("homophily: {} labels for {} nodes; one label per node is needed", labels.size(),
                graph.nodes());
  }
  if (classes < 0 || classes > kMaxHomophilyClasses) {
    throw_input("homophily: the number of classes must lie in [0, {}], got {}",
                kMaxHomophilyClasses, classes);
  }
  const auto bad = std::find_if(labels.begin(), labels.end(),
                                [classes](int32_t z) { return z < -1 || z >= classes; });
  if (bad != labels.end()) {
    throw_input("homophily: label {} of node {} is outside [-1, {})", *bad, bad - labels.begin(),
                classes);
  }
}

}  // namespace

Homophily measure_homophily(const CsrGraph& graph, std::span<const int32_t> labels, int classes,
                            const HomophilyOptions& options) {
  check_labels(graph, labels, classes);
  if (graph.directed()) return measure_homophily(symmetrised(graph), labels, classes, options);
  const Labelled labelled(graph, labels, classes);
  const Counts counts = count(labelled);
  Homophily out;
  out.labelled_nodes = counts.all_nodes;
  out.labelled_edges = counts.all_arcs / 2;
  out.class_counts = counts.nodes;
  out.compatibility.assign(labelled.classes() * labelled.classes(), 0.0);
  edge_measures(counts, out);
  node_measures(labelled, counts, options.skip_isolated, out);
  return out;
}

}  // namespace dgat::graph
