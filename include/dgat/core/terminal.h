#pragma once

/// What a terminal behind standard output or standard error can show.
namespace dgat {

/// Columns of the terminal that standard output is; 0 when it is a file or a pipe.
int output_width();

/// Whether colours may be written: it is a terminal that is not "dumb", and the environment
/// variable NO_COLOR is unset or empty (https://no-color.org).
bool output_takes_colours();
bool errors_take_colours();

}  // namespace dgat
