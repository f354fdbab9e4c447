#include "dgat/core/process_memory.h"

#include <sys/resource.h>

#include <fstream>
#include <string>

namespace dgat {
namespace {

/// VmHWM in kB; 0 where there is no such file.
int64_t high_water_mark() {
  std::ifstream status("/proc/self/status");
  for (std::string key; status >> key; status.ignore(1 << 10, '\n')) {
    if (int64_t kib = 0; key == "VmHWM:" && status >> kib) return kib;
  }
  return 0;
}

}  // namespace

int64_t peak_rss_bytes() {
  int64_t kib = high_water_mark();
  if (kib == 0) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    kib = usage.ru_maxrss;
  }
  return kib * 1024;
}

void reset_peak_rss() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

}  // namespace dgat
