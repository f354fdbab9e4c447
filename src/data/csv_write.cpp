#include "dgat/data/csv.h"
#include "dgat/data/splits.h"
#include "dgat/data/text_file.h"
#include "output_folder.h"

namespace dgat::data {
namespace {

class Ids {
 public:
  explicit Ids(const Dataset& dataset) : ids_(dataset.node_ids) {}
  void print(TextWriter& out, graph::NodeId node) const {
    if (ids_.empty()) {
      out.print("{}", node);
    } else {
      out.print_field(ids_[static_cast<size_t>(node)]);
    }
  }

 private:
  const std::vector<std::string>& ids_;
};

void write_nodes(const Dataset& dataset, const std::filesystem::path& path) {
  TextWriter out(path);
  const Ids ids(dataset);
  out.print("id,label");
  for (int64_t f = 0; f < dataset.features.cols(); ++f) {
    out.print(",");
    if (dataset.feature_names.empty()) {
      out.print("f{}", f);
    } else {
      out.print_field(dataset.feature_names[static_cast<size_t>(f)]);
    }
  }
  out.print("\n");
  std::vector<float> row(static_cast<size_t>(dataset.features.cols()));
  for (graph::NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    ids.print(out, i);
    out.print(",");
    const int32_t label = dataset.labels[static_cast<size_t>(i)];
    if (label >= 0 && dataset.class_names.empty()) out.print("{}", label);
    if (label >= 0 && !dataset.class_names.empty()) {
      out.print_field(dataset.class_names[static_cast<size_t>(label)]);
    }
    if (!row.empty()) dataset.features.copy_row(i, row);
    for (const float value : row) {
      if (value == 0.0F) {
        out.print(",0");
      } else {
        out.print(",{}", value);  // the shortest text that reads back as the same float
      }
    }
    out.print("\n");
  }
  out.commit();
}

void write_edges(const Dataset& dataset, const std::filesystem::path& path) {
  TextWriter out(path);
  const Ids ids(dataset);
  const std::vector<graph::Edge> edges = dataset.graph.edge_list();
  const std::vector<float> weights = dataset.graph.edge_weights();
  out.print("source,target{}\n", weights.empty() ? "" : ",weight");
  for (size_t e = 0; e < edges.size(); ++e) {
    ids.print(out, edges[e].from);
    out.print(",");
    ids.print(out, edges[e].to);
    if (!weights.empty()) out.print(",{}", weights[e]);
    out.print("\n");
  }
  out.commit();
}

}  // namespace

void write_csv(const Dataset& dataset, const std::filesystem::path& folder) {
  OutputFolder out(folder);
  write_nodes(dataset, out / "nodes.csv");
  write_edges(dataset, out / "edges.csv");
  if (dataset.splits.empty()) {  // an older file of another data set would be read back
    std::error_code ignored;
    std::filesystem::remove(out / "splits.csv", ignored);
  } else {
    write_split_csv(dataset, out / "splits.csv");
  }
  out.commit();
}

}  // namespace dgat::data
