#include "dgat/graph/degrees.h"

#include <algorithm>

namespace dgat::graph {

DegreeSummary degree_summary(const CsrGraph& graph) {
  const auto n = static_cast<size_t>(graph.nodes());
  if (n == 0) return {};
  std::vector<int64_t> degrees(n);
  for (NodeId i = 0; i < graph.nodes(); ++i) degrees[static_cast<size_t>(i)] = graph.degree(i);
  const auto middle = degrees.begin() + static_cast<std::ptrdiff_t>(n / 2);
  std::nth_element(degrees.begin(), middle, degrees.end());
  const int64_t upper = *middle;
  const int64_t lower = n % 2 == 1 ? upper : *std::max_element(degrees.begin(), middle);
  return {.min = *std::min_element(degrees.begin(), degrees.end()),
          .median = 0.5 * static_cast<double>(lower + upper),
          .mean = static_cast<double>(graph.arcs()) / static_cast<double>(n),
          .max = *std::max_element(degrees.begin(), degrees.end())};
}

}  // namespace dgat::graph
