#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// CSV pairs. A folder with nodes.csv and edges.csv (and maybe splits.csv), or one of the two files
/// by name: `x_nodes.csv` goes with `x_edges.csv` and `x_splits.csv`. Also .tsv, and
/// both compressed as .gz. Separator tab, comma, semicolon or blanks, found from the first row;
/// quotes as in RFC 4180; lines that begin with # are comments.
///
/// nodes    id, label, features...   A first row whose first field is id, node, node_id, nodeid,
///          name or key is a header: it names the features, and the label is then the column called
///          label, class, y, target or category (none: no labels). Without a header the columns are
///          id, label, features. An empty label or -1 means unlabelled.
/// edges    two ids per row and maybe a weight. Without a nodes file it is read as in edge_list.h.
/// splits   see splits.h
///
/// Ids are any text. When they are the numbers 0 .. N-1 in any order they are the node numbers;
/// otherwise nodes are numbered by row and keep their ids in Dataset::node_ids. Labels are numbered
/// in sorted order (by value when all are whole numbers, else by bytes); unless they are
/// 0 .. C-1 their texts are in Dataset::class_names.
namespace dgat::data {

struct CsvFiles {
  std::filesystem::path nodes, edges, splits;  ///< empty when absent
  std::string name;                            ///< of the data set
};

/// The files that belong to a folder or to one of its files; nothing when it is no CSV data set.
std::optional<CsvFiles> find_csv_files(const std::filesystem::path& path);

/// Throws: InputError naming file and line.
Dataset read_csv(const std::filesystem::path& path, const LoadOptions& options = {});

/// Writes nodes.csv, edges.csv and, when there are splits, splits.csv into a folder. It appears
/// whole, or file by file when it exists.
void write_csv(const Dataset& dataset, const std::filesystem::path& folder);

}  // namespace dgat::data
