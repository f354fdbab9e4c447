#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"
#include "dgat/data/npz.h"

/// The .npz files of gnn-benchmark (Shchur et al. 2018). The adjacency matrix is in compressed
/// sparse rows: adj_data, adj_indices, adj_indptr, adj_shape. Features are attr_data, attr_indices,
/// attr_indptr and attr_shape, or dense as attr_matrix. Classes are labels. Also what
/// scipy.sparse.save_npz writes of an adjacency matrix: data, indices, indptr, shape.
///
/// Row i, column j is the arc i -> j. Values of the matrix are edge weights; an entry 0 is no edge.
/// Masks are read as in npz_dataset.h. Names (node_names, ...) are pickles or texts and not read.
namespace dgat::data {

bool is_scipy_npz(const NpzReader& file);

/// Throws: InputError that names the file, the key and the row.
Dataset read_scipy_npz(const NpzReader& file, const LoadOptions& options);

/// Writes the keys of gnn-benchmark, both directions of every edge, and masks if there are splits.
void write_scipy_npz(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace dgat::data
