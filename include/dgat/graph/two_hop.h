#pragma once

#include "dgat/graph/csr_graph.h"

/// Nodes at distance exactly two: joined by a path of two edges, not by one, and not the same.
namespace dgat::graph {

/// Walks i <- j <- m of two arcs with m != i (a star of n leaves has n^2). This is the work of the
/// functions below and a bound on the arcs of the two-hop graph. Cost: O(E).
int64_t count_two_paths(const CsrGraph& graph);

/// Arcs of two_hop_graph(graph), without making it.
/// Cost: O(count_two_paths) time, O(nodes) memory per thread. Throws: Interrupted on Ctrl-C.
int64_t count_two_hop_arcs(const CsrGraph& graph);

/// The graph whose row i holds the nodes at distance exactly two from i.
/// Cost: twice that of counting. Throws: Interrupted on Ctrl-C.
CsrGraph two_hop_graph(const CsrGraph& graph);

}  // namespace dgat::graph
