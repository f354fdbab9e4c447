#pragma once

#include "dgat/graph/csr_graph.h"

namespace dgat::graph {

/// Summary of the degrees (incoming arcs for a directed graph). All zero for an empty graph.
struct DegreeSummary {
  int64_t min = 0;
  double median = 0;  ///< mean of the two middle degrees when the number of nodes is even
  double mean = 0;
  int64_t max = 0;
};

/// Cost: O(nodes).
DegreeSummary degree_summary(const CsrGraph& graph);

}  // namespace dgat::graph
