#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// MatrixMarket coordinate files (.mtx, .mtx.gz): `%%MatrixMarket matrix coordinate FIELD SYMMETRY`
/// with FIELD pattern, real or integer and SYMMETRY general or symmetric; then one line `rows cols
/// entries`, then `i j [value]`, ids from 1. Row i, column j is the arc i -> j. Values are
/// edge weights, positive; an entry whose value is 0 is no edge. Array, complex,
/// hermitian and skew-symmetric files are refused.
namespace dgat::data {

/// A graph without features and splits, every label -1, zero classes.
/// Throws: InputError naming file and line.
Dataset read_matrix_market(const std::filesystem::path& path, const LoadOptions& options = {});

/// `pattern symmetric` (lower triangle), or `pattern general` for a directed graph; `real` with
/// weights. Labels,
/// features, splits and node ids have no place in this format and are dropped with a notice.
void write_matrix_market(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace dgat::data
