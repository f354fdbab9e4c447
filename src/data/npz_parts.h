#pragma once

#include <array>
#include <span>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/data/npz.h"

/// Parts that the npz data sets of different origin share. All throw InputError that names the
/// file and the key.
namespace dgat::data {

inline constexpr std::array<const char*, 3> kSplitParts{"train", "val", "test"};

[[noreturn]] void bad_shape(const NpzReader& file, const std::string& key, const ArrayInfo& info,
                            const std::string& expected);

/// Says in a notice which arrays of the archive are not among the known ones.
void report_unread(const NpzReader& file, std::span<const std::string> known);

/// The number of nodes that an array states, held against limits.h.
graph::NodeId checked_nodes(const NpzReader& file, int64_t nodes);

/// Fills labels and classes; every node is unlabelled when the key is absent.
void read_labels(const NpzReader& file, const std::string& key, graph::NodeId nodes,
                 Dataset& dataset);

/// An array [nodes, features]; a sparse matrix is never dense in memory.
Features dense_features(const NpzReader& file, const std::string& key, graph::NodeId nodes);

/// train_masks, val_masks and test_masks (or singular): all three or none.
std::vector<Split> read_splits(const NpzReader& file, graph::NodeId nodes);

/// Writes these masks.
void add_splits(NpzWriter& archive, const Dataset& dataset);

void take_out_unlabelled(Dataset& dataset, const std::string& path);

}  // namespace dgat::data
