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
};

/// Builds a simple graph from an unsorted edge list. An arc `from -> to` of a directed graph is
/// stored in row `to` (the receiver), column `from`.
///
/// Cost:   O(nodes + edges) plus sorting each row; parallel; peak memory under three times the
///         result. Same result for every thread count and every order of the input.
/// Throws: InputError when an id is outside [0, nodes); it names the row of the list.
BuildResult build_graph(NodeId nodes, std::span<const Edge> edges,
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
