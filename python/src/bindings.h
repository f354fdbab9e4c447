#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>

#include "arrays.h"
#include "call.h"
#include "dgat/data/dataset.h"
#include "dgat/train/config.h"

/// The parts of the module dgat._core. The package beside it (python/dgat) has the names, defaults
/// and documentation that users see; here is no more than the passage of values.
namespace dgat::python {

using DatasetPointer = std::shared_ptr<const data::Dataset>;

void add_graph(pybind11::module_& module);
void add_dataset(pybind11::module_& module);
void add_generators(pybind11::module_& module);
void add_spectral(pybind11::module_& module);
void add_options(pybind11::module_& module);
void add_training(pybind11::module_& module);
void add_studies(pybind11::module_& module);
void add_advice(pybind11::module_& module);

/// The data set with the splits that the settings ask for; the same object when they ask for none.
/// Throws: InputError when a setting says how to read a file.
DatasetPointer with_splits(const DatasetPointer& dataset, const train::Settings& settings,
                           bool required);

/// The data set with features made from the graph where it has none or the settings ask for them;
/// otherwise the same object.
DatasetPointer with_features(const DatasetPointer& dataset, train::FeatureSource source);

/// pybind11 has no constant holders.
inline std::shared_ptr<data::Dataset> holder(const DatasetPointer& dataset) {
  return std::const_pointer_cast<data::Dataset>(dataset);
}

}  // namespace dgat::python
