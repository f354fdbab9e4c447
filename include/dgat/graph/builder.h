#pragma once

#include <span>

#include "dgat/graph/csr_graph.h"

namespace dgat::graph {

struct BuildOptions {
  bool directed = false;  ///< keep arcs as they are instead of adding the reverse of each
};

struct BuildResult {
  CsrGraph graph;
  int64_t self_loops = 0;  ///< input rows dropped because both ends were the same node
  /// Input rows dropped because the same edge (undirected: in either direction) came before.
  int64_t duplicates = 0;
  int64_t weight_conflicts = 0;  ///< input rows whose edge came with a larger weight elsewhere
};

/// Models number the arcs and self loops of a graph in 32 bits.
inline constexpr int64_t kMaxArcs = 2147483647;
/// Throws: InputError when `arcs` and one self loop per node do not fit.
void check_arc_count(NodeId nodes, int64_t arcs);

/// Builds a simple graph from an unsorted edge list. An arc `from -> to` of a directed graph is
/// stored in row `to` (the receiver), column `from`.
///
/// `weights` is empty or has one positive weight per row of the list. Of several rows for the same
/// edge the largest weight is kept, so that the order of the input does not matter. A graph whose
/// weights are all 1 is not weighted.
///
/// Cost:   O(nodes + edges) plus sorting each row; parallel; peak memory under three times the
///         result. Same result for every thread count and every order of the input.
/// Throws: InputError naming the row of the list when an id is outside [0, nodes) or a weight is
///         not positive and finite. InputError for more than kMaxArcs arcs and self loops.
BuildResult build_graph(NodeId nodes, std::span<const Edge> edges,
                        const BuildOptions& options = {});
BuildResult build_graph(NodeId nodes, std::span<const Edge> edges, std::span<const float> weights,
                        const BuildOptions& options = {});

/// The subgraph on the nodes with keep[i] true; `original[k]` is the old id of new node k.
struct Subgraph {
  CsrGraph graph;
  std::vector<NodeId> original;
};
Subgraph induced_subgraph(const CsrGraph& graph, const std::vector<bool>& keep);

/// The undirected version of a directed graph (an undirected one is copied).
CsrGraph symmetrised(const CsrGraph& graph);

}  // namespace dgat::graph
