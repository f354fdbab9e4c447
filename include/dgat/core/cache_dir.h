#pragma once

#include <filesystem>

namespace dgat {

/// Where dgat keeps what it can make or fetch again: $DGAT_CACHE, else $XDG_CACHE_HOME/dgat, else
/// $HOME/.cache/dgat. The folder is not created. Throws InputError when none of the three is set.
std::filesystem::path cache_dir();

}  // namespace dgat
