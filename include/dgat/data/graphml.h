#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// GraphML (.graphml, .graphml.gz), as NetworkX, igraph, Gephi and Cytoscape write it.
///
/// Node attributes become a label, features and splits by the rules of attribute_graph.h: the label
/// is the attribute class, y, target, category or label. The edge attribute weight holds edge
/// weights. Nested graphs, hyperedges and documents that declare entities are refused.
namespace dgat::data {

/// Throws: InputError naming file and line.
Dataset read_graphml(const std::filesystem::path& path, const LoadOptions& options = {});

/// A further attribute: one number or text per node or edge of edge_list().
struct GraphmlColumn {
  std::string name;
  std::vector<double> numbers;  ///< empty: texts
  std::vector<std::string> texts;
};
struct GraphmlExtras {
  std::vector<GraphmlColumn> nodes, edges;
};

/// Attributes: class, features, split0 ..., those of `extras`; weight on edges. Opens in Gephi and
/// Cytoscape.
void write_graphml(const Dataset& dataset, const std::filesystem::path& path,
                   const GraphmlExtras& extras);
void write_graphml(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace dgat::data
