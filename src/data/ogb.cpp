#include "dgat/data/ogb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"
#include "dgat/data/feature_builder.h"
#include "dgat/data/limits.h"
#include "dgat/data/text_file.h"
#include "edge_rows.h"
#include "npz_parts.h"
#include "output_folder.h"
#include "printable.h"

namespace dgat::data {
namespace fs = std::filesystem;
namespace {

using graph::NodeId;

constexpr TextDialect kOgbDialect{.separator = ',', .quotes = false};
constexpr std::string_view kOgbEndings[] = {".csv.gz", ".csv"};

std::optional<fs::path> file_of(const fs::path& folder, const std::string& name) {
  for (const std::string_view ending : kOgbEndings) {
    fs::path path = folder / (name + std::string(ending));
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path;
  }
  return std::nullopt;
}

/// NAME/raw for both NAME and NAME/raw.
fs::path raw_of(const fs::path& folder) {
  std::error_code ignored;
  return fs::is_directory(folder / "raw", ignored) ? folder / "raw" : folder;
}

NodeId node_of(const TextReader& reader, std::string_view text, int64_t nodes) {
  const int64_t id = reader.integer(text, "node id");
  if (id < 0 || id >= nodes) {
    reader.fail("node id {} is outside [0, {}): the graph has {} nodes", id, nodes, nodes);
  }
  return static_cast<NodeId>(id);
}

int64_t read_count(const fs::path& path) {
  TextReader reader(path, kOgbDialect);
  if (!reader.next()) reader.fail_file("is empty; the number of nodes was expected");
  const int64_t nodes = reader.integer(reader.field(0), "number of nodes");
  if (nodes < 0) reader.fail("a graph cannot have {} nodes", nodes);
  if (reader.next()) {
    reader.fail("there are several graphs; node classification reads folders of one graph");
  }
  return nodes;
}

EdgeRows read_ogb_edges(const fs::path& path, int64_t nodes) {
  TextReader reader(path, kOgbDialect);
  EdgeRows rows;
  while (reader.next()) {
    if ((rows.edges.size() & 0xFFFFF) == 0) throw_if_interrupted("ogb");
    if (reader.size() != 2) reader.fail("two node ids were expected, got {} fields", reader.size());
    const NodeId from = node_of(reader, reader.field(0), nodes);
    rows.add({from, node_of(reader, reader.field(1), nodes)});
  }
  return rows;
}

[[noreturn]] void wrong_rows(const TextReader& reader, int64_t rows, int64_t nodes) {
  reader.fail_file("has {} rows for {} nodes", rows, nodes);
}

Features read_ogb_features(const fs::path& path, int64_t nodes) {
  TextReader reader(path, kOgbDialect);
  std::optional<FeatureBuilder> builder;
  std::vector<float> row;
  int64_t rows = 0;
  for (; reader.next(); ++rows) {
    if ((rows & 0xFFF) == 0) throw_if_interrupted("ogb");
    if (!builder) {
      row.resize(reader.size());
      builder.emplace(nodes, std::ssize(row));
    }
    if (reader.size() != row.size()) {
      reader.fail("{} numbers, but the first row has {}; every row must have as many",
                  reader.size(), row.size());
    }
    if (rows >= nodes) wrong_rows(reader, rows + 1, nodes);
    for (size_t c = 0; c < row.size(); ++c) {
      row[c] = reader.real(reader.field(c), fmt::format("feature {}", c));
    }
    builder->append(row);
  }
  if (rows != nodes) wrong_rows(reader, rows, nodes);
  return builder ? builder->finish() : Features();
}

void read_ogb_labels(const fs::path& path, int64_t nodes, Dataset& dataset) {
  TextReader reader(path, kOgbDialect);
  int64_t rows = 0;
  for (; reader.next(); ++rows) {
    if (reader.size() != 1) {
      reader.fail("{} labels in a row; dgat predicts one class per node", reader.size());
    }
    if (rows >= nodes) wrong_rows(reader, rows + 1, nodes);
    double value = 0;
    if (!parse_real(reader.field(0), value)) {
      reader.fail("the label must be a number, got {}", shown(reader.field(0)));
    }
    if (std::isnan(value)) continue;
    if (value != std::floor(value) || value < -1 || value >= kMaxClasses) {
      reader.fail("label {} is not a whole number in [-1, {}); -1 and nan mean unlabelled", value,
                  kMaxClasses);
    }
    dataset.labels[static_cast<size_t>(rows)] = static_cast<int32_t>(value);
    dataset.classes = std::max(dataset.classes, static_cast<int32_t>(value) + 1);
  }
  if (rows != nodes) wrong_rows(reader, rows, nodes);
}

std::vector<NodeId> read_ogb_part(const fs::path& folder, const char* part, int64_t nodes) {
  const auto path = file_of(folder, part);
  if (!path) throw_input("{}: has no {}.csv.gz", folder.string(), part);
  TextReader reader(*path, kOgbDialect);
  std::vector<NodeId> ids;
  while (reader.next()) ids.push_back(node_of(reader, reader.field(0), nodes));
  std::sort(ids.begin(), ids.end());
  if (std::adjacent_find(ids.begin(), ids.end()) != ids.end()) {
    reader.fail_file("lists a node twice");
  }
  return ids;
}

void read_ogb_splits(const fs::path& folder, int64_t nodes, Dataset& dataset) {
  std::error_code ignored;
  std::vector<fs::path> schemes;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored)) schemes.push_back(entry.path());
  }
  std::sort(schemes.begin(), schemes.end());
  for (const fs::path& scheme : schemes) {
    Split split;
    split.train = read_ogb_part(scheme, "train", nodes);
    split.val = read_ogb_part(scheme, "valid", nodes);
    split.test = read_ogb_part(scheme, "test", nodes);
    dataset.splits.push_back(std::move(split));
  }
}

void report_ogb_others(const fs::path& raw) {
  constexpr std::string_view kKnown[] = {"edge", "num-node-list", "num-edge-list", "node-feat",
                                         "node-label"};
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(raw, ignored)) {
    const std::string name = entry.path().filename();
    const bool known = std::any_of(std::begin(kKnown), std::end(kKnown), [&](std::string_view k) {
      return name == std::string(k) + ".csv" || name == std::string(k) + ".csv.gz";
    });
    if (!known) names.push_back(printable(name));
  }
  std::sort(names.begin(), names.end());
  if (!names.empty()) notice(fmt::format("{}: not read: {}", raw.string(), fmt::join(names, ", ")));
}

}  // namespace

bool is_ogb_folder(const fs::path& folder) {
  const fs::path raw = raw_of(folder);
  return (file_of(raw, "edge") && file_of(raw, "num-node-list")) ||
         file_of(raw, "triplet-type-list");
}

Dataset read_ogb(const fs::path& folder, const LoadOptions& options) {
  const fs::path raw = raw_of(folder);
  if (file_of(raw, "triplet-type-list")) {
    throw_input("{}: has several types of nodes and edges; dgat reads graphs of one type",
                raw.string());
  }
  const auto edges = file_of(raw, "edge"), count = file_of(raw, "num-node-list");
  for (const auto& [path, name] : {std::pair(edges, "edge"), std::pair(count, "num-node-list")}) {
    if (!path) throw_input("{}: {}.csv.gz is missing", raw.string(), name);
  }
  const int64_t nodes = read_count(*count);
  std::error_code ignored;
  const auto features = file_of(raw, "node-feat"), labels = file_of(raw, "node-label");
  int64_t bytes = 0;  // of the files that have a row per node or per edge
  for (const auto& path : {edges, features, labels}) {
    if (path) bytes += static_cast<int64_t>(fs::file_size(*path, ignored));
  }
  check_node_count(nodes, bytes, count->string());
  Dataset dataset;
  const std::string name = folder_name(folder);
  dataset.name = name == "raw" ? folder_name(raw / "..") : name;
  dataset.labels.assign(static_cast<size_t>(nodes), -1);
  set_graph(dataset, static_cast<NodeId>(nodes), read_ogb_edges(*edges, nodes), options,
            edges->string());
  if (labels) read_ogb_labels(*labels, nodes, dataset);
  if (features) dataset.features = read_ogb_features(*features, nodes);
  read_ogb_splits((raw / "..").lexically_normal() / "split", nodes, dataset);
  take_out_unlabelled(dataset, folder.string());
  report_ogb_others(raw);
  return dataset;
}

}  // namespace dgat::data
