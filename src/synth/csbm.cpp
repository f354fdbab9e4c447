#include "dgat/synth/csbm.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "common.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"

namespace dgat::synth {
namespace {

using graph::Edge;
using graph::NodeId;

constexpr int64_t kRowGrain = 1 << 10;

void check(const CsbmOptions& o) {
  if (o.classes < 1) throw_input("csbm: at least 1 class is needed, got {}", o.classes);
  if (o.nodes < o.classes) {
    throw_input("csbm: {} nodes cannot fill {} classes", o.nodes, o.classes);
  }
  if (!(o.homophily >= 0 && o.homophily <= 1)) {
    throw_input("csbm: homophily must lie in [0, 1], got {}", o.homophily);
  }
  if (!(o.degree >= 0) || !std::isfinite(o.degree)) {
    throw_input("csbm: the mean degree must not be negative, got {}", o.degree);
  }
  constexpr double kLargest = 1e30;  // features are single precision
  if (!(std::abs(o.signal) <= kLargest)) {
    throw_input("csbm: the signal must lie in [-1e30, 1e30], got {}", o.signal);
  }
  if (o.features < o.classes) {
    throw_input("csbm: {} feature columns cannot hold {} class centres; raise features", o.features,
                o.classes);
  }
}

struct PairProbability {
  double inside = 0, between = 0;
};

double probability(double edges, double pairs, const char* where) {
  if (edges > pairs) {
    throw_input(
        "csbm: {:.1f} edges {} classes are expected but there are only {} pairs; lower "
        "the degree or change the homophily",
        edges, where, pairs);
  }
  return edges > 0 ? edges / pairs : 0;
}

PairProbability pair_probability(const CsbmOptions& o) {
  const double n = o.nodes;
  double inside = 0;
  for (int c = 0; c < o.classes; ++c) {
    const int64_t size = (int64_t{o.nodes} - c + o.classes - 1) / o.classes;
    inside += 0.5 * static_cast<double>(size) * static_cast<double>(size - 1);
  }
  const double edges = n * o.degree / 2;
  return {probability(o.homophily * edges, inside, "inside"),
          probability((1 - o.homophily) * edges, n * (n - 1) / 2 - inside, "between")};
}

/// Calls visit(k) for every k in [first, last) with probability p each, skipping in between.
template <class Visit>
void sample_range(int64_t first, int64_t last, double p, Random& random, Visit&& visit) {
  if (p <= 0) return;
  const double log_miss = std::log1p(-p);  // -inf at p = 1: every skip is 0
  for (int64_t k = first; k < last; ++k) {
    const double skip = std::floor(std::log1p(-random.uniform()) / log_miss);
    if (skip >= static_cast<double>(last - k)) return;
    k += static_cast<int64_t>(skip);
    visit(k);
  }
}

/// Nodes sorted by class: row r of the triangle of pairs meets other classes in [0, start of its
/// class) and its own in [start, r).
std::vector<Edge> sample_edges(const CsbmOptions& o, const std::vector<int32_t>& labels) {
  const PairProbability p = pair_probability(o);
  std::vector<int64_t> start(static_cast<size_t>(o.classes) + 1, 0);
  for (const int32_t z : labels) ++start[static_cast<size_t>(z) + 1];
  std::partial_sum(start.begin(), start.end(), start.begin());
  std::vector<NodeId> order(labels.size());
  auto next = start;
  for (NodeId i = 0; i < o.nodes; ++i) {
    order[static_cast<size_t>(next[static_cast<size_t>(labels[static_cast<size_t>(i)])]++)] = i;
  }
  std::vector<std::vector<Edge>> blocks(static_cast<size_t>(block_count(o.nodes, kRowGrain)));
  parallel_blocks(o.nodes, kRowGrain, [&](int64_t block, int64_t first, int64_t last) {
    throw_if_interrupted("csbm");
    auto& edges = blocks[static_cast<size_t>(block)];
    for (int64_t r = first; r < last; ++r) {
      Random random = random_for(o.seed, Purpose::kEdges, static_cast<uint64_t>(r));
      const NodeId here = order[static_cast<size_t>(r)];
      const auto z = static_cast<size_t>(labels[static_cast<size_t>(here)]);
      const auto join = [&](int64_t s) { edges.push_back({here, order[static_cast<size_t>(s)]}); };
      sample_range(0, start[z], p.between, random, join);
      sample_range(start[z], r, p.inside, random, join);
    }
  });
  std::vector<Edge> edges;
  for (const auto& part : blocks) edges.insert(edges.end(), part.begin(), part.end());
  return edges;
}

}  // namespace

data::Dataset csbm(const CsbmOptions& options) {
  check(options);
  data::Dataset set;
  set.name = "csbm";
  set.classes = options.classes;
  for (NodeId i = 0; i < options.nodes; ++i) set.labels.push_back(i % options.classes);
  Random random = random_for(options.seed, Purpose::kLabels);
  random.shuffle(set.labels);
  set.graph = graph::build_graph(options.nodes, sample_edges(options, set.labels)).graph;

  const int64_t cols = options.features;
  std::vector<float> values(static_cast<size_t>(options.nodes * cols));
  parallel_for(options.nodes, kRowGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Random noise = random_for(options.seed, Purpose::kFeatures, static_cast<uint64_t>(i));
      for (int64_t c = 0; c < cols; ++c) {
        const double centre = c == set.labels[static_cast<size_t>(i)] ? options.signal : 0;
        values[static_cast<size_t>(i * cols + c)] = static_cast<float>(centre + noise.normal());
      }
    }
  });
  set.features = data::Features::dense(options.nodes, cols, std::move(values));
  add_splits(set, options);
  return set;
}

}  // namespace dgat::synth
