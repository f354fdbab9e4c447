#include "dgat/graph/cells.h"

#include <algorithm>
#include <numeric>

#include "dgat/core/error.h"

namespace dgat::graph {

Cells cells_of(std::span<const int32_t> cell_of_node, int64_t count) {
  Cells cells;
  cells.offsets.assign(static_cast<size_t>(count) + 1, 0);
  for (const int32_t c : cell_of_node) {
    expects(c >= 0 && c < count, "cells_of: cells count from 0");
    ++cells.offsets[static_cast<size_t>(c) + 1];
  }
  std::partial_sum(cells.offsets.begin(), cells.offsets.end(), cells.offsets.begin());
  std::vector<int64_t> next(cells.offsets.begin(), cells.offsets.end() - 1);
  cells.nodes.resize(cell_of_node.size());
  for (size_t i = 0; i < cell_of_node.size(); ++i) {
    cells.nodes[static_cast<size_t>(next[static_cast<size_t>(cell_of_node[i])]++)] =
        static_cast<NodeId>(i);
  }
  return cells;
}

Cut cut_of(const CsrGraph& graph, const Cells& cells) {
  Cut cut;
  std::vector<int64_t> cell_of(static_cast<size_t>(graph.nodes()));
  for (int64_t c = 0; c < cells.count(); ++c) {
    for (const NodeId i : cells.cell(c)) cell_of[static_cast<size_t>(i)] = c;
    cut.largest_cell = std::max(cut.largest_cell, std::ssize(cells.cell(c)));
  }
  std::vector<int64_t> read_by(static_cast<size_t>(graph.nodes()), -1);  // the last cell that did
  for (int64_t c = 0; c < cells.count(); ++c) {
    for (const NodeId i : cells.cell(c)) {
      for (const NodeId j : graph.neighbors(i)) {
        const auto at = static_cast<size_t>(j);
        if (cell_of[at] == c) continue;
        ++cut.edges;
        if (read_by[at] == c) continue;
        read_by[at] = c;
        ++cut.halo;
      }
    }
  }
  if (!graph.directed()) cut.edges /= 2;
  return cut;
}

}  // namespace dgat::graph
