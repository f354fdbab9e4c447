#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/data/graphml.h"
#include "dgat/data/text_file.h"

namespace dgat::data {
namespace {

using graph::NodeId;

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 && c != '\t' ? '?' : c;
    }
  }
  return out;
}

/// Declares attributes and numbers their keys.
class Keys {
 public:
  explicit Keys(TextWriter& out) : out_(out) {}
  int add(const char* element, const std::string& name, const char* type) {
    out_.print("  <key id=\"d{}\" for=\"{}\" attr.name=\"{}\" attr.type=\"{}\"/>\n", next_, element,
               escaped(name), type);
    return next_++;
  }

 private:
  TextWriter& out_;
  int next_ = 0;
};

std::vector<int> add_columns(Keys& keys, const char* element,
                             const std::vector<GraphmlColumn>& columns, size_t rows) {
  std::vector<int> ids;
  for (const GraphmlColumn& column : columns) {
    expects(column.numbers.size() == rows || column.texts.size() == rows,
            "a GraphML column has a value per node or edge");
    ids.push_back(keys.add(element, column.name, column.numbers.empty() ? "string" : "double"));
  }
  return ids;
}

void write_columns(TextWriter& out, const std::vector<GraphmlColumn>& columns,
                   const std::vector<int>& ids, size_t row) {
  for (size_t c = 0; c < columns.size(); ++c) {
    const std::string text = columns[c].numbers.empty()
                                 ? escaped(columns[c].texts[row])
                                 : fmt::format("{}", columns[c].numbers[row]);
    out.print("      <data key=\"d{}\">{}</data>\n", ids[c], text);
  }
}

/// Parts of every node, one text per split.
std::vector<GraphmlColumn> split_columns(const Dataset& dataset) {
  std::vector<GraphmlColumn> columns;
  for (size_t k = 0; k < dataset.splits.size(); ++k) {
    GraphmlColumn column{.name = fmt::format("split{}", k), .numbers = {}, .texts = {}};
    column.texts.resize(dataset.labels.size());
    const Split& split = dataset.splits[k];
    for (const NodeId i : split.train) column.texts[static_cast<size_t>(i)] = "train";
    for (const NodeId i : split.val) column.texts[static_cast<size_t>(i)] = "val";
    for (const NodeId i : split.test) column.texts[static_cast<size_t>(i)] = "test";
    columns.push_back(std::move(column));
  }
  return columns;
}

std::string id_of(const Dataset& dataset, NodeId i) {
  return dataset.node_ids.empty() ? fmt::format("{}", i)
                                  : escaped(dataset.node_ids[static_cast<size_t>(i)]);
}

}  // namespace

void write_graphml(const Dataset& dataset, const std::filesystem::path& path,
                   const GraphmlExtras& extras) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes());
  const std::vector<graph::Edge> edges = dataset.graph.edge_list();
  const std::vector<float> weights = dataset.graph.edge_weights();
  std::vector<GraphmlColumn> columns = split_columns(dataset);
  columns.insert(columns.end(), extras.nodes.begin(), extras.nodes.end());

  TextWriter out(path);
  out.print(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n");
  Keys keys(out);
  const int label = keys.add("node", "class", dataset.class_names.empty() ? "int" : "string");
  const int weight = weights.empty() ? -1 : keys.add("edge", "weight", "double");
  std::vector<int> features;
  for (int64_t f = 0; f < dataset.features.cols(); ++f) {
    features.push_back(keys.add("node",
                                dataset.feature_names.empty()
                                    ? fmt::format("f{}", f)
                                    : dataset.feature_names[static_cast<size_t>(f)],
                                "double"));
  }
  const std::vector<int> node_keys = add_columns(keys, "node", columns, nodes);
  const std::vector<int> edge_keys = add_columns(keys, "edge", extras.edges, edges.size());

  out.print("  <graph edgedefault=\"{}\">\n", dataset.graph.directed() ? "directed" : "undirected");
  std::vector<float> row(features.size());
  for (NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    out.print("    <node id=\"{}\">\n", id_of(dataset, i));
    const int32_t c = dataset.labels[static_cast<size_t>(i)];
    if (c >= 0) {
      out.print("      <data key=\"d{}\">{}</data>\n", label,
                dataset.class_names.empty() ? fmt::format("{}", c)
                                            : escaped(dataset.class_names[static_cast<size_t>(c)]));
    }
    if (!row.empty()) dataset.features.copy_row(i, row);
    for (size_t f = 0; f < row.size(); ++f) {
      out.print("      <data key=\"d{}\">{}</data>\n", features[f], row[f] == 0 ? 0.0F : row[f]);
    }
    write_columns(out, columns, node_keys, static_cast<size_t>(i));
    out.print("    </node>\n");
  }
  for (size_t e = 0; e < edges.size(); ++e) {
    out.print("    <edge source=\"{}\" target=\"{}\">\n", id_of(dataset, edges[e].from),
              id_of(dataset, edges[e].to));
    if (weight >= 0) out.print("      <data key=\"d{}\">{}</data>\n", weight, weights[e]);
    write_columns(out, extras.edges, edge_keys, e);
    out.print("    </edge>\n");
  }
  out.print("  </graph>\n</graphml>\n");
  out.commit();
}

void write_graphml(const Dataset& dataset, const std::filesystem::path& path) {
  write_graphml(dataset, path, {});
}

}  // namespace dgat::data
