#pragma once

#include <span>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"
#include "dgat/graph/csr_graph.h"

namespace dgat::data {

/// Edges as a reader meets them. Weights are empty or as many as the edges.
struct EdgeRows {
  std::vector<graph::Edge> edges;
  std::vector<float> weights;
  bool matrix = false;  ///< entries of a matrix: (j, i) does not repeat (i, j)

  void add(graph::Edge edge) { edges.push_back(edge); }
  void add(graph::Edge edge, float weight) {
    edges.push_back(edge);
    weights.push_back(weight);
  }
};

/// Puts the graph of these edges into a data set, with the counts of what was dropped. Says in a
/// notice where rows disagreed about a weight.
void set_graph(Dataset& dataset, graph::NodeId nodes, const EdgeRows& rows,
               const LoadOptions& options, const std::string& source);

}  // namespace dgat::data
