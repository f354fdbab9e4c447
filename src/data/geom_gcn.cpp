#include "dgat/data/geom_gcn.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "dgat/core/interrupt.h"
#include "dgat/data/limits.h"
#include "dgat/data/text_file.h"
#include "dgat/graph/builder.h"
#include "feature_rows.h"
#include "geom_gcn_files.h"
#include "output_folder.h"

namespace dgat::data {
namespace fs = std::filesystem;

namespace {

using graph::NodeId;

/// The lines of the node file before anything is known about their features.
struct NodeLines {
  std::vector<NodeId> ids;
  std::vector<int32_t> labels;
  std::vector<std::string_view> features;
  std::vector<int64_t> lines;
};

/// body(entry) for every entry of "a,b,c"; nothing for an empty text.
template <class Body>
void for_each_entry(std::string_view list, Body&& body) {
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    body(list.substr(0, comma));
    if (comma + 1 == list.size()) body(std::string_view());  // a trailing comma: an empty entry
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

size_t entry_count(std::string_view list) {
  return list.empty() ? 0 : static_cast<size_t>(std::count(list.begin(), list.end(), ',')) + 1;
}

/// The F of "feature(feature_amount:F)", or -1 when the header has none.
int64_t feature_amount(std::string_view header) {
  constexpr std::string_view kKey = "feature_amount:";
  const size_t at = header.find(kKey);
  if (at == std::string_view::npos) return -1;
  const std::string_view rest = header.substr(at + kKey.size());
  int64_t amount = 0;
  return parse_integer(rest.substr(0, rest.find_first_not_of("0123456789")), amount) ? amount : 0;
}

[[noreturn]] void fail_at(const TextReader& reader, int64_t line, const std::string& text) {
  throw InputError(fmt::format("{}:{}: {}", reader.name(), line, text));
}

void read_header(TextReader& reader, std::string_view begins_with, const char* expected) {
  if (!reader.next()) reader.fail_file("is empty; a header line '{}' was expected", expected);
  int64_t number = 0;
  if (parse_integer(reader.field(0), number)) {
    reader.fail("the header line is missing: '{}' was expected, got {}", expected,
                shown(reader.field(0)));
  }
  if (!reader.field(0).starts_with(begins_with)) {
    reader.fail("a header line '{}' was expected, got {}", expected, shown(reader.field(0)));
  }
}

NodeLines read_node_lines(TextReader& reader) {
  NodeLines nodes;
  while (reader.next()) {
    if ((nodes.ids.size() & 0xFFFF) == 0) throw_if_interrupted("geom-gcn");
    if (reader.size() != 3) {
      reader.fail("id, features and label separated by tabs were expected, got {} fields",
                  reader.size());
    }
    const int64_t id = reader.integer(reader.field(0), "node id");
    const int64_t label = reader.integer(reader.field(2), "label");
    if (id < 0 || id >= std::numeric_limits<NodeId>::max()) {
      reader.fail("node id {} is outside [0, 2147483647)", id);
    }
    if (label < -1 || label >= kMaxClasses) {
      reader.fail("label {} is outside [-1, {}); -1 means unlabelled", label, kMaxClasses);
    }
    nodes.ids.push_back(static_cast<NodeId>(id));
    nodes.labels.push_back(static_cast<int32_t>(label));
    nodes.features.push_back(reader.field(1));
    nodes.lines.push_back(reader.line());
  }
  return nodes;
}

/// Line of every node: ids must be 0 .. N-1, each once.
std::vector<int32_t> rows_by_id(const TextReader& reader, const NodeLines& nodes) {
  std::vector<int32_t> row_of(nodes.ids.size(), -1);
  for (size_t row = 0; row < nodes.ids.size(); ++row) {
    const auto id = static_cast<size_t>(nodes.ids[row]);
    if (id >= nodes.ids.size()) {
      fail_at(
          reader, nodes.lines[row],
          fmt::format("node id {} is outside [0, {}): the file has {} nodes, and ids start at 0",
                      id, nodes.ids.size(), nodes.ids.size()));
    }
    if (row_of[id] >= 0) {
      fail_at(reader, nodes.lines[row],
              fmt::format("node id {} was already given in line {}", id,
                          nodes.lines[static_cast<size_t>(row_of[id])]));
    }
    row_of[id] = static_cast<int32_t>(row);
  }
  return row_of;
}

/// Rules 2-4 of the header comment; throws on rule 4.
bool lists_indices(const TextReader& reader, const NodeLines& nodes) {
  if (nodes.features.empty()) return false;
  const size_t first = entry_count(nodes.features[0]);
  const auto odd = std::find_if(nodes.features.begin(), nodes.features.end(),
                                [&](std::string_view list) { return entry_count(list) != first; });
  if (odd == nodes.features.end()) return false;
  bool whole = true, above_one = false, zeros_repeat = false;
  for (const std::string_view list : nodes.features) {
    int zeros = 0;
    for_each_entry(list, [&](std::string_view entry) {
      int64_t value = 0;
      whole = whole && parse_integer(entry, value) && value >= 0;
      above_one = above_one || value > 1;
      if (value == 0) ++zeros;
    });
    zeros_repeat = zeros_repeat || zeros > 1;
  }
  if (whole && above_one && !zeros_repeat) return true;
  fail_at(reader, nodes.lines[static_cast<size_t>(odd - nodes.features.begin())],
          fmt::format("{} features, but the first line has {}; every line must have as many",
                      entry_count(*odd), first));
}

Features read_indices(const TextReader& reader, const NodeLines& nodes, int64_t amount,
                      const std::vector<int32_t>& order) {
  FeatureRows rows;
  int64_t cols = std::max<int64_t>(amount, 0);
  std::vector<int32_t> ones;
  for (size_t row = 0; row < nodes.features.size(); ++row) {
    ones.clear();
    for_each_entry(nodes.features[row], [&](std::string_view entry) {
      int64_t index = 0;
      if (!parse_integer(entry, index) || index < 0 ||
          index >= std::numeric_limits<int32_t>::max()) {
        fail_at(reader, nodes.lines[row],
                fmt::format("feature index must be a whole number from 0, got {}", shown(entry)));
      }
      ones.push_back(static_cast<int32_t>(index));
      cols = std::max(cols, index + 1);
    });
    std::sort(ones.begin(), ones.end());
    ones.erase(std::unique(ones.begin(), ones.end()), ones.end());
    for (const int32_t column : ones) rows.add(column, 1.0F);
    rows.end_row();
  }
  return std::move(rows).build(cols, order);
}

Features read_values(const TextReader& reader, const NodeLines& nodes,
                     const std::vector<int32_t>& order) {
  FeatureRows rows;
  for (size_t row = 0; row < nodes.features.size(); ++row) {
    int32_t column = 0;
    for_each_entry(nodes.features[row], [&](std::string_view entry) {
      double value = 0;
      if (!parse_real(entry, value)) {
        fail_at(reader, nodes.lines[row],
                fmt::format("feature {} must be a number, got {}", column, shown(entry)));
      }
      const auto narrow = static_cast<float>(value);
      if (!std::isfinite(narrow)) {
        fail_at(reader, nodes.lines[row],
                fmt::format("feature {} must be a finite number, got {}", column, shown(entry)));
      }
      rows.add(column++, narrow);
    });
    rows.end_row();
  }
  const size_t cols = nodes.features.empty() ? 0 : entry_count(nodes.features[0]);
  return std::move(rows).build(static_cast<int64_t>(cols), order);
}

void read_nodes(const fs::path& path, Dataset& dataset) {
  TextReader reader(path, {.separator = '\t', .quotes = false});
  read_header(reader, "node", "node_id<tab>feature<tab>label");
  const int64_t amount = reader.size() > 1 ? feature_amount(reader.field(1)) : -1;
  const NodeLines nodes = read_node_lines(reader);
  const std::vector<int32_t> order = rows_by_id(reader, nodes);
  const bool indices = amount >= 0 || lists_indices(reader, nodes);
  dataset.features =
      indices ? read_indices(reader, nodes, amount, order) : read_values(reader, nodes, order);
  for (const int32_t row : order) dataset.labels.push_back(nodes.labels[static_cast<size_t>(row)]);
  for (const int32_t label : dataset.labels) {
    dataset.classes = std::max(dataset.classes, label + 1);
  }
}

graph::BuildResult read_edges(const fs::path& path, NodeId nodes,
                              const graph::BuildOptions& options) {
  TextReader reader(path, {.separator = ' ', .quotes = false});
  read_header(reader, "node", "node_id<tab>node_id");
  std::vector<graph::Edge> edges;
  while (reader.next()) {
    if ((edges.size() & 0xFFFFF) == 0) throw_if_interrupted("geom-gcn");
    if (reader.size() != 2) reader.fail("two node ids were expected, got {} fields", reader.size());
    NodeId ends[2];
    for (size_t i = 0; i < 2; ++i) {
      const int64_t id = reader.integer(reader.field(i), "node id");
      if (id < 0 || id >= nodes) {
        reader.fail("node id {} is outside [0, {}); {} lists {} nodes", id, nodes, kNodeFile,
                    nodes);
      }
      ends[i] = static_cast<NodeId>(id);
    }
    edges.push_back({ends[0], ends[1]});
  }
  return graph::build_graph(nodes, edges, options);
}

}  // namespace

bool is_geom_gcn_folder(const fs::path& folder) {
  std::error_code ignored;
  return fs::exists(folder / kNodeFile, ignored) || fs::exists(folder / kEdgeFile, ignored);
}

Dataset read_geom_gcn(const fs::path& folder, const LoadOptions& options) {
  for (const char* file : {kNodeFile, kEdgeFile}) {
    std::error_code ignored;
    if (!fs::exists(folder / file, ignored)) {
      throw_input("{}: {} is missing; a geom-gcn folder holds {} and {}", folder.string(), file,
                  kEdgeFile, kNodeFile);
    }
  }
  Dataset dataset;
  dataset.name = folder_name(folder);
  read_nodes(folder / kNodeFile, dataset);
  graph::BuildResult built =
      read_edges(folder / kEdgeFile, static_cast<NodeId>(dataset.labels.size()),
                 {.directed = options.directed});
  dataset.graph = std::move(built.graph);
  dataset.dropped_self_loops = built.self_loops;
  dataset.dropped_duplicates = built.duplicates;
  dataset.splits = read_geom_gcn_splits(folder, dataset);
  return dataset;
}

}  // namespace dgat::data
