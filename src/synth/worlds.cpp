#include "dgat/synth/worlds.h"

#include <algorithm>
#include <cmath>

#include "common.h"
#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"

namespace dgat::synth {
namespace {

using graph::Edge;
using graph::NodeId;

void check(const WorldsOptions& o) {
  if (o.worlds < 1) throw_input("worlds: at least 1 community is needed, got {}", o.worlds);
  for (const auto& [name, value] :
       {std::pair{"crossing", o.crossing}, std::pair{"homophily", o.homophily}}) {
    if (!(value >= 0 && value <= 1)) {
      throw_input("worlds: {} must lie in [0, 1], got {}", name, value);
    }
  }
  constexpr double kLargest = 1e30;  // features are single precision
  if (!(o.noise >= 0 && o.noise <= kLargest)) {
    throw_input("worlds: the noise must lie in [0, 1e30], got {}", o.noise);
  }
  if (o.features < 1) {
    throw_input("worlds: at least 1 feature column is needed, got {}", o.features);
  }
  if (!(o.degree >= 0) || !std::isfinite(o.degree)) {
    throw_input("worlds: the mean degree must not be negative, got {}", o.degree);
  }
  const int64_t smallest = o.nodes / (2 * int64_t{o.worlds});  // nodes of a role of a community
  if (static_cast<double>(smallest) < 2 * o.degree + 1) {
    throw_input(
        "worlds: {} nodes give each role of {} communities {} nodes, too few for degree {}; raise "
        "nodes to {:.0f} or lower the degree",
        o.nodes, o.worlds, smallest, o.degree, 2 * o.worlds * std::ceil(2 * o.degree + 1));
  }
}

class PartnerDraw {
 public:
  PartnerDraw(const WorldsOptions& options, const std::vector<int32_t>& labels)
      : options_(options),
        labels_(labels),
        members_(2 * static_cast<size_t>(options.worlds)),
        random_(random_for(options.seed, Purpose::kEdges)) {
    for (NodeId i = 0; i < options.nodes; ++i) members_[class_of(i)].push_back(i);
  }

  NodeId partner_of(NodeId node) {
    const auto label = static_cast<int32_t>(class_of(node));
    int32_t community = label / 2;
    const bool crosses = random_.uniform() < options_.crossing;
    if (crosses && options_.worlds > 1) community = neighbour(community);
    const bool same_role = random_.uniform() < options_.homophily;
    const int32_t role = same_role ? label % 2 : 1 - label % 2;
    const auto& pool = members_[2 * static_cast<size_t>(community) + static_cast<size_t>(role)];
    return pool[random_.below(pool.size())];
  }

 private:
  size_t class_of(NodeId i) const { return static_cast<size_t>(labels_[static_cast<size_t>(i)]); }
  int32_t neighbour(int32_t community) {
    if (community == 0) return 1;
    if (community == options_.worlds - 1) return community - 1;
    return random_.below(2) == 0 ? community - 1 : community + 1;
  }

  const WorldsOptions& options_;
  const std::vector<int32_t>& labels_;
  std::vector<std::vector<NodeId>> members_;  ///< nodes of every class
  Random random_;
};

/// Draws as many edges as are missing, drops the repeated ones, and draws for those again.
std::vector<Edge> draw_edges(const WorldsOptions& o, const std::vector<int32_t>& labels) {
  PartnerDraw draw(o, labels);
  const auto wanted = static_cast<size_t>(std::llround(o.degree * o.nodes / 2));
  std::vector<Edge> edges;
  edges.reserve(wanted);
  const auto key = [](const Edge& e) { return std::pair(e.from, e.to); };
  for (NodeId turn = 0; edges.size() < wanted;) {
    throw_if_interrupted("worlds");
    while (edges.size() < wanted) {
      const NodeId u = turn, v = draw.partner_of(u);
      turn = turn + 1 == o.nodes ? 0 : turn + 1;
      if (u != v) edges.push_back({std::min(u, v), std::max(u, v)});
    }
    std::sort(edges.begin(), edges.end(),
              [&](const Edge& a, const Edge& b) { return key(a) < key(b); });
    edges.erase(std::unique(edges.begin(), edges.end(),
                            [&](const Edge& a, const Edge& b) { return key(a) == key(b); }),
                edges.end());
  }
  return edges;
}

std::vector<float> make_features(const WorldsOptions& o, const std::vector<int32_t>& labels) {
  const auto columns = static_cast<size_t>(o.features);
  std::vector<float> values(labels.size() * columns);
  parallel_for(o.nodes, 1 << 10, [&](int64_t first, int64_t last) {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(last); ++i) {
      Random random = random_for(o.seed, Purpose::kFeatures, i);
      for (size_t c = 0; c < columns; ++c) {
        const double centre = c > 0 ? 0 : labels[i] % 2 == 1 ? 1 : -1;
        values[i * columns + c] = static_cast<float>(centre + o.noise * random.normal());
      }
    }
  });
  return values;
}

}  // namespace

data::Dataset worlds(const WorldsOptions& options) {
  check(options);
  data::Dataset set;
  set.name = "worlds";
  set.classes = 2 * options.worlds;
  for (NodeId i = 0; i < options.nodes; ++i) set.labels.push_back(i % set.classes);
  Random random = random_for(options.seed, Purpose::kLabels);
  random.shuffle(set.labels);
  set.graph = graph::build_graph(options.nodes, draw_edges(options, set.labels)).graph;
  set.features =
      data::Features::dense(options.nodes, options.features, make_features(options, set.labels));
  add_splits(set, options);
  return set;
}

}  // namespace dgat::synth
