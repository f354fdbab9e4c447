#include "dgat/graph/csr_graph.h"

#include <algorithm>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::graph {

CsrGraph::CsrGraph(std::vector<ArcIndex> offsets, std::vector<NodeId> targets, bool directed)
    : offsets_(std::move(offsets)), targets_(std::move(targets)), directed_(directed) {
  expects(!offsets_.empty() && offsets_.front() == 0, "offsets start at 0");
  expects(offsets_.back() == static_cast<ArcIndex>(targets_.size()),
          "offsets end at the arc count");
  const NodeId n = nodes();
  parallel_for(n, 1 << 14, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const auto i = static_cast<NodeId>(row);
      expects(begin(i) <= end(i), "offsets increase");
      NodeId previous = -1;
      for (ArcIndex a = begin(i); a < end(i); ++a) {
        const NodeId j = targets_[static_cast<size_t>(a)];
        expects(j > previous && j < n && j != i, "rows are sorted, simple and in range");
        previous = j;
      }
    }
  });
}

bool CsrGraph::has_arc(NodeId receiver, NodeId sender) const {
  const auto row = neighbors(receiver);
  return std::binary_search(row.begin(), row.end(), sender);
}

std::vector<Edge> CsrGraph::edge_list() const {
  std::vector<Edge> edges;
  edges.reserve(static_cast<size_t>(this->edges()));
  for (NodeId i = 0; i < nodes(); ++i) {
    for (const NodeId j : neighbors(i)) {
      if (directed_) {
        edges.push_back({j, i});
      } else if (i < j) {
        edges.push_back({i, j});
      }
    }
  }
  return edges;
}

}  // namespace dgat::graph
