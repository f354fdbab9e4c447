#pragma once

#include <cstdint>

#include "dgat/graph/csr_graph.h"

/// Graphs whose spectra and measures are known in closed form, and small random ones.
namespace dgat::test {

graph::CsrGraph ring(graph::NodeId n);
graph::CsrGraph path(graph::NodeId n);
graph::CsrGraph complete(graph::NodeId n);
graph::CsrGraph star(graph::NodeId leaves);                           ///< node 0 is the centre
graph::CsrGraph grid(graph::NodeId height, graph::NodeId width);      ///< 4 neighbours
graph::CsrGraph barbell(graph::NodeId clique, graph::NodeId bridge);  ///< two cliques and a path
/// Every pair joined with probability p, deterministic in the seed.
graph::CsrGraph random_graph(graph::NodeId n, double p, uint64_t seed);
/// The same, plus a random spanning tree, so that it is connected.
graph::CsrGraph random_connected_graph(graph::NodeId n, double p, uint64_t seed);
/// Disjoint union; nodes of b come after those of a.
graph::CsrGraph disjoint_union(const graph::CsrGraph& a, const graph::CsrGraph& b);

}  // namespace dgat::test
