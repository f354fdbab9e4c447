#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// Edge lists: NAME.txt, NAME.edgelist, NAME.edges, NAME.tsv, NAME.csv, each also with .gz. A row
/// is two ids and maybe a weight, separated by tab, comma, semicolon or blanks (found from the
/// first row). Lines that begin with # or % are comments. text_edges.h says what counts as a header
/// and what as weights.
///
/// Beside the list there may be, with extension .csv, .tsv or .txt and maybe .gz:
///   NAME.labels.*     rows of id, label
///   NAME.features.*   rows of id, numbers; every node has one row
///   NAME.splits.*     see splits.h
/// A first row that begins with id, node, node_id, nodeid, name or key is a header.
///
/// Nodes are the ids of all files. They keep their numbers when they are 0 .. N-1, else they are
/// numbered in sorted order. Labels are numbered as in csv.h.
namespace dgat::data {

/// Whether the name is that of an edge list. (csv.h handles .csv and .tsv.)
bool is_edge_list(const std::filesystem::path& path);

/// Throws: InputError naming file and line.
Dataset read_edge_list(const std::filesystem::path& path, const LoadOptions& options = {});

/// Writes the list, separated by tabs, and the files beside it that the data set needs.
void write_edge_list(const Dataset& dataset, const std::filesystem::path& path);

}  // namespace dgat::data
