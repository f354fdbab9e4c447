#pragma once

#include <filesystem>
#include <fstream>

namespace dgat {

/// A file opened for reading. Throws InputError that names the file and the reason; a pipe or a
/// device is one.
std::ifstream open_file(const std::filesystem::path& path);

}  // namespace dgat
