#pragma once

#include <string>

namespace dgat::python {

/// Products use a copy of OpenBLAS that NumPy does not see; called when the module is loaded.
void use_own_blas();

/// The OpenBLAS behind dgat in this process.
struct BlasInfo {
  std::string file;     ///< what was loaded
  std::string kernels;  ///< by its own name: "SkylakeX"
  int threads = 0;
  bool own = false;  ///< a copy that NumPy does not use
};
/// Loads it where that has not been done.
BlasInfo blas_info();

}  // namespace dgat::python
