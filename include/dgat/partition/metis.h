#pragma once

#include <cstdint>

#include "dgat/graph/cells.h"

namespace dgat::partition {

/// Cuts a graph into cells of about equal size with few edges between them (METIS, k-way). Arcs of
/// a directed graph count as edges; weights do not count. A function of the graph and the number:
/// the same cells at every thread count and in every run.
///
/// Cost: O(arcs) time and about 40 bytes an arc while it runs, on one thread.
/// Throws: InputError unless 1 <= count <= nodes; ComputeError when METIS fails.
graph::Cells metis_cells(const graph::CsrGraph& graph, int64_t count);

}  // namespace dgat::partition
