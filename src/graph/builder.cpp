#include "dgat/graph/builder.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::graph {
namespace {

constexpr int64_t kEdgeGrain = 1 << 16;
constexpr int64_t kRowGrain = 1 << 12;

/// Throws for the first row of the list with an id outside [0, nodes).
void check_ids(NodeId nodes, std::span<const Edge> edges) {
  const auto count = static_cast<int64_t>(edges.size());
  const auto outside = [nodes](NodeId id) { return id < 0 || id >= nodes; };
  parallel_for(count, kEdgeGrain, [&](int64_t first, int64_t last) {
    for (int64_t e = first; e < last; ++e) {
      const Edge edge = edges[static_cast<size_t>(e)];
      if (outside(edge.from) || outside(edge.to)) {
        throw_input("edge {}: node id {} is outside [0, {})", e,
                    outside(edge.from) ? edge.from : edge.to, nodes);
      }
    }
  });
}

void check_weights(std::span<const float> weights) {
  for (size_t e = 0; e < weights.size(); ++e) {
    if (!(weights[e] > 0) || !std::isfinite(weights[e])) {
      throw_input("edge {}: weight {} is not a positive number", e, weights[e]);
    }
  }
}

/// Weights of the arcs of `graph`: the largest of all rows of the list that name an edge.
std::vector<float> arc_weights(const CsrGraph& graph, std::span<const Edge> edges,
                               std::span<const float> weights, bool directed, int64_t& conflicts) {
  std::vector<float> result(static_cast<size_t>(graph.arcs()), 0.0F);
  const auto place = [&](NodeId row, NodeId sender) {
    const auto senders = graph.neighbors(row);
    const auto at = std::lower_bound(senders.begin(), senders.end(), sender) - senders.begin();
    return static_cast<size_t>(graph.begin(row) + at);
  };
  const auto raise = [&](NodeId row, NodeId sender, float weight) {
    const std::atomic_ref slot(result[place(row, sender)]);
    float seen = slot.load(std::memory_order_relaxed);
    while (seen < weight && !slot.compare_exchange_weak(seen, weight, std::memory_order_relaxed)) {
    }
  };
  const auto each = [&](auto&& body) {
    parallel_for(static_cast<int64_t>(edges.size()), kEdgeGrain, [&](int64_t first, int64_t last) {
      for (auto e = static_cast<size_t>(first); e < static_cast<size_t>(last); ++e) {
        if (edges[e].from != edges[e].to) body(edges[e], weights[e]);
      }
    });
  };
  each([&](const Edge& edge, float weight) {
    raise(edge.to, edge.from, weight);
    if (!directed) raise(edge.from, edge.to, weight);
  });
  std::atomic<int64_t> smaller{0};
  each([&](const Edge& edge, float weight) {
    if (weight < result[place(edge.to, edge.from)]) ++smaller;
  });
  conflicts = smaller;
  return result;
}

}  // namespace

void check_arc_count(NodeId nodes, int64_t arcs) {
  if (arcs <= kMaxArcs - nodes) return;
  throw_input("graph: has {} arcs and {} nodes; arcs and nodes together must be at most {}", arcs,
              nodes, kMaxArcs);
}

BuildResult build_graph(NodeId nodes, std::span<const Edge> edges, std::span<const float> weights,
                        const BuildOptions& options) {
  expects(weights.empty() || weights.size() == edges.size(), "one weight per edge of the list");
  check_weights(weights);
  BuildResult result = build_graph(nodes, edges, options);
  if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 1.0F; })) return result;
  const CsrGraph& plain = result.graph;
  std::vector<float> values =
      arc_weights(plain, edges, weights, options.directed, result.weight_conflicts);
  result.graph = CsrGraph({plain.offsets().begin(), plain.offsets().end()},
                          {plain.targets().begin(), plain.targets().end()}, options.directed,
                          std::move(values));
  return result;
}

BuildResult build_graph(NodeId nodes, std::span<const Edge> edges, const BuildOptions& options) {
  if (nodes < 0) throw_input("graph: the number of nodes must not be negative, got {}", nodes);
  check_ids(nodes, edges);
  const auto n = static_cast<size_t>(nodes);
  const auto count = static_cast<int64_t>(edges.size());

  // Counting sort by receiver. Rows are filled in any order and sorted afterwards, so neither the
  // thread count nor the order of the input shows in the result.
  std::vector<ArcIndex> offsets(n + 1, 0);
  const auto slot = [&](NodeId row) { return std::atomic_ref(offsets[static_cast<size_t>(row)]); };
  std::atomic<int64_t> self_loops{0};
  parallel_for(count, kEdgeGrain, [&](int64_t first, int64_t last) {
    int64_t loops = 0;
    for (int64_t e = first; e < last; ++e) {
      const Edge edge = edges[static_cast<size_t>(e)];
      if (edge.from == edge.to) {
        ++loops;
        continue;
      }
      slot(edge.to).fetch_add(1, std::memory_order_relaxed);
      if (!options.directed) slot(edge.from).fetch_add(1, std::memory_order_relaxed);
    }
    self_loops += loops;
  });
  ArcIndex total = 0;  // offsets[i] becomes the end of row i, and its start once the row is filled
  for (ArcIndex& offset : offsets) offset = total += offset;
  std::vector<NodeId> targets(static_cast<size_t>(total));
  parallel_for(count, kEdgeGrain, [&](int64_t first, int64_t last) {
    for (int64_t e = first; e < last; ++e) {
      const Edge edge = edges[static_cast<size_t>(e)];
      if (edge.from == edge.to) continue;
      const auto put = [&](NodeId row, NodeId sender) {
        const ArcIndex at = slot(row).fetch_sub(1, std::memory_order_relaxed) - 1;
        targets[static_cast<size_t>(at)] = sender;
      };
      put(edge.to, edge.from);
      if (!options.directed) put(edge.from, edge.to);
    }
  });

  std::vector<NodeId> kept(n);
  parallel_for(nodes, kRowGrain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      NodeId* row = targets.data() + offsets[static_cast<size_t>(i)];
      NodeId* end = targets.data() + offsets[static_cast<size_t>(i) + 1];
      std::sort(row, end);
      kept[static_cast<size_t>(i)] = static_cast<NodeId>(std::unique(row, end) - row);
    }
  });

  ArcIndex out = 0;  // squeeze the duplicates out, row by row, in place
  for (size_t i = 0; i < n; ++i) {
    const ArcIndex row = offsets[i];
    offsets[i] = out;
    if (row != out) std::copy_n(targets.begin() + row, kept[i], targets.begin() + out);
    out += kept[i];
  }
  if (n > 0) offsets[n] = out;
  const int64_t dropped_arcs = total - out;
  check_arc_count(nodes, out);
  targets.resize(static_cast<size_t>(out));
  if (dropped_arcs > out / 8) targets.shrink_to_fit();

  BuildResult result;
  result.graph = CsrGraph(std::move(offsets), std::move(targets), options.directed);
  result.self_loops = self_loops;
  result.duplicates = options.directed ? dropped_arcs : dropped_arcs / 2;
  return result;
}

Subgraph induced_subgraph(const CsrGraph& graph, const std::vector<bool>& keep) {
  expects(keep.size() == static_cast<size_t>(graph.nodes()), "one flag per node");
  Subgraph result;
  std::vector<NodeId> renamed(keep.size(), -1);
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    if (!keep[static_cast<size_t>(i)]) continue;
    renamed[static_cast<size_t>(i)] = static_cast<NodeId>(result.original.size());
    result.original.push_back(i);
  }
  std::vector<ArcIndex> offsets{0};
  std::vector<NodeId> targets;
  std::vector<float> weights;
  offsets.reserve(result.original.size() + 1);
  for (const NodeId i : result.original) {
    for (ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
      const NodeId k = renamed[static_cast<size_t>(graph.targets()[static_cast<size_t>(e)])];
      if (k < 0) continue;
      targets.push_back(k);
      if (graph.weighted()) weights.push_back(graph.weights()[static_cast<size_t>(e)]);
    }
    offsets.push_back(static_cast<ArcIndex>(targets.size()));
  }
  result.graph =
      CsrGraph(std::move(offsets), std::move(targets), graph.directed(), std::move(weights));
  return result;
}

CsrGraph symmetrised(const CsrGraph& graph) {
  if (!graph.directed()) return graph;
  return build_graph(graph.nodes(), graph.edge_list(), graph.edge_weights()).graph;
}

}  // namespace dgat::graph
