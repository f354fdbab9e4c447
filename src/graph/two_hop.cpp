#include "dgat/graph/two_hop.h"

#include <algorithm>

#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"

namespace dgat::graph {
namespace {

constexpr int64_t kBlocks = 128;  // each clears a marker per node, so there are few

int64_t rows_per_block(NodeId nodes) {
  return std::max<int64_t>(64, block_count(nodes, kBlocks));
}

/// visit(i, nodes at distance two from i, in the order of discovery) for every row of a block.
template <class Visit>
void sweep(const CsrGraph& graph, int64_t begin, int64_t end, Visit visit) {
  std::vector<NodeId> seen(static_cast<size_t>(graph.nodes()), -1), found;
  for (auto i = static_cast<NodeId>(begin); i < end; ++i) {
    throw_if_interrupted("two-hop graph");
    found.clear();
    seen[static_cast<size_t>(i)] = i;
    for (const NodeId j : graph.neighbors(i)) seen[static_cast<size_t>(j)] = i;
    for (const NodeId j : graph.neighbors(i)) {
      for (const NodeId m : graph.neighbors(j)) {
        if (seen[static_cast<size_t>(m)] == i) continue;
        seen[static_cast<size_t>(m)] = i;
        found.push_back(m);
      }
    }
    visit(i, found);
  }
}

std::vector<ArcIndex> two_hop_degrees(const CsrGraph& graph) {
  std::vector<ArcIndex> degrees(static_cast<size_t>(graph.nodes()));
  parallel_for(graph.nodes(), rows_per_block(graph.nodes()), [&](int64_t begin, int64_t end) {
    sweep(graph, begin, end, [&](NodeId i, const std::vector<NodeId>& found) {
      degrees[static_cast<size_t>(i)] = static_cast<ArcIndex>(found.size());
    });
  });
  return degrees;
}

}  // namespace

int64_t count_two_paths(const CsrGraph& graph) {
  constexpr int64_t kRows = 4096;
  const auto walks = parallel_sum<int64_t>(graph.nodes(), kRows, [&](int64_t begin, int64_t end) {
    int64_t sum = 0;
    for (auto i = static_cast<NodeId>(begin); i < end; ++i) {
      for (const NodeId j : graph.neighbors(i)) sum += graph.degree(j);
    }
    return sum;
  });
  return graph.directed() ? walks : walks - graph.arcs();  // without the way back
}

int64_t count_two_hop_arcs(const CsrGraph& graph) {
  int64_t sum = 0;
  for (const ArcIndex degree : two_hop_degrees(graph)) sum += degree;
  return sum;
}

CsrGraph two_hop_graph(const CsrGraph& graph) {
  std::vector<ArcIndex> offsets = {0};
  for (const ArcIndex degree : two_hop_degrees(graph)) offsets.push_back(offsets.back() + degree);
  std::vector<NodeId> targets(static_cast<size_t>(offsets.back()));
  parallel_for(graph.nodes(), rows_per_block(graph.nodes()), [&](int64_t begin, int64_t end) {
    sweep(graph, begin, end, [&](NodeId i, std::vector<NodeId>& found) {
      std::ranges::sort(found);
      std::ranges::copy(found, targets.begin() + offsets[static_cast<size_t>(i)]);
    });
  });
  return {std::move(offsets), std::move(targets), graph.directed()};
}

}  // namespace dgat::graph
