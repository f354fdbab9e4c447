#pragma once

#include <string>
#include <vector>

namespace dgat::test {

/// What a run of the dgat binary left behind.
struct RunResult {
  int exit = -1;  ///< exit code; 128 + signal when it was killed
  std::string out, err;
};

/// Runs build/.../bin/dgat with these arguments (no shell in between) and waits for it.
RunResult run_dgat(const std::vector<std::string>& arguments);

/// Replaces this process by dgat, for a child of fork().
[[noreturn]] void exec_dgat(const std::vector<std::string>& arguments);

}  // namespace dgat::test
