#include "dgat/tensor/blas.h"

#include <cblas.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "blas_kernels.h"

extern "C" {
// Not in its header, and there in every build of OpenBLAS that chooses kernels at run time: forget
// the choice, and choose again by OPENBLAS_CORETYPE or by the processor.
void gotoblas_dynamic_quit() __attribute__((weak));
void gotoblas_dynamic_init() __attribute__((weak));
}

namespace dgat::tensor {
namespace {

constexpr const char* kChoice = "OPENBLAS_CORETYPE";

/// Kernels without AVX2, which no processor needs that has it.
constexpr std::array<std::string_view, 16> kOld = {
    "Katmai",  "Coppermine",   "Northwood",  "Banias",     "Prescott", "Athlon",
    "Core2",   "Penryn",       "Dunnington", "Nehalem",    "Atom",     "Nano",
    "Opteron", "Opteron_SSE3", "Barcelona",  "Sandybridge"};

}  // namespace

std::string_view better_kernels(std::string_view present, SimdLevel level) {
  if (std::find(kOld.begin(), kOld.end(), present) == kOld.end()) return {};
  if (level == SimdLevel::kAvx512) return "SkylakeX";
  return level == SimdLevel::kAvx2 ? "Haswell" : "";
}

bool use_kernels(const std::string& name) {
  if (gotoblas_dynamic_quit == nullptr || gotoblas_dynamic_init == nullptr) return false;
  const char* given = std::getenv(kChoice);
  const std::string before = given != nullptr ? given : "";
  setenv(kChoice, name.c_str(), 1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  if (given != nullptr) {
    setenv(kChoice, before.c_str(), 1);
  } else {
    unsetenv(kChoice);
  }
  return blas_kernels() == name;
}

void prepare_blas() {
  static const bool done = [] {
    openblas_set_num_threads(1);
    const std::string_view better = better_kernels(blas_kernels(), best_simd_level());
    if (std::getenv(kChoice) == nullptr && !better.empty()) use_kernels(std::string(better));
    return true;
  }();
  (void)done;
}

std::string blas_kernels() {
  return openblas_get_corename();
}

}  // namespace dgat::tensor
