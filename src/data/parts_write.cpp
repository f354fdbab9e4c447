#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/parts.h"
#include "dgat/data/sha256.h"
#include "output_folder.h"
#include "parts_files.h"
#include "renumbered_row.h"

namespace dgat::data {
namespace fs = std::filesystem;
static_assert(std::endian::native == std::endian::little, "arrays are written as they are");

namespace {
using graph::NodeId;
using nlohmann::json;

/// Writes arrays piece by piece and notes their sizes and checksums.
class Arrays {
 public:
  explicit Arrays(const OutputFolder& folder) : folder_(folder) {}

  /// `rows(put)` calls put(span) for one piece after another.
  template <class T, class Rows>
  void write(const char* name, const Rows& rows) {
    Sha256 hash;
    int64_t bytes = 0;
    write_atomically(folder_ / name, [&](std::ostream& out) {
      rows([&](std::span<const T> values) {
        const std::string_view raw(reinterpret_cast<const char*>(values.data()),
                                   values.size_bytes());
        hash.update(raw);
        out.write(raw.data(), static_cast<std::streamsize>(raw.size()));
        bytes += static_cast<int64_t>(raw.size());
      });
    });
    list_[name] = {{"bytes", bytes}, {"sha256", hash.finish()}};
  }
  template <class T>
  void write_all(const char* name, const std::vector<T>& values) {
    write<T>(name, [&](const auto& put) { put(std::span<const T>(values)); });
  }
  const json& list() const { return list_; }

 private:
  const OutputFolder& folder_;
  json list_ = json::object();
};

/// Names of any bytes: what is not UTF-8 is replaced.
std::string text_of(const json& value) {
  return value.dump(1, ' ', false, json::error_handler_t::replace);
}

void write_graph(Arrays& arrays, const graph::CsrGraph& graph, const std::vector<NodeId>& nodes) {
  std::vector<NodeId> place(nodes.size());
  for (size_t k = 0; k < nodes.size(); ++k) {
    place[static_cast<size_t>(nodes[k])] = static_cast<NodeId>(k);
  }
  std::vector<int64_t> offsets{0};
  for (const NodeId i : nodes) offsets.push_back(offsets.back() + graph.degree(i));
  arrays.write_all(parts::kOffsets, offsets);
  // Rows by new numbers: the same order for senders and weights.
  std::vector<std::pair<NodeId, float>> row;
  arrays.write<int32_t>(parts::kSenders, [&](const auto& put) {
    std::vector<int32_t> senders;
    for (const NodeId i : nodes) {
      renumbered_row(graph, i, place, row);
      senders.clear();
      for (const auto& [sender, weight] : row) senders.push_back(sender);
      put(std::span<const int32_t>(senders));
    }
  });
  if (!graph.weighted()) return;
  arrays.write<float>(parts::kWeights, [&](const auto& put) {
    std::vector<float> weights;
    for (const NodeId i : nodes) {
      renumbered_row(graph, i, place, row);
      weights.clear();
      for (const auto& [sender, weight] : row) weights.push_back(weight);
      put(std::span<const float>(weights));
    }
  });
}

void write_features(Arrays& arrays, const Features& features, const std::vector<NodeId>& nodes) {
  if (features.empty()) return;
  if (!features.is_sparse()) {
    arrays.write<float>(parts::kDense, [&](const auto& put) {
      const auto width = static_cast<size_t>(features.cols());
      for (const NodeId i : nodes) {
        put(features.values().subspan(static_cast<size_t>(i) * width, width));
      }
    });
    return;
  }
  const auto offset = [&](NodeId i) { return features.offsets()[static_cast<size_t>(i)]; };
  std::vector<int64_t> offsets{0};
  for (const NodeId i : nodes) offsets.push_back(offsets.back() + offset(i + 1) - offset(i));
  arrays.write_all(parts::kFeatureOffsets, offsets);
  const auto rows_of = [&](const auto& values) {
    return [&, values](const auto& put) {
      for (const NodeId i : nodes) {
        put(values.subspan(static_cast<size_t>(offset(i)),
                           static_cast<size_t>(offset(i + 1) - offset(i))));
      }
    };
  };
  arrays.write<int32_t>(parts::kFeatureColumns, rows_of(features.columns()));
  arrays.write<float>(parts::kFeatureValues, rows_of(features.values()));
}

void write_splits(Arrays& arrays, const Dataset& dataset, const std::vector<NodeId>& nodes) {
  if (dataset.splits.empty()) return;
  arrays.write<int8_t>(parts::kSplits, [&](const auto& put) {
    std::vector<int8_t> part_of(nodes.size()), row(nodes.size());
    for (const Split& split : dataset.splits) {
      std::ranges::fill(part_of, int8_t{0});
      int8_t number = 0;
      for (const auto* part : {&split.train, &split.val, &split.test}) {
        ++number;
        for (const NodeId i : *part) part_of[static_cast<size_t>(i)] = number;
      }
      for (size_t k = 0; k < nodes.size(); ++k) row[k] = part_of[static_cast<size_t>(nodes[k])];
      put(std::span<const int8_t>(row));
    }
  });
}

}  // namespace

void write_parts(const Dataset& dataset, const graph::Cells& cells, const fs::path& folder) {
  expects(std::ssize(cells.nodes) == dataset.graph.nodes(), "write_parts: every node has a part");
  if (fs::exists(folder)) {
    throw_input("{}: exists; choose another name, or remove it", folder.string());
  }
  const std::vector<NodeId>& nodes = cells.nodes;
  OutputFolder out(folder);
  Arrays arrays(out);
  arrays.write_all(parts::kNodes, nodes);
  write_graph(arrays, dataset.graph, nodes);
  std::vector<int32_t> labels;
  labels.reserve(nodes.size());
  for (const NodeId i : nodes) labels.push_back(dataset.labels[static_cast<size_t>(i)]);
  arrays.write_all(parts::kLabels, labels);
  write_features(arrays, dataset.features, nodes);
  write_splits(arrays, dataset, nodes);
  if (!dataset.node_ids.empty()) {
    const std::string text = text_of(dataset.node_ids);
    arrays.write_all(parts::kNodeIds, std::vector<char>(text.begin(), text.end()));
  }
  const graph::Cut cut = graph::cut_of(dataset.graph, cells);
  const json meta = {{"format", parts::kFormat},
                     {"version", parts::kVersion},
                     {"name", dataset.name},
                     {"nodes", dataset.graph.nodes()},
                     {"arcs", dataset.graph.arcs()},
                     {"directed", dataset.graph.directed()},
                     {"features", dataset.features.cols()},
                     {"classes", dataset.classes},
                     {"splits", dataset.splits.size()},
                     {"parts", cells.count()},
                     {"first_nodes", cells.offsets},
                     {"cut", cut.edges},
                     {"halo", cut.halo},
                     {"class_names", dataset.class_names},
                     {"feature_names", dataset.feature_names},
                     {"arrays", arrays.list()}};
  write_atomically(out / parts::kMeta, [&](std::ostream& file) { file << text_of(meta) << '\n'; });
  out.commit();
}

}  // namespace dgat::data
