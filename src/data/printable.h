#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace dgat::data {

/// Text found in a file, fit for a one-line message: cut short, control characters replaced.
inline std::string printable(std::string_view text, size_t longest = 80) {
  const size_t end = text.find_last_not_of(" \t\r\n");
  std::string out(text.substr(0, std::min(end + 1, longest)));
  std::replace_if(
      out.begin(), out.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, '?');
  return end + 1 > longest ? out + "..." : out;
}

}  // namespace dgat::data
