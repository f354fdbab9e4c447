#include "dgat/partition/metis.h"

#include <metis.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"

namespace dgat::partition {
namespace {

std::vector<int32_t> assign(const graph::CsrGraph& graph, int64_t count) {
  std::vector<int32_t> cell_of(static_cast<size_t>(graph.nodes()), 0);
  if (count == 1) return cell_of;
  if (graph.arcs() == 0) {
    for (size_t i = 0; i < cell_of.size(); ++i) {
      cell_of[i] = static_cast<int32_t>(static_cast<int64_t>(i) * count / graph.nodes());
    }
    return cell_of;
  }
  static_assert(sizeof(idx_t) == sizeof(int32_t), "METIS of Debian counts in 32 bits");
  if (graph.arcs() > INT32_MAX) {
    throw_input("cells: METIS cuts graphs of at most {} edges, got {}", INT32_MAX / 2,
                graph.edges());
  }
  idx_t nodes = graph.nodes(), constraints = 1, parts = static_cast<idx_t>(count), cut = 0;
  std::vector<idx_t> offsets(graph.offsets().begin(), graph.offsets().end());
  std::vector<idx_t> targets(graph.targets().begin(), graph.targets().end());
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  static std::mutex one_at_a_time;  // its random numbers are those of the C library
  const std::lock_guard lock(one_at_a_time);
  const int status =
      METIS_PartGraphKway(&nodes, &constraints, offsets.data(), targets.data(), nullptr, nullptr,
                          nullptr, &parts, nullptr, nullptr, options, &cut, cell_of.data());
  if (status == METIS_ERROR_MEMORY) {
    throw_compute("cells: METIS ran out of memory on {} nodes and {} arcs", graph.nodes(),
                  graph.arcs());
  }
  if (status != METIS_OK) throw_compute("cells: METIS failed with code {}", status);
  return cell_of;
}

}  // namespace

graph::Cells metis_cells(const graph::CsrGraph& graph, int64_t count) {
  if (count < 1 || count > graph.nodes()) {
    throw_input("cells: must lie in [1, {}], the number of nodes, got {}", graph.nodes(), count);
  }
  return graph::cells_of(assign(graph::symmetrised(graph), count), count);
}

}  // namespace dgat::partition
