#include "dgat/data/renumber.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "dgat/core/error.h"
#include "renumbered_row.h"

namespace dgat::data {
using graph::NodeId;

namespace {

graph::CsrGraph renumbered(const graph::CsrGraph& graph, std::span<const NodeId> order,
                           const std::vector<NodeId>& place) {
  std::vector<graph::ArcIndex> offsets{0};
  std::vector<NodeId> targets;
  std::vector<float> weights;
  targets.reserve(static_cast<size_t>(graph.arcs()));
  std::vector<std::pair<NodeId, float>> row;
  for (const NodeId i : order) {
    renumbered_row(graph, i, place, row);
    for (const auto& [target, weight] : row) {
      targets.push_back(target);
      if (graph.weighted()) weights.push_back(weight);
    }
    offsets.push_back(std::ssize(targets));
  }
  return {std::move(offsets), std::move(targets), graph.directed(), std::move(weights)};
}

}  // namespace

Dataset renumbered(const Dataset& dataset, std::span<const NodeId> order) {
  const auto n = static_cast<size_t>(dataset.graph.nodes());
  expects(order.size() == n, "renumbered: every node has a place");
  std::vector<NodeId> place(n, -1);
  for (size_t k = 0; k < n; ++k) place.at(static_cast<size_t>(order[k])) = static_cast<NodeId>(k);
  expects(std::ranges::find(place, -1) == place.end(), "renumbered: every node has one place");

  Dataset out = dataset;
  out.graph = renumbered(dataset.graph, order, place);
  if (!dataset.features.empty()) out.features = dataset.features.select_rows(order);
  out.node_ids.resize(n);
  for (size_t k = 0; k < n; ++k) {
    const auto old = static_cast<size_t>(order[k]);
    out.labels[k] = dataset.labels[old];
    out.node_ids[k] = dataset.node_ids.empty() ? std::to_string(old) : dataset.node_ids[old];
  }
  for (Split& split : out.splits) {
    for (auto* part : {&split.train, &split.val, &split.test}) {
      for (NodeId& i : *part) i = place[static_cast<size_t>(i)];
      std::ranges::sort(*part);
    }
  }
  return out;
}

}  // namespace dgat::data
