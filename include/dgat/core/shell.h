#pragma once

#include <string>

namespace dgat {

/// Quoted for a shell where that is needed.
std::string shell_quoted(const std::string& text);

}  // namespace dgat
