#include "dgat/graph/builder.h"

#include <algorithm>
#include <atomic>

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

}  // namespace

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
  offsets.reserve(result.original.size() + 1);
  for (const NodeId i : result.original) {
    for (const NodeId j : graph.neighbors(i)) {
      if (const NodeId k = renamed[static_cast<size_t>(j)]; k >= 0) targets.push_back(k);
    }
    offsets.push_back(static_cast<ArcIndex>(targets.size()));
  }
  result.graph = CsrGraph(std::move(offsets), std::move(targets), graph.directed());
  return result;
}

CsrGraph symmetrised(const CsrGraph& graph) {
  if (!graph.directed()) return graph;
  return build_graph(graph.nodes(), graph.edge_list()).graph;
}

}  // namespace dgat::graph
