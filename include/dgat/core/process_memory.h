#pragma once

#include <cstdint>

namespace dgat {

/// The largest resident memory of this process so far, in bytes. Read from VmHWM of Linux: the
/// ru_maxrss of getrusage() survives exec, so a program started by a large process would report
/// that process's memory. Other systems use getrusage().
int64_t peak_rss_bytes();

/// Starts a new measurement (Linux; without permission the old one continues).
void reset_peak_rss();

}  // namespace dgat
