#include "dgat/core/cache_dir.h"

#include <cstdlib>

#include "dgat/core/error.h"

namespace dgat {

std::filesystem::path cache_dir() {
  const auto set = [](const char* name) -> const char* {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
  };
  if (const char* own = set("DGAT_CACHE")) return own;
  if (const char* xdg = set("XDG_CACHE_HOME")) return std::filesystem::path(xdg) / "dgat";
  if (const char* home = set("HOME")) return std::filesystem::path(home) / ".cache" / "dgat";
  throw_input(
      "cache: none of DGAT_CACHE, XDG_CACHE_HOME and HOME is set; set DGAT_CACHE to a folder");
}

}  // namespace dgat
