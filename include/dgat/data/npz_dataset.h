#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"
#include "dgat/data/npz.h"

/// The .npz data sets of the heterophilous-graphs repository.
///
/// | key | read | written |
/// |---|---|---|
/// | edges | [E, 2]; also [2, E] (E other than 2); ids 0 to N-1 | int64 [E, 2] |
/// | node_labels | [N] or [N, 1]; -1 = unlabelled; may be absent | int64 [N] |
/// | node_features | [N, F]; may be absent | float32 [N, F], see below |
/// | node_features_indptr, _indices, _shape, _data | CSR; values 1 without _data | see below |
/// | edge_weights | [E], positive; may be absent | float32 [E] of a weighted graph |
/// | train_masks, val_masks, test_masks | [splits, N] or [N], 0 and 1; all or none | bool [splits,
/// N] |
///
/// Any number type is read; ids, labels and masks may be floating point as long as every value is
/// whole. The singular train_mask, val_mask, test_mask are read, too. N comes from the labels,
/// if there are none, from the features. Without labels, every node is unlabelled. Arrays of other
/// names are not read, and a notice lists them. Archives with adj_indptr are those of
/// scipy_npz.h.
namespace dgat::data {

/// Features are converted while they are inflated: a sparse matrix is never dense in memory.
/// Unlabelled nodes are taken out of the splits, with a notice.
/// Throws: InputError that names the file, the key and the row.
Dataset read_npz(const std::filesystem::path& path, const LoadOptions& options);

/// Features are written as float32. Matrices of kByteFeaturesFrom entries or more, all whole
/// numbers from 0 to 255, are written as uint8 (large word counts: a quarter of the time). A sparse
/// matrix of kSparseFeaturesFrom entries or more is written as CSR.
void write_npz(const Dataset& dataset, const std::filesystem::path& path);
inline constexpr int64_t kByteFeaturesFrom = int64_t{1} << 26;
inline constexpr int64_t kSparseFeaturesFrom = int64_t{1} << 29;

/// Adds the arrays of a data set to an archive that holds other arrays, too.
void add_dataset(NpzWriter& archive, const Dataset& dataset);

}  // namespace dgat::data
