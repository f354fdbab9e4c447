#pragma once

#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::graph {

/// Connected components (weakly connected for a directed graph), numbered by their smallest node.
struct Components {
  std::vector<NodeId> of_node;  ///< component of every node
  std::vector<int64_t> sizes;   ///< nodes of every component
  NodeId count() const { return static_cast<NodeId>(sizes.size()); }
  NodeId largest() const;    ///< smallest number on a tie; -1 for an empty graph
  int64_t isolated() const;  ///< components of one node
};

/// Cost: O(nodes + arcs).
Components connected_components(const CsrGraph& graph);

}  // namespace dgat::graph
