#pragma once

#include <filesystem>

namespace dgat::train {

/// Reads a TFRecord file and compares the checksums of its records. Throws: InputError.
void check_events(const std::filesystem::path& path);

}  // namespace dgat::train
