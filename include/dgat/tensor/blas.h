#pragma once

#include <string>

/// The BLAS library behind gemm.h.
namespace dgat::tensor {

/// Loads OpenBLAS, lets a call use the calling thread only, and selects kernels that fit
/// the processor. Before version 0.3.25, OpenBLAS treats a processor newer than itself as
/// a Prescott of 2004, at a fifth of the speed. Kernels chosen by the user
/// (OPENBLAS_CORETYPE) are left alone. The first product calls this function. A program
/// with threads of its own calls it before it starts them: no thread may be inside
/// OpenBLAS or read the environment meanwhile. Throws: ComputeError if OpenBLAS cannot be
/// loaded.
void prepare_blas();

/// An OpenBLAS that dlopen() has opened.
struct BlasLibrary {
  void* handle = nullptr;
  bool shared = false;  ///< others use it, too: its threads and kernels stay as they are
};
/// For a process that uses OpenBLAS itself: `open` gives the library of all products. Call it
/// before the first one. Without it, dgat opens that of the system for itself.
void open_blas_with(BlasLibrary (*open)());

/// The kernels in use, by the library's own name: "SkylakeX".
std::string blas_kernels();

}  // namespace dgat::tensor
