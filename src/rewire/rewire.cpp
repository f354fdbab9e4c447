#include "dgat/rewire/rewire.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "csr_operations.h"
#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/components.h"
#include "dgat/graph/homophily.h"
#include "dgat/spectral/distances.h"

namespace dgat::rewire {
namespace {

using graph::Components;
using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;
using spectral::NodeVectors;

/// The q-quantile as defined at Epsilon; reorders the values. 0 for none.
double quantile_of(std::vector<double>& values, double q) {
  if (values.empty()) return 0;
  const double position = q * static_cast<double>(values.size() - 1);
  const auto rank = static_cast<std::ptrdiff_t>(position);
  const double fraction = position - static_cast<double>(rank);
  const auto at = values.begin() + rank;
  std::nth_element(values.begin(), at, values.end());
  if (fraction == 0) return *at;
  const double above = *std::min_element(at + 1, values.end());
  return *at + fraction * (above - *at);
}

double threshold(const CsrGraph& graph, const NodeVectors& phi, Prune prune,
                 const std::optional<Epsilon>& chosen) {
  const Epsilon tenth{.value = prune == Prune::kNear ? 0.1 : 0.9, .quantile = true};
  const Epsilon epsilon = chosen.value_or(tenth);
  if (!epsilon.quantile) return epsilon.value;
  std::vector<double> distances = spectral::edge_distances(graph, phi);
  return quantile_of(distances, epsilon.value);
}

CsrGraph prune_edges(const CsrGraph& graph, const NodeVectors& phi, Prune prune, double epsilon) {
  if (prune == Prune::kNear) {
    return detail::filter_edges(graph, [&](NodeId i, NodeId j) {
      return !(spectral::spectral_distance(phi, i, j) < epsilon);
    });
  }
  return detail::filter_edges(graph, [&](NodeId i, NodeId j) {
    return !(spectral::spectral_distance(phi, i, j) > epsilon);
  });
}

/// Smallest and largest entry of phi on a set of nodes, the first node on a tie.
struct Extremes {
  NodeId low = -1, high = -1;
};

/// Of every group; group[i] numbers that of node i.
std::vector<Extremes> extremes_of(std::span<const double> phi, std::span<const NodeId> group,
                                  NodeId groups) {
  const auto at = [&](NodeId i) { return phi[static_cast<size_t>(i)]; };
  std::vector<Extremes> extremes(static_cast<size_t>(groups));
  for (NodeId i = 0; i < static_cast<NodeId>(phi.size()); ++i) {
    Extremes& e = extremes[static_cast<size_t>(group[static_cast<size_t>(i)])];
    if (e.low < 0 || at(i) < at(e.low)) e.low = i;
    if (e.high < 0 || at(i) > at(e.high)) e.high = i;
  }
  return extremes;
}

/// `add`: every node and the opposite extreme of its group.
std::vector<Edge> opposite_edges(std::span<const double> phi, std::span<const NodeId> group,
                                 NodeId groups) {
  const auto at = [&](NodeId i) { return phi[static_cast<size_t>(i)]; };
  const auto n = static_cast<NodeId>(phi.size());
  const std::vector<Extremes> extremes = extremes_of(phi, group, groups);
  std::vector<Edge> edges;
  for (NodeId i = 0; i < n; ++i) {
    const Extremes& e = extremes[static_cast<size_t>(group[static_cast<size_t>(i)])];
    const double mid = (at(e.low) + at(e.high)) / 2;
    if (at(i) < mid) edges.push_back({i, e.high});
    if (at(i) > mid) edges.push_back({i, e.low});
  }
  return edges;
}

/// `hub`: every node and the largest entry of its group.
std::vector<Edge> hub_edges(std::span<const double> phi, std::span<const NodeId> group,
                            NodeId groups) {
  const std::vector<Extremes> extremes = extremes_of(phi, group, groups);
  std::vector<Edge> edges(phi.size());
  for (size_t i = 0; i < phi.size(); ++i) {
    edges[i] = {static_cast<NodeId>(i), extremes[static_cast<size_t>(group[i])].high};
  }
  return edges;  // the hub's own self loop is dropped by the builder
}

std::vector<Edge> join_edges(const NodeVectors& phi, Join join, const Components& components,
                             bool per_component) {
  if (phi.nodes == 0) return {};
  const auto first = phi.vector(0);
  const auto edges = join == Join::kHub ? hub_edges : opposite_edges;
  if (per_component) return edges(first, components.of_node, components.count());
  return edges(first, std::vector<NodeId>(first.size(), 0), 1);
}

/// Over the edges between labelled nodes: how many there are, and how many join equal labels.
struct Agreement {
  int64_t edges = 0, equal = 0;
  Agreement& operator+=(const Agreement& other) {
    edges += other.edges;
    equal += other.equal;
    return *this;
  }
  double share() const {
    return edges == 0 ? std::numeric_limits<double>::quiet_NaN()
                      : static_cast<double>(equal) / static_cast<double>(edges);
  }
};

}  // namespace

double edge_homophily(const CsrGraph& graph, std::span<const int32_t> labels) {
  const auto count_rows = [&](int64_t first, int64_t last) {
    Agreement count;
    for (int64_t i = first; i < last; ++i) {
      const int32_t own = labels[static_cast<size_t>(i)];
      if (own < 0) continue;
      for (const NodeId j : graph.neighbors(static_cast<NodeId>(i))) {
        const int32_t other = labels[static_cast<size_t>(j)];
        count += {other >= 0 ? 1 : 0, other == own ? 1 : 0};
      }
    }
    return count;
  };
  return parallel_sum<Agreement>(graph.nodes(), 1 << 12, count_rows).share();
}

RewireResult rewire(const CsrGraph& graph, const NodeVectors& phi, const RewireOptions& options,
                    std::span<const int32_t> training_labels) {
  if (graph.directed()) {
    throw_input("rewire: needs an undirected graph, got one with {} arcs; drop --directed",
                graph.arcs());
  }
  const Mode mode = resolve_mode(options.mode, graph, training_labels);
  expects(mode == Mode{} || phi.count > 0, "rewiring needs an eigenvector");
  expects(phi.count == 0 || phi.nodes == graph.nodes(), "one entry of phi per node");

  RewireResult result;
  RewireReport& report = result.report;
  const Components components = connected_components(graph);
  report.mode = mode;
  report.edges_before = graph.edges();
  report.components_before = components.count();
  report.isolated_before = components.isolated();
  report.homophily_before = edge_homophily(graph, training_labels);

  CsrGraph pruned;
  const CsrGraph* kept = &graph;
  if (mode.prune != Prune::kNone) {
    report.epsilon = threshold(graph, phi, mode.prune, options.epsilon);
    pruned = prune_edges(graph, phi, mode.prune, report.epsilon);
    kept = &pruned;
  }
  if (mode.join != Join::kNone) {
    const auto joins = join_edges(phi, mode.join, components, options.per_component);
    result.graph = detail::merge_graphs(*kept, graph::build_graph(graph.nodes(), joins).graph);
  } else {
    result.graph = *kept;
  }
  report.dropped = graph.edges() - kept->edges();
  report.added = result.graph.edges() - kept->edges();
  report.edges_after = result.graph.edges();
  const Components after = connected_components(result.graph);
  report.isolated_after = after.isolated();
  report.components_after = after.count();
  report.homophily_after = edge_homophily(result.graph, training_labels);
  return result;
}

Mode resolve_mode(const Mode& mode, const CsrGraph& graph,
                  std::span<const int32_t> training_labels) {
  if (mode.advised) {
    throw_input("rewire: advised is resolved from a split of a data set, not here; name a mode");
  }
  if (!mode.automatic) return mode;
  const auto largest = std::max_element(training_labels.begin(), training_labels.end());
  const int classes = largest == training_labels.end() ? 0 : *largest + 1;
  const double homophily = graph::measure_homophily(graph, training_labels, classes).adjusted_edge;
  if (std::isnan(homophily)) {
    throw_input(
        "rewire: auto needs edges between training nodes of at least two classes, and this split "
        "has none; name a mode");
  }
  if (homophily >= kHomophilous) return {.prune = Prune::kNear};
  return {.prune = Prune::kFar, .join = Join::kOpposite};
}

std::vector<int32_t> training_labels(std::span<const int32_t> labels,
                                     std::span<const NodeId> training_nodes) {
  std::vector<int32_t> result(labels.size(), -1);
  for (const NodeId i : training_nodes) {
    result[static_cast<size_t>(i)] = labels[static_cast<size_t>(i)];
  }
  return result;
}

}  // namespace dgat::rewire
