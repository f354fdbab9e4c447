#include "edge_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "dgat/core/progress.h"
#include "dgat/graph/builder.h"

namespace dgat::data {
namespace {

/// Entries of a matrix, off its diagonal, at a place that an entry had before.
int64_t repeated_places(const std::vector<graph::Edge>& entries) {
  std::vector<std::pair<graph::NodeId, graph::NodeId>> places;
  places.reserve(entries.size());
  for (const auto& [row, column] : entries) {
    if (row != column) places.emplace_back(row, column);
  }
  std::ranges::sort(places);
  return std::distance(std::unique(places.begin(), places.end()), places.end());
}

}  // namespace

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
  dataset.dropped_duplicates = rows.matrix ? repeated_places(rows.edges) : built.duplicates;
}

}  // namespace dgat::data
