// The readers of data sets, and the spectral cache.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/zip_writer.h"
#include "dgat/core/files.h"
#include "dgat/data/load.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/data/parts.h"
#include "dgat/data/sha256.h"
#include "dgat/graph/builder.h"
#include "spectral/cache_check.h"
#include "spectral/cache_file.h"
#include "target.h"

namespace dgat::fuzz {
namespace {

void read_as(std::string_view name, std::string_view bytes, std::string_view format = {}) {
  data::load_dataset(file(name, bytes).string(), {.format = std::string(format)});
}

void npz(std::string_view bytes) {
  read_as("graph.npz", bytes);
}

/// One array of an archive whose checksums are right, the others being sound: the first byte says
/// which. Mutations of a whole archive hardly ever pass its checksums.
void npy(std::string_view bytes) {
  if (bytes.empty()) return;
  constexpr std::string_view kHead("\x93NUMPY\x01\x00", 8);
  const auto array = [&](std::string header, std::string_view values) {
    header.resize(118, ' ');
    header += '\n';
    return std::string(kHead) + static_cast<char>(header.size()) + '\0' + header +
           std::string(values);
  };
  const std::string ids("\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x00\x00", 16);
  const std::pair<std::string, std::string> members[] = {
      {"edges.npy", array("{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }", ids)},
      {"node_labels.npy",
       array("{'descr': '<i4', 'fortran_order': False, 'shape': (3,), }", ids.substr(0, 12))},
      {"node_features.npy",
       array("{'descr': '<f4', 'fortran_order': False, 'shape': (3, 1), }", ids.substr(0, 12))},
      {"train_masks.npy",
       array("{'descr': '|b1', 'fortran_order': False, 'shape': (1, 3), }", ids.substr(0, 3))}};
  const size_t replaced = static_cast<unsigned char>(bytes.front()) % std::size(members);
  const std::filesystem::path path = folder() / "array.npz";
  {
    data::ZipWriter zip(path, 0, false);
    for (size_t m = 0; m < std::size(members); ++m) {
      const std::string_view body =
          m == replaced ? bytes.substr(1) : std::string_view(members[m].second);
      zip.begin(members[m].first, body.size());
      zip.write(std::as_bytes(std::span(body)));
      zip.end();
    }
    zip.finish();
  }
  data::load_dataset(path.string());
}

/// One file of a folder of parts, the others being sound and the checksums right: the first byte
/// says which.
void parts(std::string_view bytes) {
  namespace fs = std::filesystem;
  if (bytes.empty()) return;
  const fs::path at = folder() / "parts";
  std::error_code ignored;
  fs::remove_all(at, ignored);
  data::Dataset sound;
  sound.graph = graph::build_graph(4, std::vector<graph::Edge>{{0, 1}, {1, 2}, {2, 3}}).graph;
  sound.labels = {0, 1, 0, -1};
  sound.classes = 2;
  sound.features = data::Features::compact(4, 5, [] {
    std::vector<float> values(20, 0);
    values[3] = values[11] = 2;
    return values;
  }());
  sound.splits = {{{0, 1}, {2}, {}}};
  sound.node_ids = {"a", "b", "c", "d"};
  data::write_parts(sound, graph::cells_of(std::vector<int32_t>{1, 0, 1, 0}, 2), at);
  std::vector<fs::path> files(fs::directory_iterator(at), {});
  std::ranges::sort(files);
  const fs::path replaced = files[static_cast<unsigned char>(bytes.front()) % files.size()];
  file("parts/" + replaced.filename().string(), bytes.substr(1));
  if (replaced.filename() != "meta.json") {
    auto meta = nlohmann::json::parse(read_whole_file(at / "meta.json"));
    meta["arrays"][replaced.filename().string()] = {{"bytes", bytes.size() - 1},
                                                    {"sha256", data::sha256_of_file(replaced)}};
    file("parts/meta.json", meta.dump());
  }
  data::load_dataset(at.string());
}

void scipy(std::string_view bytes) {
  read_as("scipy.npz", bytes, "scipy");
}
void csv(std::string_view bytes) {
  const auto [nodes, edges] = halves(bytes);
  file("csv/nodes.csv", nodes);
  file("csv/edges.csv", edges);
  data::load_dataset((folder() / "csv").string(), {.format = "csv"});
}
void geom_gcn(std::string_view bytes) {
  const auto [nodes, edges] = halves(bytes);
  file("geom/out1_node_feature_label.txt", nodes);
  file("geom/out1_graph_edges.txt", edges);
  data::load_dataset((folder() / "geom").string(), {.format = "geom-gcn"});
}
void matrix_market(std::string_view bytes) {
  read_as("graph.mtx", bytes);
}
void edge_list(std::string_view bytes) {
  read_as("graph.edgelist", bytes);
}
void gzip(std::string_view bytes) {
  read_as("graph.txt.gz", bytes);
}
void graphml(std::string_view bytes) {
  read_as("graph.graphml", bytes);
}
void gml(std::string_view bytes) {
  read_as("graph.gml", bytes);
}

void matlab(std::string_view bytes) {
  read_as("graph.mat", bytes);
}
void ogb(std::string_view bytes) {
  const auto [labels, edges] = halves(bytes);
  file("ogb/raw/edge.csv", edges);
  file("ogb/raw/node-label.csv", labels);
  file("ogb/raw/num-node-list.csv", "3\n");
  data::load_dataset((folder() / "ogb").string(), {.format = "ogb"});
}

/// The body of a cache file under a right checksum.
void spectral_cache(std::string_view bytes) {
  static const graph::CsrGraph path = [] {
    std::vector<graph::Edge> edges;
    for (graph::NodeId i = 0; i < 9; ++i) edges.push_back({i, i + 1});
    return graph::build_graph(12, edges).graph;  // with isolated nodes
  }();
  const std::optional<spectral::EigenResult> result = spectral::decode(spectral::sealed(bytes));
  if (!result) return;
  for (const auto policy : {spectral::ComponentPolicy::kEach, spectral::ComponentPolicy::kFirst}) {
    spectral::what_is_wrong(*result, path, {.gamma = 0.3, .k = 1, .components = policy});
  }
}

constexpr Target kTargets[] = {{"npz", npz},
                               {"npy", npy},
                               {"parts", parts},
                               {"scipy", scipy},
                               {"csv", csv},
                               {"geom-gcn", geom_gcn},
                               {"matrix-market", matrix_market},
                               {"edge-list", edge_list},
                               {"gzip", gzip},
                               {"graphml", graphml},
                               {"gml", gml},
                               {"matlab", matlab},
                               {"ogb", ogb},
                               {"spectral-cache", spectral_cache}};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

}  // namespace dgat::fuzz
