#pragma once

#include <string>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::report {

/// How much a drawing may hold.
struct DrawingLimits {
  int64_t whole_nodes = 5000, whole_edges = 50000;    ///< a graph within these is drawn whole
  int64_t sample_nodes = 2000, sample_edges = 20000;  ///< otherwise a neighbourhood of this size
  int fan_out = 10;  ///< random neighbours followed from each node of the neighbourhood
};

/// The nodes to draw, in increasing order, and what to say about them.
struct Neighbourhood {
  std::vector<graph::NodeId> nodes;
  bool whole = true;
  graph::NodeId start = 0;
};

/// All nodes of a small graph; of a large one those found by a breadth-first walk that starts at a
/// random node with neighbours and follows at most `fan_out` random neighbours of each node. The
/// walk ends at a limit (edges of both graphs among the nodes count) and starts again elsewhere
/// when no node is left. A function of the graphs only.
///
/// Needs: two undirected graphs on the same nodes, before and after rewiring.
Neighbourhood choose_neighbourhood(const graph::CsrGraph& before, const graph::CsrGraph& after,
                                   const DrawingLimits& limits = {});

}  // namespace dgat::report
