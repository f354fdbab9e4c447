#pragma once

#include <cstdint>
#include <string>

namespace dgat::study {

/// What made a result. Empty texts: not known.
struct Origin {
  int64_t results_version = 1;  ///< train::kResultsVersion of the program; 1: a line without one
  std::string commit;           ///< of the sources; with "+" if they were changed since
  std::string date;             ///< UTC: 2026-11-18
  std::string processor;        ///< its name in /proc/cpuinfo
  std::string instruction_set;  ///< of the kernels: baseline, avx2, avx512
};

/// That of a result made now, by this program on this machine.
Origin present_origin();

}  // namespace dgat::study
