#include <algorithm>
#include <bit>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/limits.h"
#include "dgat/data/parts.h"
#include "dgat/data/sha256.h"
#include "dgat/graph/builder.h"
#include "parts_files.h"

namespace dgat::data {
namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "arrays are read as they are");

namespace {
using graph::NodeId;
using nlohmann::json;

/// Throws for a number with a fraction or an exponent: get<int64_t>() converts it, whatever it is.
int64_t integer(const json& value) {
  return value.get_ref<const int64_t&>();
}

/// meta.json, with errors that name the key.
class Meta {
 public:
  explicit Meta(const fs::path& folder) : folder_(folder) {
    const std::string text = read_whole_file(folder / parts::kMeta);
    json_ = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!json_.is_object()) throw_input("{}: not a JSON object", file());
    if (get<std::string>("format") != parts::kFormat) {
      throw_input("{}: format is not {}", file(), parts::kFormat);
    }
    if (get<int64_t>("version") != parts::kVersion) {
      throw_input("{}: version {} is not known to this dgat, which reads {}", file(),
                  get<int64_t>("version"), parts::kVersion);
    }
  }

  template <class T>
  T get(const char* key) const {
    try {
      const json& value = json_.at(key);
      if constexpr (std::is_same_v<T, int64_t>) return integer(value);
      if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
        for (const json& each : value) integer(each);
      }
      return value.get<T>();
    } catch (const json::exception&) {
      throw_input("{}: {} is missing or not what it should be", file(), key);
    }
  }
  int64_t count(const char* key, int64_t most) const {
    const auto value = get<int64_t>(key);
    if (value < 0 || value > most) {
      throw_input("{}: {} must lie in [0, {}], got {}", file(), key, most, value);
    }
    return value;
  }
  bool has(const char* array) const {
    return json_.contains("arrays") && json_["arrays"].is_object() &&
           json_["arrays"].contains(array);
  }

  /// The array, of the size and with the checksum that are noted here.
  template <class T>
  std::vector<T> read(const char* array, std::optional<int64_t> wanted = {}) const {
    const fs::path path = folder_ / array;
    if (!has(array)) throw_input("{}: {} is not listed", file(), array);
    const auto [noted, checksum] = noted_of(array);
    std::error_code error;
    const auto bytes = static_cast<int64_t>(fs::file_size(path, error));
    if (error) throw_input("{}: {}", path.string(), error.message());
    if (bytes != noted) {
      throw_input("{}: {} bytes instead of {}; write the folder again", path.string(), bytes,
                  noted);
    }
    if (wanted && bytes != *wanted * static_cast<int64_t>(sizeof(T))) {
      throw_input("{}: {} bytes where {} numbers are expected", path.string(), bytes, *wanted);
    }
    std::vector<T> values(static_cast<size_t>(bytes) / sizeof(T));
    std::ifstream in(path, std::ios::binary);
    in.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
    if (!in) throw_input("{}: cannot be read", path.string());
    Sha256 hash;
    hash.update({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)});
    if (hash.finish() != checksum) {
      throw_input("{}: the checksum differs from that of {}; write the folder again", path.string(),
                  parts::kMeta);
    }
    return values;
  }

  std::string file() const { return (folder_ / parts::kMeta).string(); }
  std::string file(const char* array) const { return (folder_ / array).string(); }

 private:
  std::pair<int64_t, std::string> noted_of(const char* array) const {
    try {
      const json& entry = json_.at("arrays").at(array);
      return {integer(entry.at("bytes")), entry.at("sha256").get<std::string>()};
    } catch (const json::exception&) {
      throw_input("{}: {} has no bytes or no sha256", file(), array);
    }
  }

  fs::path folder_;
  json json_;
};

/// Offsets rise from 0 to the number of entries.
void check_offsets(const Meta& meta, const char* array, const std::vector<int64_t>& offsets,
                   int64_t entries) {
  if (offsets.empty() || offsets.front() != 0 || offsets.back() != entries ||
      !std::ranges::is_sorted(offsets)) {
    throw_input("{}: must rise from 0 to {}", meta.file(array), entries);
  }
}

graph::Cells read_cells(const Meta& meta, int64_t nodes) {
  graph::Cells cells;
  cells.offsets = meta.get<std::vector<int64_t>>("first_nodes");
  check_offsets(meta, parts::kMeta, cells.offsets, nodes);
  if (meta.get<int64_t>("parts") != cells.count()) {
    throw_input("{}: parts and first_nodes disagree", meta.file());
  }
  cells.nodes = meta.read<NodeId>(parts::kNodes, nodes);
  std::vector<char> seen(static_cast<size_t>(nodes));
  for (const NodeId i : cells.nodes) {
    if (i < 0 || i >= nodes || seen[static_cast<size_t>(i)]++ != 0) {
      throw_input("{}: must have every node once, got {}", meta.file(parts::kNodes), i);
    }
  }
  return cells;
}

/// Rows by the numbers of the source.
graph::CsrGraph read_graph(const Meta& meta, const std::vector<NodeId>& nodes, bool unweighted) {
  const auto n = static_cast<int64_t>(nodes.size());
  const int64_t arcs = meta.count("arcs", INT64_MAX);
  const auto from = meta.read<int64_t>(parts::kOffsets, n + 1);
  check_offsets(meta, parts::kOffsets, from, arcs);
  const auto senders = meta.read<NodeId>(parts::kSenders, arcs);
  std::vector<float> given;
  if (meta.has(parts::kWeights)) given = meta.read<float>(parts::kWeights, arcs);
  if (unweighted) given.clear();
  std::vector<int64_t> offsets(nodes.size() + 1, 0);
  for (size_t k = 0; k < nodes.size(); ++k) {
    offsets[static_cast<size_t>(nodes[k]) + 1] = from[k + 1] - from[k];
  }
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  std::vector<NodeId> targets(senders.size());
  std::vector<float> weights(given.size());
  std::vector<std::pair<NodeId, float>> row;
  for (size_t k = 0; k < nodes.size(); ++k) {
    row.clear();
    for (int64_t e = from[k]; e < from[k + 1]; ++e) {
      const NodeId sender = senders[static_cast<size_t>(e)];
      if (sender < 0 || sender >= n || nodes[static_cast<size_t>(sender)] == nodes[k]) {
        throw_input("{}: row {} has sender {}; it must be another node in [0, {})",
                    meta.file(parts::kSenders), k, sender, n);
      }
      const float weight = given.empty() ? 1.0F : given[static_cast<size_t>(e)];
      if (!(weight > 0 && std::isfinite(weight))) {
        throw_input("{}: weights are positive and finite, got {}", meta.file(parts::kWeights),
                    weight);
      }
      row.emplace_back(nodes[static_cast<size_t>(sender)], weight);
    }
    std::ranges::sort(row);
    auto at = static_cast<size_t>(offsets[static_cast<size_t>(nodes[k])]);
    for (size_t e = 0; e < row.size(); ++e, ++at) {
      if (e > 0 && row[e].first == row[e - 1].first) {
        throw_input("{}: row {} has a sender twice", meta.file(parts::kSenders), k);
      }
      targets[at] = row[e].first;
      if (!given.empty()) weights[at] = row[e].second;
    }
  }
  const bool directed = meta.get<bool>("directed");
  graph::CsrGraph graph(std::move(offsets), std::move(targets), directed, std::move(weights));
  for (NodeId i = 0; i < graph.nodes() && !directed; ++i) {
    for (const NodeId j : graph.neighbors(i)) {
      if (!graph.has_arc(j, i)) {
        throw_input("{}: the graph is undirected, but arc {} to {} has no reverse",
                    meta.file(parts::kSenders), j, i);
      }
    }
  }
  return graph;
}

/// Sparse rows, brought into the order of the source.
Features read_sparse(const Meta& meta, const std::vector<NodeId>& nodes, int64_t columns) {
  const auto n = static_cast<int64_t>(nodes.size());
  const auto from = meta.read<int64_t>(parts::kFeatureOffsets, n + 1);
  const auto given = meta.read<int32_t>(parts::kFeatureColumns);
  const auto values = meta.read<float>(parts::kFeatureValues, std::ssize(given));
  check_offsets(meta, parts::kFeatureOffsets, from, std::ssize(given));
  for (int64_t k = 0; k < n; ++k) {
    int32_t last = -1;
    for (int64_t e = from[static_cast<size_t>(k)]; e < from[static_cast<size_t>(k) + 1]; ++e) {
      const int32_t column = given[static_cast<size_t>(e)];
      if (column <= last || column >= columns || values[static_cast<size_t>(e)] == 0) {
        throw_input("{}: row {} must have increasing columns below {} and no zeros",
                    meta.file(parts::kFeatureColumns), k, columns);
      }
      last = column;
    }
  }
  std::vector<int32_t> back(nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    back[static_cast<size_t>(nodes[k])] = static_cast<int32_t>(k);
  }
  return Features::sparse(n, columns, from, given, values).select_rows(back);
}

Features read_features(const Meta& meta, const std::vector<NodeId>& nodes) {
  const int64_t columns = meta.count("features", INT32_MAX);
  if (columns == 0) return {};
  if (!meta.has(parts::kDense)) return read_sparse(meta, nodes, columns);
  const auto n = static_cast<int64_t>(nodes.size());
  const auto rows = meta.read<float>(parts::kDense, n * columns);
  std::vector<float> values(rows.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    std::copy_n(rows.begin() + static_cast<int64_t>(k) * columns, columns,
                values.begin() + int64_t{nodes[k]} * columns);
  }
  return Features::dense(n, columns, std::move(values));
}

/// No names, or one for each.
std::vector<std::string> read_names(const Meta& meta, const char* key, int64_t count) {
  auto names = meta.get<std::vector<std::string>>(key);
  if (!names.empty() && std::ssize(names) != count) {
    throw_input("{}: {} must be empty or have {} names, got {}", meta.file(), key, count,
                names.size());
  }
  return names;
}

std::vector<Split> read_splits(const Meta& meta, const std::vector<NodeId>& nodes) {
  const int64_t count = meta.count("splits", kMaxSplits);
  if (count == 0) return {};
  const auto n = static_cast<int64_t>(nodes.size());
  const auto parts_of = meta.read<int8_t>(parts::kSplits, count * n);
  std::vector<Split> splits(static_cast<size_t>(count));
  for (int64_t s = 0; s < count; ++s) {
    Split& split = splits[static_cast<size_t>(s)];
    std::vector<NodeId>* const lists[] = {&split.train, &split.val, &split.test};
    for (int64_t k = 0; k < n; ++k) {
      const int8_t part = parts_of[static_cast<size_t>(s * n + k)];
      if (part < 0 || part > 3) {
        throw_input("{}: parts are 0 to 3, got {}", meta.file(parts::kSplits), int{part});
      }
      if (part > 0) lists[part - 1]->push_back(nodes[static_cast<size_t>(k)]);
    }
    for (auto* list : lists) std::ranges::sort(*list);
  }
  return splits;
}

}  // namespace

bool is_parts_folder(const fs::path& path) {
  std::error_code ignored;
  return fs::is_regular_file(path / parts::kMeta, ignored);
}

graph::Cells read_part_cells(const fs::path& folder) {
  const Meta meta(folder);
  return read_cells(meta, meta.count("nodes", kMaxNodes));
}

Dataset read_parts(const fs::path& folder, const LoadOptions& options) {
  const Meta meta(folder);
  const graph::Cells cells = read_cells(meta, meta.count("nodes", kMaxNodes));
  const std::vector<NodeId>& nodes = cells.nodes;
  Dataset dataset;
  dataset.name = meta.get<std::string>("name");
  dataset.graph = read_graph(meta, nodes, options.unweighted);
  if (options.directed && !dataset.graph.directed()) {
    throw_input("{}: the folder has an undirected graph; partition the data with --directed",
                folder.string());
  }
  if (!options.directed) dataset.graph = graph::symmetrised(dataset.graph);
  const auto labels = meta.read<int32_t>(parts::kLabels, std::ssize(nodes));
  dataset.labels.resize(labels.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    dataset.labels[static_cast<size_t>(nodes[k])] = labels[k];
  }
  dataset.classes = static_cast<int32_t>(meta.count("classes", kMaxClasses));
  dataset.features = read_features(meta, nodes);
  dataset.splits = read_splits(meta, nodes);
  dataset.class_names = read_names(meta, "class_names", dataset.classes);
  dataset.feature_names = read_names(meta, "feature_names", dataset.features.cols());
  if (meta.has(parts::kNodeIds)) {
    const auto text = meta.read<char>(parts::kNodeIds);
    const json ids = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!ids.is_array() || ids.size() != nodes.size() ||
        !std::ranges::all_of(ids, [](const json& id) { return id.is_string(); })) {
      throw_input("{}: must be a list of {} names", meta.file(parts::kNodeIds), nodes.size());
    }
    dataset.node_ids = ids.get<std::vector<std::string>>();
  }
  return dataset;
}

}  // namespace dgat::data
