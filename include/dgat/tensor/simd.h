#pragma once

#include <string>

/// Which instructions the kernels use. Chosen once, when first needed: the best level of this
/// processor, or the one named by the environment variable DGAT_SIMD (baseline, avx2, avx512).
/// Results have the same bits at every thread count, but differ in the last bits between levels.
namespace dgat::tensor {

enum class SimdLevel { kBaseline, kAvx2, kAvx512 };

SimdLevel best_simd_level();  ///< what this processor can do
SimdLevel simd_level();       ///< what is used
/// For tests; not while an operation runs. Throws InputError when the processor cannot do it.
void set_simd_level(SimdLevel level);
std::string to_string(SimdLevel level);

}  // namespace dgat::tensor
