#include <charconv>
#include <string>

#include "dgat/core/error.h"
#include "dgat/study/engine.h"

namespace dgat::study {

double parse_duration(const std::string& text) {
  double seconds = 0;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    double value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || stop == end || !(value >= 0 && value < 1e9)) break;
    const double unit = *stop == 'h' ? 3600 : *stop == 'm' ? 60 : *stop == 's' ? 1 : 0;
    if (unit == 0) break;
    seconds += value * unit;
    at = stop + 1;
  }
  constexpr double kLongest = 1e9;  // thirty years; a clock counts nanoseconds in 64 bits
  if (text.empty() || at != end || seconds > kLongest) {
    throw_input("a time such as 2h, 90m, 45s or 1h30m was expected, got '{}'", text);
  }
  return seconds;
}

}  // namespace dgat::study
