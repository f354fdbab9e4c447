#pragma once

#include <chrono>
#include <ctime>

#include "dgat/core/parallel.h"

/// What the step benchmarks measure time with.
namespace dgat::bench {

/// Set by --cpu: for a machine that has other work to do.
inline bool cpu_time = false;

/// Seconds since some moment: on the wall, or of the processors per thread.
inline double now() {
  if (cpu_time) {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec)) /
           thread_count();
  }
  const auto wall = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(wall).count();
}

}  // namespace dgat::bench
