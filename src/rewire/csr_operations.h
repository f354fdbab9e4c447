#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/graph/csr_graph.h"

/// Row-wise construction of undirected graphs: private to the module.
namespace dgat::rewire::detail {

/// The graph whose row i is what visit_row(i, emit) emits, in increasing order. Rows are visited
/// twice: once to count, once to fill.
template <class VisitRow>
graph::CsrGraph graph_from_rows(graph::NodeId nodes, VisitRow&& visit_row) {
  constexpr int64_t kRowGrain = 1 << 12;
  const auto each_row = [&](auto&& body) {
    parallel_for(nodes, kRowGrain, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) body(static_cast<graph::NodeId>(row));
    });
  };
  std::vector<graph::ArcIndex> offsets(static_cast<size_t>(nodes) + 1, 0);
  each_row([&](graph::NodeId i) {
    graph::ArcIndex count = 0;
    visit_row(i, [&](graph::NodeId) { ++count; });
    offsets[static_cast<size_t>(i) + 1] = count;
  });
  for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
  std::vector<graph::NodeId> targets(static_cast<size_t>(offsets.back()));
  each_row([&](graph::NodeId i) {
    graph::NodeId* out = targets.data() + offsets[static_cast<size_t>(i)];
    visit_row(i, [&](graph::NodeId j) { *out++ = j; });
  });
  return {std::move(offsets), std::move(targets), /*directed=*/false};
}

/// The edges for which keep(i, j) holds; keep must be symmetric.
template <class Keep>
graph::CsrGraph filter_edges(const graph::CsrGraph& graph, Keep&& keep) {
  return graph_from_rows(graph.nodes(), [&](graph::NodeId i, auto&& emit) {
    for (const graph::NodeId j : graph.neighbors(i)) {
      if (keep(i, j)) emit(j);
    }
  });
}

/// The edges of either graph.
inline graph::CsrGraph merge_graphs(const graph::CsrGraph& a, const graph::CsrGraph& b) {
  return graph_from_rows(a.nodes(), [&](graph::NodeId i, auto&& emit) {
    const auto left = a.neighbors(i), right = b.neighbors(i);
    auto l = left.begin(), r = right.begin();
    while (l != left.end() && r != right.end()) {
      const graph::NodeId smaller = std::min(*l, *r);
      if (*l == smaller) ++l;
      if (*r == smaller) ++r;
      emit(smaller);
    }
    for (; l != left.end(); ++l) emit(*l);
    for (; r != right.end(); ++r) emit(*r);
  });
}

}  // namespace dgat::rewire::detail
