#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

/// The entry point to every format. Each format has a reader in its own header (npz_dataset.h,
/// ...); the table in load.cpp lists them.
namespace dgat::data {

struct LoadOptions {
  bool directed = false;     ///< keep arcs as they are instead of adding the reverse of each
  bool unweighted = false;   ///< every edge counts 1: weights of the file are not read
  SplitOptions splits = {};  ///< what to do about splits; by default those of the file
  std::string format = {};   ///< name of a format; empty: found from the extension or folder layout
};

/// Reads a data set named by the path of a file or folder, or by a name of the catalogue (see
/// find_locally). An existing path takes precedence over a name.
///
/// The result is validated, has a name (the file's stem when the format holds none) and the
/// splits that `options.splits` asks for. Says in a notice how many self loops and duplicates
/// were dropped.
/// Throws: InputError that names the file and the line or key; for an unknown name it lists what
///         was tried.
Dataset load_dataset(const std::string& path_or_name, const LoadOptions& options = {});

/// Writes a data set in the format that the extension of `path` (or `format`) names. Whole or not
/// at all: an existing file is replaced only once the new one is complete. Says in a notice what
/// the format cannot hold.
/// Throws: InputError when no format fits or the place is not writable, ComputeError when writing
///         fails.
void save_dataset(const Dataset& dataset, const std::filesystem::path& path,
                  std::string_view format = {});

/// "npz (.npz), ..." for help texts and errors.
std::string known_formats();

}  // namespace dgat::data
