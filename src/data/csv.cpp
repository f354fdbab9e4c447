#include "dgat/data/csv.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/edge_list.h"
#include "dgat/data/splits.h"
#include "dgat/data/text_file.h"
#include "edge_rows.h"
#include "feature_rows.h"
#include "names.h"
#include "text_edges.h"

namespace dgat::data {
namespace {

using graph::NodeId;

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

/// Whether the first row is a header: its first word says so, or another one names the label and a
/// text stands above a number.
bool begins_with_header(const TextReader& first) {
  if (is_one_of(first.field(0), kIdWords)) return true;
  const bool names_label =
      std::any_of(first.fields().begin() + 1, first.fields().end(),
                  [](std::string_view word) { return is_one_of(word, kLabelWords); });
  if (!names_label) return false;
  const std::vector<std::string> next = first.peek();
  double value = 0;
  for (size_t c = 1; c < std::min(first.size(), next.size()); ++c) {
    if (parse_real(first.field(c), value) || !parse_real(next[c], value)) continue;
    notice(fmt::format("{}:{}: {}, {}, ... is read as a header", first.name(), first.line(),
                       shown(first.field(0)), shown(first.field(1))));
    return true;
  }
  return false;
}

/// Reads nodes.csv into everything of the data set but its graph; the table's views point into
/// the reader's text.
IdTable read_nodes(TextReader& reader, Dataset& dataset) {
  if (!reader.next()) reader.fail_file("has no rows; a node needs at least an id");
  const bool header = begins_with_header(reader);
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
    check_node_number(reader, ids.size());
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

}  // namespace

Dataset read_csv(const std::filesystem::path& path, const LoadOptions& options) {
  const std::optional<CsvFiles> files = find_csv_files(path);
  if (!files) {
    throw_input("{}: not a CSV data set; a folder with nodes.csv and edges.csv was expected",
                path.string());
  }
  if (files->edges.empty()) {
    throw_input(
        "{}: there is no edges file beside it; for a graph without edges write an empty one",
        files->nodes.string());
  }
  if (files->nodes.empty()) return read_edge_list(files->edges, options);
  Dataset dataset;
  dataset.name = files->name;
  TextReader node_reader(files->nodes);
  const IdTable table = read_nodes(node_reader, dataset);
  TextReader edge_reader(files->edges);
  const EdgeRows rows = read_edge_rows(edge_reader, &table, options, [&](std::string_view id) {
    const auto place = table.find(id);
    if (place == table.end()) {
      edge_reader.fail("node id {} is not in {}; add it there or drop the edge", shown(id),
                       files->nodes.filename().string());
    }
    return place->second;
  });
  set_graph(dataset, static_cast<NodeId>(dataset.labels.size()), rows, options,
            files->edges.string());
  if (!files->splits.empty()) dataset.splits = read_split_csv(files->splits, dataset);
  return dataset;
}

}  // namespace dgat::data
