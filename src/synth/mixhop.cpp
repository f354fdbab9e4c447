#include "dgat/synth/mixhop.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "common.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/graph/builder.h"

namespace dgat::synth {
namespace {

using graph::Edge;
using graph::NodeId;

constexpr double kRadius = 300, kAlongVariance = 70 * 350, kAcrossVariance = 20 * 350;
constexpr int kPatience = 64;  // draws in a row that may hit a node already taken

void check(const MixhopOptions& o) {
  if (!(o.mu >= 0 && o.mu <= 1)) throw_input("mixhop: mu must lie in [0, 1], got {}", o.mu);
  if (o.classes < 2) throw_input("mixhop: at least 2 classes are needed, got {}", o.classes);
  if (o.start < o.classes) {
    throw_input("mixhop: {} classes do not fit on {} start nodes; raise start to {} or more",
                o.classes, o.start, o.classes);
  }
  if (o.nodes < o.start) {
    throw_input("mixhop: {} nodes are fewer than the {} start nodes; lower start or raise nodes",
                o.nodes, o.start);
  }
  if (o.edges_per_node < 1) {
    throw_input("mixhop: a new node needs at least 1 edge, got {}", o.edges_per_node);
  }
}

/// The classes take turns on the start nodes and come in random order, in equal numbers, after.
std::vector<int32_t> assign_classes(const MixhopOptions& o) {
  std::vector<int32_t> later;
  for (NodeId i = o.start; i < o.nodes; ++i) later.push_back(i % o.classes);
  Random random = random_for(o.seed, Purpose::kLabels);
  random.shuffle(later);
  std::vector<int32_t> labels;
  labels.reserve(static_cast<size_t>(o.nodes));
  for (NodeId i = 0; i < o.start; ++i) labels.push_back(i % o.classes);
  labels.insert(labels.end(), later.begin(), later.end());
  return labels;
}

/// affinity[k]: weight of a class k steps further on the circle; k = 0 is the own class.
std::vector<double> class_affinity(double mu, int classes) {
  std::vector<double> affinity(static_cast<size_t>(classes), 0.0);
  double sum = 0;
  for (int k = 1; k < classes; ++k) {
    sum += affinity[static_cast<size_t>(k)] = std::exp2(-std::min(k, classes - k));
  }
  for (double& a : affinity) a *= (1 - mu) / sum;
  affinity[0] = mu;
  return affinity;
}

/// The graph while it grows. Every class keeps a list in which each of its nodes stands once per
/// edge end, so a uniform draw from the list is a draw proportional to the degree.
class Growth {
 public:
  explicit Growth(const MixhopOptions& options, const std::vector<int32_t>& labels)
      : options_(options),
        labels_(labels),
        affinity_(class_affinity(options.mu, options.classes)),
        ends_(static_cast<size_t>(options.classes)),
        weight_(ends_.size()),
        random_(random_for(options.seed, Purpose::kEdges)) {
    edges_.reserve(static_cast<size_t>(options.nodes) *
                   static_cast<size_t>(options.edges_per_node));
    for (NodeId i = 1; i < options.start; ++i) join(i, i - 1);
  }

  void add_node(NodeId i) {
    weigh_classes(class_of(i));
    taken_.clear();
    const auto wanted = static_cast<size_t>(options_.edges_per_node);
    for (int misses = 0; taken_.size() < wanted && misses < kPatience;) {
      const NodeId j = draw();
      if (is_taken(j)) {
        ++misses;
      } else {
        taken_.push_back(j);
        misses = 0;
      }
    }
    if (taken_.size() < wanted) draw_from_the_rest(i, wanted);
    for (const NodeId j : taken_) join(i, j);
  }

  std::vector<Edge> take_edges() { return std::move(edges_); }

 private:
  size_t class_of(NodeId i) const { return static_cast<size_t>(labels_[static_cast<size_t>(i)]); }
  bool is_taken(NodeId j) const {
    return std::find(taken_.begin(), taken_.end(), j) != taken_.end();
  }
  double affinity(size_t from, size_t to) const {
    return affinity_[to >= from ? to - from : to + ends_.size() - from];
  }
  void join(NodeId i, NodeId j) {
    edges_.push_back({i, j});
    ends_[class_of(i)].push_back(i);
    ends_[class_of(j)].push_back(j);
  }
  void weigh_classes(size_t z) {
    total_ = 0;
    for (size_t c = 0; c < ends_.size(); ++c) {
      total_ += weight_[c] = affinity(z, c) * static_cast<double>(ends_[c].size());
    }
  }
  /// A node with the probability of the model; total_ is positive because every class has ends.
  NodeId draw() {
    double u = random_.uniform() * total_;
    size_t chosen = 0;
    for (size_t c = 0; c < weight_.size(); ++c) {
      if (weight_[c] <= 0) continue;
      chosen = c;  // the last class with weight also catches what rounding leaves over
      if (u < weight_[c]) break;
      u -= weight_[c];
    }
    const auto& list = ends_[chosen];
    return list[random_.below(list.size())];
  }
  /// The same draws when the nodes taken hold nearly all the weight: lists what is left.
  void draw_from_the_rest(NodeId i, size_t wanted) {
    std::vector<double> weight(static_cast<size_t>(i), 0.0);
    for (size_t c = 0; c < ends_.size(); ++c) {
      for (const NodeId j : ends_[c]) weight[static_cast<size_t>(j)] += affinity(class_of(i), c);
    }
    for (const NodeId j : taken_) weight[static_cast<size_t>(j)] = 0;
    while (taken_.size() < wanted) {
      double left = 0;
      for (const double w : weight) left += w;
      if (left <= 0) return;
      double u = random_.uniform() * left;
      NodeId chosen = -1;
      for (NodeId j = 0; j < i; ++j) {
        const double w = weight[static_cast<size_t>(j)];
        if (w <= 0) continue;
        chosen = j;
        if (u < w) break;
        u -= w;
      }
      taken_.push_back(chosen);
      weight[static_cast<size_t>(chosen)] = 0;
    }
  }

  const MixhopOptions& options_;
  const std::vector<int32_t>& labels_;
  std::vector<double> affinity_;
  std::vector<std::vector<NodeId>> ends_;  ///< per class: nodes, once per edge end
  std::vector<double> weight_;             ///< per class, for the node being added
  double total_ = 0;
  std::vector<NodeId> taken_;
  std::vector<Edge> edges_;
  Random random_;
};

std::vector<float> make_features(const MixhopOptions& o, const std::vector<int32_t>& labels) {
  std::vector<float> values(2 * labels.size());
  parallel_for(o.nodes, 1 << 12, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      Random random = random_for(o.seed, Purpose::kFeatures, static_cast<uint64_t>(i));
      const double t = 2 * std::numbers::pi * labels[static_cast<size_t>(i)] / o.classes;
      const double across = kRadius + std::sqrt(kAcrossVariance) * random.normal();
      const double along = std::sqrt(kAlongVariance) * random.normal();
      float* row = values.data() + 2 * i;
      row[0] = static_cast<float>(across * std::sin(t) + along * std::cos(t));
      row[1] = static_cast<float>(across * std::cos(t) - along * std::sin(t));
    }
  });
  return values;
}

}  // namespace

data::Dataset mixhop(const MixhopOptions& options) {
  check(options);
  data::Dataset set;
  set.name = "mixhop";
  set.labels = assign_classes(options);
  set.classes = options.classes;
  Growth growth(options, set.labels);
  Progress progress("mixhop", options.nodes);
  for (NodeId i = options.start; i < options.nodes; ++i) {
    growth.add_node(i);
    if (i % (1 << 16) == 0) {
      throw_if_interrupted("mixhop");
      progress.update(i);
    }
  }
  progress.finish();
  set.graph = graph::build_graph(options.nodes, growth.take_edges()).graph;
  set.features = data::Features::dense(options.nodes, 2, make_features(options, set.labels));
  add_splits(set, options);
  return set;
}

}  // namespace dgat::synth
