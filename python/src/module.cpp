// dgat._core: what the Python package is made of.
#include "bindings.h"
#include "blas_copy.h"
#include "dgat/train/results_version.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  using namespace py::literals;
  using namespace dgat::python;
  use_own_blas();
  add_calls(module);
  add_graph(module);
  add_dataset(module);
  add_generators(module);
  add_spectral(module);
  add_options(module);
  add_training(module);
  add_studies(module);
  add_advice(module);
  module.def("blas", [] {
    const BlasInfo info = watched([] { return blas_info(); });
    return py::dict("file"_a = info.file, "kernels"_a = info.kernels, "threads"_a = info.threads,
                    "own"_a = info.own);
  });
  module.attr("version") = DGAT_VERSION;
  module.attr("results_version") = dgat::train::kResultsVersion;
}
