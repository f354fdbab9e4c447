#pragma once

#include <string>
#include <string_view>

#include "dgat/tensor/simd.h"

namespace dgat::tensor {

/// The kernels that a processor of this level should have instead of `present`; empty: those.
std::string_view better_kernels(std::string_view present, SimdLevel level);

/// Makes OpenBLAS use kernels by name. False where this build of it has none of that name or cannot
/// change its mind.
bool use_kernels(const std::string& name);

}  // namespace dgat::tensor
