#include "dgat/core/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace dgat {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool takes_colours(int stream) {
  return isatty(stream) != 0 && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
}

}  // namespace

int output_width() {
  constexpr int kUsual = 80,
                kLeast = 20;  // a smaller one is a terminal that does not know its size
  if (isatty(STDOUT_FILENO) == 0) return 0;
  winsize size{};
  const bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= kLeast;
  return known ? size.ws_col : kUsual;
}

bool output_takes_colours() {
  return takes_colours(STDOUT_FILENO);
}

bool errors_take_colours() {
  return takes_colours(STDERR_FILENO);
}

}  // namespace dgat
