#include "processor.h"

#include <fmt/format.h>

#include <fstream>
#include <string>
#include <thread>

#include "dgat/study/engine.h"

namespace dgat::study {

std::string processor_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t begin = line.find_first_not_of(" \t", line.find(':') + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

std::string machine_description() {
  std::string cpu = processor_name();
  if (cpu.empty()) cpu = "unknown processor";
  return fmt::format("{}, {} cores", cpu, std::thread::hardware_concurrency());
}

}  // namespace dgat::study
