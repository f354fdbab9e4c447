#pragma once

#include <functional>
#include <string>

namespace dgat::app {

struct ProgramOptions {
  std::string name = "dgat";           ///< in front of an error
  std::function<void()> before_error;  ///< called before an error is printed
};

/// The command line: runs the verb that the arguments name and returns the exit code. Errors go to
/// standard error.
int run_program(int argc, char** argv, const ProgramOptions& options = {});

}  // namespace dgat::app
