#include "dgat/graph/csr_graph.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::graph {

CsrGraph::CsrGraph(std::vector<ArcIndex> offsets, std::vector<NodeId> targets, bool directed,
                   std::vector<float> weights)
    : offsets_(std::move(offsets)),
      targets_(std::move(targets)),
      weights_(std::move(weights)),
      directed_(directed) {
  expects(!offsets_.empty() && offsets_.front() == 0, "offsets start at 0");
  expects(offsets_.back() == static_cast<ArcIndex>(targets_.size()),
          "offsets end at the arc count");
  expects(weights_.empty() || weights_.size() == targets_.size(), "one weight per arc");
  const NodeId n = nodes();
  if (!weights_.empty()) strengths_.resize(static_cast<size_t>(n));
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
      if (weights_.empty()) continue;
      double sum = 0;
      for (ArcIndex a = begin(i); a < end(i); ++a) {
        const float w = weights_[static_cast<size_t>(a)];
        expects(w > 0 && std::isfinite(w), "weights are positive and finite");
        sum += double{w};
      }
      strengths_[static_cast<size_t>(i)] = sum;
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

std::vector<float> CsrGraph::edge_weights() const {
  std::vector<float> list;
  if (!weighted()) return list;
  list.reserve(static_cast<size_t>(edges()));
  for (NodeId i = 0; i < nodes(); ++i) {
    for (ArcIndex e = begin(i); e < end(i); ++e) {
      if (directed_ || i < targets_[static_cast<size_t>(e)]) {
        list.push_back(weights_[static_cast<size_t>(e)]);
      }
    }
  }
  return list;
}

}  // namespace dgat::graph
