#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::data {

/// The senders and weights of node i where node j is called place[j], sorted by the new numbers.
inline void renumbered_row(const graph::CsrGraph& graph, graph::NodeId i,
                           std::span<const graph::NodeId> place,
                           std::vector<std::pair<graph::NodeId, float>>& row) {
  row.clear();
  for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
    const auto at = static_cast<size_t>(e);
    row.emplace_back(place[static_cast<size_t>(graph.targets()[at])],
                     graph.weighted() ? graph.weights()[at] : 1.0F);
  }
  std::ranges::sort(row);
}

}  // namespace dgat::data
