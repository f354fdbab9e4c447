#pragma once

#include <filesystem>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"
#include "dgat/graph/cells.h"

/// A data set as a folder of raw arrays, cut into parts: part p has the nodes
/// [first_nodes[p], first_nodes[p+1]) and with them a range of every array, which can be mapped
/// into memory. docs/formats.md lists the arrays.
namespace dgat::data {

/// A folder with the meta.json of this format.
bool is_parts_folder(const std::filesystem::path& path);

/// Writes a data set with the nodes of a part side by side. The folder appears whole or not at all.
/// Throws: InputError when it exists or cannot be made, ComputeError when writing fails.
void write_parts(const Dataset& dataset, const graph::Cells& parts,
                 const std::filesystem::path& folder);

/// The data set with its nodes in their first order: equal to what was written, whatever the parts.
/// Throws: InputError naming the file when an array has another size or checksum than meta.json
///         says, or is not what it should be.
Dataset read_parts(const std::filesystem::path& folder, const LoadOptions& options);

/// The parts of a folder. Throws like read_parts().
graph::Cells read_part_cells(const std::filesystem::path& folder);

}  // namespace dgat::data
