#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// Folders of the geom-gcn repository:
///
///   NAME/out1_graph_edges.txt          header line; two node ids per line
///   NAME/out1_node_feature_label.txt   header line; id, tab, features, tab, label
///   NAME_split_0.6_0.2_K.npz           train_mask, val_mask, test_mask of N entries, K = 0, 1, ...
///
/// Ids are 0 .. N-1, in any order. Features are comma separated, in one of two forms:
///   values   one number per column (cornell, texas, wisconsin)
///   indices  the columns that hold a one (film); a repeated index counts once
/// The file does not say which, except that film's header names a `feature_amount`. The rule:
///   1. header with feature_amount:F    indices; F or the largest index + 1 columns, the larger
///      (film's header is one too small)
///   2. every line of the same length   values
///   3. lengths differ, all entries are whole and >= 0, one exceeds 1 and no line holds 0
///      twice                           indices
///   4. otherwise                       an error: a line of values was cut
/// Split files are looked for in NAME/, NAME/splits/, NAME/../splits/ and NAME/../../splits/, under
/// the name of the folder, then under that name without a trailing `_old` (the first edition of
/// cornell goes with cornell's splits). Without split files the data set has no splits.
namespace dgat::data {

/// True when the folder has at least one of the two text files.
bool is_geom_gcn_folder(const std::filesystem::path& folder);

/// Cost:   O(bytes); features are never dense in memory unless they are well filled.
/// Throws: InputError naming file and line.
Dataset read_geom_gcn(const std::filesystem::path& folder, const LoadOptions& options = {});

/// Writes the text files and, inside the same folder, the split files. Sparse features that are all
/// ones are written as indices with a feature_amount header, others as values. The format cannot
/// hold node ids, class and feature names; they are dropped with a notice. The folder appears
/// whole, or file by file when it exists.
void write_geom_gcn(const Dataset& dataset, const std::filesystem::path& folder);

}  // namespace dgat::data
