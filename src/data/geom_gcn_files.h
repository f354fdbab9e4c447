#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"

/// What the reader and the writer of geom-gcn folders share.
namespace dgat::data {

inline constexpr const char* kEdgeFile = "out1_graph_edges.txt";
inline constexpr const char* kNodeFile = "out1_node_feature_label.txt";

/// The splits of a folder, found by the rule in geom_gcn.h; none when there are no split files.
std::vector<Split> read_geom_gcn_splits(const std::filesystem::path& folder,
                                        const Dataset& dataset);
/// One file per split in the folder.
void write_geom_gcn_splits(const Dataset& dataset, const std::filesystem::path& folder,
                           const std::string& name);

}  // namespace dgat::data
