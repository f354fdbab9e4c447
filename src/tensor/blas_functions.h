#pragma once

#include <cblas.h>

namespace dgat::tensor {

/// What is used of OpenBLAS, loaded when the first product asks for it: a command without products
/// does not pay for loading it, and it is loaded with one thread. (Linked, it starts a thread per
/// core before main(); where memory is short, these wait for ever when the process ends.)
struct BlasFunctions {
  decltype(&cblas_sgemm) sgemm = nullptr;
  decltype(&cblas_dgemm) dgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  char* (*get_corename)() = nullptr;
  /// Not in its header, and there in every build of OpenBLAS that chooses kernels at run time:
  /// forget the choice, and choose again by OPENBLAS_CORETYPE or by the processor.
  void (*dynamic_quit)() = nullptr;
  void (*dynamic_init)() = nullptr;
  bool shared = false;  ///< see BlasLibrary
};

/// Throws: ComputeError if the library cannot be loaded.
const BlasFunctions& blas();

/// Before the first product of a thread. Throws: ComputeError if `ulimit -v` leaves no room for the
/// buffer of OpenBLAS, which asks for it again for ever.
void check_room_for_blas();

}  // namespace dgat::tensor
