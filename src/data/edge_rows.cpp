#include "edge_rows.h"

#include <fmt/format.h>

#include <utility>

#include "dgat/core/progress.h"
#include "dgat/graph/builder.h"

namespace dgat::data {

void set_graph(Dataset& dataset, graph::NodeId nodes, const EdgeRows& rows,
               const LoadOptions& options, const std::string& source) {
  const std::span<const float> weights =
      options.unweighted ? std::span<const float>() : std::span(rows.weights);
  graph::BuildResult built =
      graph::build_graph(nodes, rows.edges, weights, {.directed = options.directed});
  if (built.weight_conflicts > 0) {
    notice(fmt::format("{}: {} rows repeat an edge with a smaller weight; the largest is kept",
                       source, built.weight_conflicts));
  }
  dataset.graph = std::move(built.graph);
  dataset.dropped_self_loops = built.self_loops;
  dataset.dropped_duplicates = built.duplicates;
}

}  // namespace dgat::data
