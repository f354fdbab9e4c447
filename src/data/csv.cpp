#include "dgat/data/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <unordered_map>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/splits.h"
#include "dgat/data/text_file.h"
#include "dgat/graph/builder.h"
#include "feature_rows.h"

namespace dgat::data {
namespace {

using graph::NodeId;
using IdTable = std::unordered_map<std::string_view, NodeId>;

constexpr std::array<std::string_view, 6> kIdWords = {"id",     "node", "node_id",
                                                      "nodeid", "name", "key"};
constexpr std::array<std::string_view, 5> kLabelWords = {"label", "class", "y", "target",
                                                         "category"};
constexpr std::array<std::string_view, 26> kEdgeWords = {
    "source", "target", "src", "dst",  "from", "to",     "node",     "node1",      "node2",
    "node_1", "node_2", "id",  "id1",  "id2",  "id_1",   "id_2",     "node_id",    "u",
    "v",      "i",      "j",   "head", "tail", "sender", "receiver", "destination"};

template <size_t n>
bool is_one_of(std::string_view text, const std::array<std::string_view, n>& words) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(words.begin(), words.end(), lower) != words.end();
}

/// Increasing by value when all are whole numbers, else by bytes.
void sort_names(std::vector<std::string_view>& names) {
  int64_t x = 0, y = 0;
  const bool whole = std::all_of(names.begin(), names.end(),
                                 [&](std::string_view name) { return parse_integer(name, x); });
  std::sort(names.begin(), names.end(), [&](std::string_view a, std::string_view b) {
    if (!whole) return a < b;
    parse_integer(a, x);
    parse_integer(b, y);
    return x != y ? x < y : a < b;
  });
}

/// The texts are exactly "0", "1", ... in this order.
bool counts_from_zero(const std::vector<std::string_view>& names) {
  for (size_t i = 0; i < names.size(); ++i) {
    if (names[i] != fmt::format_int(i).c_str()) return false;
  }
  return true;
}

std::vector<std::string> copied(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

void check_node_count(const TextReader& reader, size_t nodes) {
  if (nodes >= static_cast<size_t>(std::numeric_limits<NodeId>::max())) {
    reader.fail("more than 2147483646 nodes");
  }
}

/// For ids that are 0 .. N-1 in some order: row of every id. Empty when they are not.
std::vector<int32_t> rows_by_number(const std::vector<std::string_view>& ids) {
  std::vector<int32_t> row_of(ids.size(), -1);
  for (size_t row = 0; row < ids.size(); ++row) {
    int64_t id = 0;
    const bool plain = parse_integer(ids[row], id) && ids[row][0] != '+' &&
                       (ids[row][0] != '0' || ids[row].size() == 1);
    if (!plain || id < 0 || id >= static_cast<int64_t>(ids.size())) return {};
    row_of[static_cast<size_t>(id)] = static_cast<int32_t>(row);
  }
  return row_of;  // ids are distinct, so every place is filled
}

void number_labels(const std::vector<std::string_view>& labels, Dataset& dataset) {
  const auto unlabelled = [](std::string_view label) { return label.empty() || label == "-1"; };
  std::unordered_map<std::string_view, int32_t> class_of;
  std::vector<std::string_view> names;
  for (const std::string_view label : labels) {
    if (!unlabelled(label) && class_of.emplace(label, 0).second) names.push_back(label);
  }
  sort_names(names);
  for (size_t c = 0; c < names.size(); ++c) class_of[names[c]] = static_cast<int32_t>(c);
  dataset.labels.reserve(labels.size());
  for (const std::string_view label : labels) {
    dataset.labels.push_back(unlabelled(label) ? -1 : class_of[label]);
  }
  dataset.classes = static_cast<int32_t>(names.size());
  if (!counts_from_zero(names)) dataset.class_names = copied(names);
}

/// Where the columns of a nodes file are.
struct NodeColumns {
  size_t count = 0;
  size_t label = 1;  ///< == count when there is none
  bool is_feature(size_t column) const { return column != 0 && column != label; }
  std::string feature_name(size_t column, const Dataset& dataset) const {
    const size_t index = column - 1 - (label < column ? 1 : 0);
    return dataset.feature_names.empty() ? fmt::format("feature {}", index)
                                         : "feature " + shown(dataset.feature_names[index]);
  }
};

NodeColumns read_node_header(const TextReader& reader, Dataset& dataset) {
  NodeColumns columns{.count = reader.size(), .label = reader.size()};
  for (size_t c = 1; c < columns.count && columns.label == columns.count; ++c) {
    if (is_one_of(reader.field(c), kLabelWords)) columns.label = c;
  }
  for (size_t c = 1; c < columns.count; ++c) {
    if (columns.is_feature(c)) dataset.feature_names.emplace_back(reader.field(c));
  }
  return columns;
}

/// Reads nodes.csv into everything of the data set but its graph; the table's views point into
/// the reader's text.
IdTable read_nodes(TextReader& reader, Dataset& dataset) {
  if (!reader.next()) reader.fail_file("has no rows; a node needs at least an id");
  const bool header = is_one_of(reader.field(0), kIdWords);
  NodeColumns columns{.count = reader.size()};
  if (header) columns = read_node_header(reader, dataset);
  if (header && columns.label == columns.count && columns.count > 1) {
    notice(
        fmt::format("{}: no column is called label (or class, y, target, category): all of them "
                    "are read as features",
                    reader.name()));
  }
  columns.label = std::min(columns.label, columns.count);

  IdTable table;
  std::vector<std::string_view> ids, labels;
  std::vector<int64_t> lines;
  FeatureRows features;
  for (bool more = header ? reader.next() : true; more; more = reader.next()) {
    if ((ids.size() & 0xFFFF) == 0) throw_if_interrupted("csv");
    if (reader.size() != columns.count) {
      reader.fail("{} fields, but the first row has {}; every row must have as many", reader.size(),
                  columns.count);
    }
    const std::string_view id = reader.field(0);
    if (id.empty()) reader.fail("the node id is empty");
    const auto [place, added] = table.emplace(id, static_cast<NodeId>(ids.size()));
    if (!added) {
      reader.fail("node id {} was already given in line {}", shown(id),
                  lines[static_cast<size_t>(place->second)]);
    }
    check_node_count(reader, ids.size());
    ids.push_back(id);
    lines.push_back(reader.line());
    labels.push_back(columns.label < columns.count ? reader.field(columns.label)
                                                   : std::string_view());
    int32_t feature = 0;
    for (size_t c = 1; c < columns.count; ++c) {
      if (!columns.is_feature(c)) continue;
      const std::string_view text = reader.field(c);
      double value = 0;
      if (!header && ids.size() == 1 && !parse_real(text, value)) {
        reader.fail(
            "{} must be a number, got {}; if this row is a header, call its first column id",
            columns.feature_name(c, dataset), shown(text));
      }
      features.add(feature++,
                   text == "0" ? 0.0F : reader.real(text, columns.feature_name(c, dataset)));
    }
    features.end_row();
  }
  const std::vector<int32_t> order = rows_by_number(ids);
  if (order.empty()) {
    dataset.node_ids = copied(ids);
  } else {
    std::vector<std::string_view> ordered(labels.size());
    for (size_t i = 0; i < order.size(); ++i) {
      ordered[i] = labels[static_cast<size_t>(order[i])];
      table[ids[static_cast<size_t>(order[i])]] = static_cast<NodeId>(i);
    }
    labels = std::move(ordered);
  }
  number_labels(labels, dataset);
  const size_t fixed = columns.label < columns.count ? 2 : 1;
  dataset.features = std::move(features).build(static_cast<int64_t>(columns.count - fixed), order);
  return table;
}

/// Two ids per row; `number(id)` turns one into a node.
template <class Number>
std::vector<graph::Edge> read_edges(TextReader& reader, const IdTable& known, Number&& number) {
  std::vector<graph::Edge> edges;
  bool first = true;
  while (reader.next()) {
    if ((edges.size() & 0xFFFFF) == 0) throw_if_interrupted("csv");
    if (reader.size() < 2) {
      reader.fail("an edge needs two node ids, got one field: {}", shown(reader.field(0)));
    }
    const bool header = first && is_one_of(reader.field(0), kEdgeWords) &&
                        is_one_of(reader.field(1), kEdgeWords) &&
                        !(known.contains(reader.field(0)) && known.contains(reader.field(1)));
    first = false;
    if (header) continue;
    const NodeId from = number(reader.field(0));
    edges.push_back({from, number(reader.field(1))});
  }
  return edges;
}

/// Edges whose nodes no file lists: nodes are the ids that occur, sorted.
std::vector<graph::Edge> read_edges_alone(TextReader& reader, Dataset& dataset) {
  IdTable table;
  std::vector<std::string_view> ids;
  std::vector<graph::Edge> edges = read_edges(reader, {}, [&](std::string_view id) {
    if (id.empty()) reader.fail("a node id is empty");
    const auto [place, added] = table.emplace(id, static_cast<NodeId>(ids.size()));
    if (added) {
      check_node_count(reader, ids.size());
      ids.push_back(id);
    }
    return place->second;
  });
  if (edges.empty()) reader.fail_file("has no edges, and there is no nodes file beside it");
  std::vector<std::string_view> sorted = ids;
  sort_names(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) table[sorted[i]] = static_cast<NodeId>(i);
  const auto renumbered = [&](NodeId id) { return table[ids[static_cast<size_t>(id)]]; };
  for (graph::Edge& edge : edges) edge = {renumbered(edge.from), renumbered(edge.to)};
  if (!counts_from_zero(sorted)) dataset.node_ids = copied(sorted);
  dataset.labels.assign(sorted.size(), -1);
  return edges;
}

}  // namespace

Dataset read_csv(const std::filesystem::path& path, const LoadOptions& options) {
  const std::optional<CsvFiles> files = find_csv_files(path);
  if (!files) {
    throw_input("{}: no CSV data set; a folder with nodes.csv and edges.csv was expected",
                path.string());
  }
  if (files->edges.empty()) {
    throw_input(
        "{}: there is no edges file beside it; for a graph without edges write an empty one",
        files->nodes.string());
  }
  Dataset dataset;
  dataset.name = files->name;
  TextReader edge_reader(files->edges);
  std::vector<graph::Edge> edges;
  if (files->nodes.empty()) {
    edges = read_edges_alone(edge_reader, dataset);
  } else {
    TextReader node_reader(files->nodes);
    const IdTable table = read_nodes(node_reader, dataset);
    edges = read_edges(edge_reader, table, [&](std::string_view id) {
      const auto place = table.find(id);
      if (place == table.end()) {
        edge_reader.fail("node id {} is not in {}; add it there or drop the edge", shown(id),
                         files->nodes.filename().string());
      }
      return place->second;
    });
  }
  graph::BuildResult built = graph::build_graph(static_cast<NodeId>(dataset.labels.size()), edges,
                                                {.directed = options.directed});
  dataset.graph = std::move(built.graph);
  dataset.dropped_self_loops = built.self_loops;
  dataset.dropped_duplicates = built.duplicates;
  if (!files->splits.empty()) dataset.splits = read_split_csv(files->splits, dataset);
  return dataset;
}

}  // namespace dgat::data
