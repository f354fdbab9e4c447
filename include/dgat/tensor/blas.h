#pragma once

#include <string>

/// The BLAS library behind gemm.h.
namespace dgat::tensor {

/// Done once, before the first product: a call uses the calling thread only, and the library uses
/// kernels that fit the processor. OpenBLAS knows processors by their model number; before version
/// 0.3.25 it takes one that is newer than itself for a Prescott of 2004, at a fifth of the speed.
/// Kernels chosen by the user (OPENBLAS_CORETYPE) are left alone.
/// The first product does it, too; a program with threads of its own calls it before it starts
/// them, because none of them may be inside OpenBLAS or read the environment meanwhile.
void prepare_blas();

/// Whose kernels the library uses, in its own words: "SkylakeX".
std::string blas_kernels();

}  // namespace dgat::tensor
