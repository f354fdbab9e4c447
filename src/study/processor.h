#pragma once

#include <string>

namespace dgat::study {

/// The value of the first "model name" in /proc/cpuinfo; empty when there is none.
std::string processor_name();

}  // namespace dgat::study
