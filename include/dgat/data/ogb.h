#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"

/// Unpacked archives of the Open Graph Benchmark for node classification:
///
///   NAME/raw/edge.csv.gz            two node ids per line, from 0; sender, receiver
///   NAME/raw/num-node-list.csv.gz   one number
///   NAME/raw/node-feat.csv.gz       a line of numbers per node; may be absent
///   NAME/raw/node-label.csv.gz      a class from 0 per node; -1 and nan mean unlabelled
///   NAME/split/SCHEME/train.csv.gz, valid.csv.gz, test.csv.gz
///                                   node ids; every folder becomes a split, by name
///
/// The files have no header and may be unpacked. The path is NAME or NAME/raw. A notice lists the
/// other files of raw. Graphs with several types of nodes (triplet-type-list) are refused.
namespace dgat::data {

bool is_ogb_folder(const std::filesystem::path& folder);

/// Throws: InputError that names the file and the line.
Dataset read_ogb(const std::filesystem::path& folder, const LoadOptions& options = {});

}  // namespace dgat::data
