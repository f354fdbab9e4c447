#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// MAT-files of version 5, such as those of LINKX (Lim et al. 2021). Variables, in any case:
///
///   edges     A, adj, homo or network: a matrix [N, N]; row i, column j is the arc i -> j, and its
///             value is the edge weight. Or edge_index [2, E]: node ids from 0, row 0 the sender
///   features  features, node_feat, attributes: [N, F], dense or sparse
///   labels    label, labels, y: N whole numbers in a row or column; below 0 and NaN: unlabelled.
///             Classes are numbered in increasing order.
///   facebook  local_info [N, 7] in place of both: column 1 is the label (gender, 0 is missing).
///             Every value of the other columns becomes a feature of its own.
///   num_nodes one number, beside edge_index
///
/// There are no splits: those of LINKX are pickles. A notice lists the other variables.
namespace dgat::data {

/// Throws: InputError that names the file and the variable.
Dataset read_matlab(const std::filesystem::path& path, const LoadOptions& options = {});

}  // namespace dgat::data
