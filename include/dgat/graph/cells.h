#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::graph {

/// A division of the nodes of a graph: every node lies in one cell.
struct Cells {
  std::vector<int64_t> offsets = {0};  ///< cells + 1
  std::vector<NodeId> nodes;           ///< cell by cell, increasing within a cell

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  std::span<const NodeId> cell(int64_t c) const {
    const auto at = static_cast<size_t>(c);
    return std::span(nodes).subspan(static_cast<size_t>(offsets[at]),
                                    static_cast<size_t>(offsets[at + 1] - offsets[at]));
  }
  friend bool operator==(const Cells&, const Cells&) = default;
};

/// Cells from the cell of every node; some may be empty. Throws InternalError for a number outside
/// [0, count).
Cells cells_of(std::span<const int32_t> cell_of_node, int64_t count);

/// What a division cuts.
struct Cut {
  int64_t edges = 0;         ///< undirected edges (arcs of a directed graph) between cells
  int64_t halo = 0;          ///< nodes that cells read of others, summed over cells
  int64_t largest_cell = 0;  ///< nodes
};
Cut cut_of(const CsrGraph& graph, const Cells& cells);

}  // namespace dgat::graph
