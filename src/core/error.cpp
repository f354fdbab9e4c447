#include "dgat/core/error.h"

namespace dgat {

void throw_formatted_input(fmt::string_view text, fmt::format_args args) {
  throw InputError(fmt::vformat(text, args));
}

void throw_formatted_compute(fmt::string_view text, fmt::format_args args) {
  throw ComputeError(fmt::vformat(text, args));
}

}  // namespace dgat
