#include "process.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <charconv>
#include <fstream>
#include <string>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/study/engine.h"

namespace dgat::study {
namespace {

/// The value behind "KEY:" in one of the text files of /proc; empty when it is not there.
std::string proc_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(key)) continue;
    const size_t colon = line.find(':');
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

}  // namespace

void reset_peak_rss() {
  std::ofstream("/proc/self/clear_refs") << 5;
}

int64_t peak_rss_bytes() {
  const std::string text = proc_value("/proc/self/status", "VmHWM");
  int64_t kib = 0;
  std::from_chars(text.data(), text.data() + text.size(), kib);
  if (kib == 0) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    kib = usage.ru_maxrss;
  }
  return kib * 1024;
}

std::string machine_description() {
  std::string cpu = proc_value("/proc/cpuinfo", "model name");
  if (cpu.empty()) cpu = "unknown processor";
  return fmt::format("{}, {} cores", cpu, std::thread::hardware_concurrency());
}

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
