// dgat._core: what the Python package is made of.
#include "bindings.h"
#include "blas_copy.h"
#include "dgat/train/results_version.h"

namespace py = pybind11;

PYBIND11_MODULE(_core, module) {
  using namespace dgat::python;
  use_own_blas();
  add_calls(module);
  add_graph(module);
  add_dataset(module);
  add_spectral(module);
  add_options(module);
  add_training(module);
  add_studies(module);
  add_advice(module);
  module.def("blas", [] {
    const BlasInfo info = watched([] { return blas_info(); });
    py::dict out;
    out["file"] = info.file;
    out["kernels"] = info.kernels;
    out["threads"] = info.threads;
    out["own"] = info.own;
    return out;
  });
  module.attr("version") = DGAT_VERSION;
  module.attr("results_version") = dgat::train::kResultsVersion;
}
