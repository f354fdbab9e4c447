#include "table_output.h"

#include "dgat/core/terminal.h"

namespace dgat::app {

std::string on_screen(const study::Table& table, size_t other_width) {
  const auto columns = static_cast<size_t>(output_width());
  return table.terminal(
      {.width = columns > 0 ? columns : other_width, .colours = output_takes_colours()});
}

}  // namespace dgat::app
