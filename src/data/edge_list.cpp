#include "dgat/data/edge_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>

#include "dgat/core/error.h"
#include "dgat/data/splits.h"
#include "dgat/data/text_file.h"
#include "edge_rows.h"
#include "feature_rows.h"
#include "names.h"
#include "text_edges.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

using graph::NodeId;

constexpr std::array<std::string_view, 3> kListExtensions = {".txt", ".edgelist", ".edges"};
constexpr std::array<std::string_view, 2> kTables = {".csv", ".tsv"};
constexpr std::array<std::string_view, 6> kBeside = {".csv",    ".tsv",    ".txt",
                                                     ".csv.gz", ".tsv.gz", ".txt.gz"};
constexpr TextDialect kListDialect{.comments = "#%"};

/// "a/x.txt.gz" -> "a/x"; empty when the name is not that of an edge list or table.
fs::path without_extension(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  for (const auto& extensions : {std::span<const std::string_view>(kListExtensions),
                                 std::span<const std::string_view>(kTables)}) {
    for (const std::string_view extension : extensions) {
      if (name.size() > extension.size() && name.ends_with(extension)) {
        return path.parent_path() / name.substr(0, name.size() - extension.size());
      }
    }
  }
  return {};
}

std::optional<fs::path> beside(const fs::path& base, const std::string& what) {
  for (const std::string_view extension : kBeside) {
    fs::path path = base;
    path += "." + what + std::string(extension);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
  }
  return std::nullopt;
}

/// The ids of all files, in the order in which they occur. Views point into the readers' texts.
class ListIds {
 public:
  NodeId number(const TextReader& reader, std::string_view id) {
    if (id.empty()) reader.fail("a node id is empty");
    const auto [place, added] = table_.emplace(id, static_cast<NodeId>(ids_.size()));
    if (added) {
      check_node_number(reader, ids_.size());
      ids_.push_back(id);
    }
    return place->second;
  }
  size_t size() const { return ids_.size(); }

  /// Number of every id in sorted order; the data set gets the texts where they are needed.
  std::vector<NodeId> sorted(Dataset& dataset) const {
    std::vector<std::string_view> names = ids_;
    sort_names(names);
    std::vector<NodeId> number(ids_.size());
    for (size_t i = 0; i < names.size(); ++i) {
      number[static_cast<size_t>(table_.at(names[i]))] = static_cast<NodeId>(i);
    }
    if (!counts_from_zero(names)) dataset.node_ids = copied(names);
    return number;
  }

 private:
  IdTable table_;
  std::vector<std::string_view> ids_;
};

/// Rows of a file beside the list: first field an id, each once. Skips a header.
class RowsById {
 public:
  RowsById(const fs::path& path, ListIds& ids) : reader_(path, kListDialect), ids_(ids) {}

  bool next() {
    if (!reader_.next()) return false;
    if (first_) {
      first_ = false;
      columns_ = reader_.size();
      if (is_one_of(reader_.field(0), kIdWords)) {
        header_.assign(reader_.fields().begin(), reader_.fields().end());
        return next();
      }
    }
    if (reader_.size() != columns_) {
      reader_.fail("{} fields, but the first row has {}; every row must have as many",
                   reader_.size(), columns_);
    }
    node_ = ids_.number(reader_, reader_.field(0));
    const auto [place, added] = lines_.emplace(node_, reader_.line());
    if (!added) {
      reader_.fail("node id {} was already given in line {}", shown(reader_.field(0)),
                   place->second);
    }
    return true;
  }
  const TextReader& reader() const { return reader_; }
  NodeId node() const { return node_; }
  const std::vector<std::string>& header() const { return header_; }

 private:
  TextReader reader_;
  ListIds& ids_;
  bool first_ = true;
  size_t columns_ = 0;
  NodeId node_ = 0;
  std::vector<std::string> header_;
  std::unordered_map<NodeId, int64_t> lines_;
};

struct FeatureFile {
  FeatureRows rows;
  std::vector<NodeId> node_of_row;
  int64_t cols = 0;
  std::string name;
};

FeatureFile read_features(RowsById& rows, Dataset& dataset) {
  FeatureFile file;
  file.name = rows.reader().name();
  while (rows.next()) {
    const TextReader& reader = rows.reader();
    file.cols = static_cast<int64_t>(reader.size()) - 1;
    for (size_t c = 1; c < reader.size(); ++c) {
      file.rows.add(static_cast<int32_t>(c - 1),
                    reader.real(reader.field(c), fmt::format("feature {}", c - 1)));
    }
    file.rows.end_row();
    file.node_of_row.push_back(rows.node());
  }
  if (!rows.header().empty()) {
    dataset.feature_names.assign(rows.header().begin() + 1, rows.header().end());
  }
  return file;
}

/// Features in the order of the node numbers.
Features ordered(FeatureFile&& file, const std::vector<NodeId>& number) {
  std::vector<int32_t> row_of(number.size(), -1);
  for (size_t row = 0; row < file.node_of_row.size(); ++row) {
    const auto occurrence = static_cast<size_t>(file.node_of_row[row]);
    row_of[static_cast<size_t>(number[occurrence])] = static_cast<int32_t>(row);
  }
  const auto missing = std::count(row_of.begin(), row_of.end(), -1);
  if (missing > 0) {
    throw_input("{}: has no row for {} of the {} nodes; every node needs its features", file.name,
                missing, number.size());
  }
  return std::move(file.rows).build(file.cols, row_of);
}

/// By occurrence of the ids; shorter than these where the last have no label.
std::vector<std::string_view> read_labels(RowsById& rows, const ListIds& ids) {
  std::vector<std::string_view> labels;
  while (rows.next()) {
    const TextReader& reader = rows.reader();
    if (reader.size() != 2) {
      reader.fail("a row of labels is an id and a label, got {} fields", reader.size());
    }
    labels.resize(std::max(labels.size(), ids.size()));
    labels[static_cast<size_t>(rows.node())] = reader.field(1);
  }
  return labels;
}

}  // namespace

bool is_edge_list(const fs::path& path) {
  std::string name = path.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  return std::any_of(kListExtensions.begin(), kListExtensions.end(),
                     [&](std::string_view extension) {
                       return name.size() > extension.size() && name.ends_with(extension);
                     });
}

Dataset read_edge_list(const fs::path& path, const LoadOptions& options) {
  fs::path base = without_extension(path);
  if (base.empty()) base = path;
  Dataset dataset;
  dataset.name = base.filename().string();
  ListIds ids;
  TextReader reader(path, kListDialect);
  EdgeRows rows = read_edge_rows(reader, nullptr, options,
                                 [&](std::string_view id) { return ids.number(reader, id); });
  const auto label_path = beside(base, "labels"), feature_path = beside(base, "features");
  if (rows.edges.empty() && !label_path && !feature_path) {
    reader.fail_file("has no edges, and there is no nodes file beside it");
  }
  std::optional<RowsById> label_rows, feature_rows;
  std::vector<std::string_view> labels;
  FeatureFile features;
  if (label_path) labels = read_labels(label_rows.emplace(*label_path, ids), ids);
  if (feature_path) features = read_features(feature_rows.emplace(*feature_path, ids), dataset);

  const std::vector<NodeId> number = ids.sorted(dataset);
  std::vector<std::string_view> by_number(number.size());
  for (size_t i = 0; i < labels.size(); ++i) by_number[static_cast<size_t>(number[i])] = labels[i];
  number_labels(by_number, dataset);
  if (feature_path) dataset.features = ordered(std::move(features), number);
  for (graph::Edge& edge : rows.edges) {
    edge = {number[static_cast<size_t>(edge.from)], number[static_cast<size_t>(edge.to)]};
  }
  set_graph(dataset, static_cast<NodeId>(number.size()), rows, options, path.string());
  if (const auto splits = beside(base, "splits")) {
    dataset.splits = read_split_csv(*splits, dataset);
  }
  return dataset;
}

namespace {

void print_id(TextWriter& out, const Dataset& dataset, NodeId node) {
  if (dataset.node_ids.empty()) {
    out.print("{}", node);
  } else {
    out.print_field(dataset.node_ids[static_cast<size_t>(node)]);
  }
}

void write_labels(const Dataset& dataset, const fs::path& path) {
  TextWriter out(path);
  out.print("id,label\n");
  for (NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    print_id(out, dataset, i);
    out.print(",");
    const int32_t label = dataset.labels[static_cast<size_t>(i)];
    if (label >= 0 && dataset.class_names.empty()) out.print("{}", label);
    if (label >= 0 && !dataset.class_names.empty()) {
      out.print_field(dataset.class_names[static_cast<size_t>(label)]);
    }
    out.print("\n");
  }
  out.commit();
}

void write_features(const Dataset& dataset, const fs::path& path) {
  TextWriter out(path);
  out.print("id");
  for (int64_t f = 0; f < dataset.features.cols(); ++f) {
    out.print(",");
    out.print_field(dataset.feature_names.empty() ? fmt::format("f{}", f)
                                                  : dataset.feature_names[static_cast<size_t>(f)]);
  }
  out.print("\n");
  std::vector<float> row(static_cast<size_t>(dataset.features.cols()));
  for (NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    print_id(out, dataset, i);
    dataset.features.copy_row(i, row);
    for (const float value : row) out.print(",{}", value == 0 ? 0.0F : value);
    out.print("\n");
  }
  out.commit();
}

}  // namespace

void write_edge_list(const Dataset& dataset, const fs::path& path) {
  const fs::path base = without_extension(path);
  const auto next_to = [&](const char* what) {
    fs::path file = base.empty() ? path : base;
    return file += fmt::format(".{}.csv", what);
  };
  TextWriter out(path);
  const std::vector<graph::Edge> edges = dataset.graph.edge_list();
  const std::vector<float> weights = dataset.graph.edge_weights();
  out.print("source\ttarget{}\n", weights.empty() ? "" : "\tweight");
  for (size_t e = 0; e < edges.size(); ++e) {
    print_id(out, dataset, edges[e].from);
    out.print("\t");
    print_id(out, dataset, edges[e].to);
    if (!weights.empty()) out.print("\t{}", weights[e]);
    out.print("\n");
  }
  out.commit();
  write_labels(dataset, next_to("labels"));  // lists nodes without an edge, too
  if (!dataset.features.empty()) write_features(dataset, next_to("features"));
  if (!dataset.splits.empty()) write_split_csv(dataset, next_to("splits"));
}

}  // namespace dgat::data
