#pragma once

#include <string>

#include "dgat/study/table.h"

namespace dgat::app {

/// A table for standard output: as wide as the terminal, in colours where it takes them. Files and
/// pipes get `other_width` columns (0: no limit) and no colours.
std::string on_screen(const study::Table& table, size_t other_width = 0);

}  // namespace dgat::app
