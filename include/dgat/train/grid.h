#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dgat/train/config.h"

namespace dgat::train {

/// Several values of an option, by key: a study tries all of them.
using Grid = std::map<std::string, std::vector<std::string>>;

/// read_settings() for a file in which a value may be a list: `lr: [0.001, 0.01]`. Options with a
/// list go to `grid`.
Settings read_settings(const std::filesystem::path& path, Grid& grid);
Settings parse_settings(const std::string& yaml, const std::string& source, Grid& grid);

}  // namespace dgat::train
