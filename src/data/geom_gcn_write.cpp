#include <algorithm>

#include "dgat/core/progress.h"
#include "dgat/data/geom_gcn.h"
#include "dgat/data/text_file.h"
#include "geom_gcn_files.h"
#include "output_folder.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

using graph::NodeId;

void write_nodes(const Dataset& dataset, const fs::path& path) {
  const Features& features = dataset.features;
  const auto values = features.values();
  const bool indices = features.empty() ||
                       (features.is_sparse() &&
                        std::all_of(values.begin(), values.end(), [](float v) { return v == 1; }));
  TextWriter out(path);
  if (indices) {
    out.print("node_id\tfeature(feature_amount:{})\tlabel\n", features.cols());
  } else {
    out.print("node_id\tfeature\tlabel\n");
  }
  std::vector<float> row(static_cast<size_t>(features.cols()));
  for (NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    out.print("{}\t", i);
    if (!features.empty()) features.copy_row(i, row);
    bool first = true;
    for (size_t c = 0; c < row.size(); ++c) {
      if (indices && row[c] == 0.0F) continue;
      if (!first) out.print(",");
      first = false;
      if (indices) {
        out.print("{}", c);
      } else if (row[c] == 0.0F) {
        out.print("0");
      } else {
        out.print("{}", row[c]);  // the shortest text that reads back as the same float
      }
    }
    out.print("\t{}\n", dataset.labels[static_cast<size_t>(i)]);
  }
  out.commit();
}

void write_edges(const Dataset& dataset, const fs::path& path) {
  TextWriter out(path);
  out.print("node_id\tnode_id\n");
  for (const graph::Edge edge : dataset.graph.edge_list()) {
    out.print("{}\t{}\n", edge.from, edge.to);
  }
  out.commit();
}

}  // namespace

void write_geom_gcn(const Dataset& dataset, const fs::path& folder) {
  if (!dataset.node_ids.empty() || !dataset.class_names.empty() || !dataset.feature_names.empty()) {
    notice(folder.string() + ": names of nodes, classes and features are not kept by this format");
  }
  OutputFolder out(folder);
  write_nodes(dataset, out / kNodeFile);
  write_edges(dataset, out / kEdgeFile);
  write_geom_gcn_splits(dataset, out / "", folder_name(folder));
  out.commit();
}

}  // namespace dgat::data
