// Data sets: from files, from arrays, as arrays.
#include "dgat/data/dataset.h"

#include <algorithm>

#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "dgat/data/splits.h"
#include "dgat/train/inputs.h"
#include "dgat/train/node_features.h"
#include "dgat/train/option_table.h"

namespace py = pybind11;

namespace dgat::python {
namespace {

using data::Dataset;
using data::Features;
using Holder = std::shared_ptr<Dataset>;

Features dense_features(const Input<float>& values) {
  if (values.ndim() != 2) {
    throw_input("features: must have the shape [nodes, features], got {} dimensions",
                values.ndim());
  }
  return Features::compact(values.shape(0), values.shape(1), vector_of(values));
}

/// Rows sorted, no zeros. Full matrices are stored densely, as the readers of files do.
Features sparse_features(int64_t rows, int64_t cols, const Input<int64_t>& offsets,
                         const Input<int32_t>& columns, const Input<float>& values) {
  if (offsets.size() != rows + 1 || columns.size() != values.size()) {
    throw InputError("features: the arrays are not those of a CSR matrix");
  }
  Features sparse =
      Features::sparse(rows, cols, vector_of(offsets), vector_of(columns), vector_of(values));
  const double full = static_cast<double>(rows) * static_cast<double>(cols);
  if (static_cast<double>(sparse.nonzeros()) < Features::kSparseBelow * full) return sparse;
  return Features::dense(rows, cols, sparse.to_dense());
}

struct Names {
  std::vector<std::string> nodes, classes, features;
};

Holder make(const std::string& name, const graph::CsrGraph& graph, const Features& features,
            const Input<int32_t>& labels, int32_t classes,
            const std::vector<std::array<Input<int32_t>, 3>>& splits, const Names& names) {
  auto dataset = std::make_shared<Dataset>();
  dataset->name = name;
  dataset->graph = graph;
  dataset->features = features;
  dataset->labels = vector_of(labels);
  dataset->classes = classes;
  for (const auto& [train, val, test] : splits) {
    data::Split split{vector_of(train), vector_of(val), vector_of(test)};
    for (auto* part : {&split.train, &split.val, &split.test}) std::ranges::sort(*part);
    dataset->splits.push_back(std::move(split));
  }
  dataset->node_ids = names.nodes;
  dataset->class_names = names.classes;
  dataset->feature_names = names.features;
  watched([&] { data::validate(*dataset, name); });
  return dataset;
}

/// None without features.
py::object dense_view(const py::object& self) {
  const auto& f = self.cast<const Dataset&>().features;
  if (f.empty()) return py::none();
  if (!f.is_sparse()) return view(f.values(), {f.rows(), f.cols()}, self);
  return owned(watched([&] { return f.to_dense(); }), {f.rows(), f.cols()});
}

/// (indptr, indices, data), None for dense features.
py::object sparse_view(const py::object& self) {
  const auto& f = self.cast<const Dataset&>().features;
  if (!f.is_sparse()) return py::none();
  return py::make_tuple(view(f.offsets(), {f.rows() + 1}, self),
                        view(f.columns(), {f.nonzeros()}, self),
                        view(f.values(), {f.nonzeros()}, self));
}

py::array mask(const Dataset& dataset, const std::string& part) {
  const auto nodes = static_cast<size_t>(dataset.graph.nodes()), count = dataset.splits.size();
  auto member = part == "train" ? &data::Split::train
                : part == "val" ? &data::Split::val
                                : &data::Split::test;
  py::array_t<bool> out(Shape{static_cast<py::ssize_t>(nodes), static_cast<py::ssize_t>(count)});
  bool* const data = out.mutable_data();
  std::fill_n(data, nodes * count, false);
  for (size_t s = 0; s < count; ++s) {
    for (const graph::NodeId node : dataset.splits[s].*member) {
      data[static_cast<size_t>(node) * count + s] = true;
    }
  }
  out.attr("flags").attr("writeable") = false;
  return out;
}

py::tuple split(const py::object& self, size_t number) {
  const auto& dataset = self.cast<const Dataset&>();
  if (number >= dataset.splits.size()) {
    throw_input("split: {} is outside [0, {}): the splits of {}", number, dataset.splits.size(),
                dataset.name);
  }
  const data::Split& s = dataset.splits[number];
  const auto array = [&](const std::vector<graph::NodeId>& part) {
    return view(std::span(part), {static_cast<py::ssize_t>(part.size())}, self);
  };
  return py::make_tuple(array(s.train), array(s.val), array(s.test));
}

Holder load(const std::string& path, const train::Settings& settings, const std::string& format,
            bool needs_splits) {
  train::Settings all = settings;
  all["data"] = path;
  data::LoadOptions options = train::load_options(train::resolve(all), needs_splits);
  options.format = format;
  return std::make_shared<Dataset>(watched([&] { return data::load_dataset(path, options); }));
}

}  // namespace

DatasetPointer with_splits(const DatasetPointer& dataset, const train::Settings& settings,
                           bool required) {
  if (settings.contains("directed")) {
    throw InputError("directed: is decided when a graph is made: dgat.load(path, directed=True)");
  }
  const bool asked = std::ranges::any_of(std::array{"split", "splits", "split_file"},
                                         [&](const char* key) { return settings.contains(key); });
  if (!asked && (!required || !dataset->splits.empty())) return dataset;
  train::Settings about;
  for (const char* key : {"split", "splits", "split_file", "seed"}) {
    if (settings.contains(key)) about[key] = settings.at(key);
  }
  auto copy = std::make_shared<Dataset>(*dataset);
  data::apply_split_options(*copy, train::load_options(train::resolve(about), required).splits);
  return copy;
}

DatasetPointer with_features(const DatasetPointer& dataset, train::FeatureSource source) {
  if (source == train::FeatureSource::kAuto && !dataset->features.empty()) return dataset;
  auto copy = std::make_shared<Dataset>(*dataset);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  train::make_node_features(*copy, source, cache);
  return copy;
}

void add_dataset(py::module_& module) {
  py::class_<Features>(module, "Features").def_property_readonly("rows", &Features::rows);
  module.def("dense_features", &dense_features, py::arg("values"));
  module.def("sparse_features", &sparse_features, py::arg("rows"), py::arg("cols"),
             py::arg("offsets"), py::arg("columns"), py::arg("values"));
  py::class_<Dataset, Holder>(module, "Dataset")
      .def_readonly("name", &Dataset::name)
      .def_readonly("classes", &Dataset::classes)
      .def_readonly("node_ids", &Dataset::node_ids)
      .def_readonly("class_names", &Dataset::class_names)
      .def_readonly("feature_names", &Dataset::feature_names)
      .def_property_readonly("num_splits", [](const Dataset& d) { return d.splits.size(); })
      .def_property_readonly(
          "graph",  // shares the data set's memory
          [](const Holder& d) { return std::shared_ptr<graph::CsrGraph>(d, &d->graph); })
      .def_property_readonly("features", [](const Dataset& d) { return d.features; })
      .def_property_readonly("feature_count", [](const Dataset& d) { return d.features.cols(); })
      .def_property_readonly("labels",
                             [](const py::object& self) {
                               const auto& d = self.cast<const Dataset&>();
                               return view(std::span(d.labels), {d.graph.nodes()}, self);
                             })
      .def_property_readonly("dense", &dense_view)
      .def_property_readonly("sparse", &sparse_view)
      .def("mask", &mask, py::arg("part"))
      .def("split", &split, py::arg("number"))
      .def(
          "save",
          [](const Dataset& d, const std::string& path, const std::string& format) {
            watched([&] { data::save_dataset(d, path, format); });
          },
          py::arg("path"), py::arg("format"))
      .def(
          "with_splits",
          [](const Holder& d, const train::Settings& settings, bool required) {
            return holder(with_splits(d, settings, required));
          },
          py::arg("settings"), py::arg("required"));
  module.def("load", &load, py::arg("path"), py::arg("settings"), py::arg("format"),
             py::arg("needs_splits"));
  module.def(
      "make_dataset",
      [](const std::string& name, const graph::CsrGraph& graph, const Features& features,
         const Input<int32_t>& labels, int32_t classes,
         const std::vector<std::array<Input<int32_t>, 3>>& splits,
         const std::vector<std::string>& node_ids, const std::vector<std::string>& class_names,
         const std::vector<std::string>& feature_names) {
        return make(name, graph, features, labels, classes, splits,
                    {node_ids, class_names, feature_names});
      },
      py::arg("name"), py::arg("graph"), py::arg("features"), py::arg("labels"), py::arg("classes"),
      py::arg("splits"), py::arg("node_ids"), py::arg("class_names"), py::arg("feature_names"));
  module.def("no_features", [] { return Features(); });
  module.def(
      "random_split",
      [](const Input<int32_t>& labels, int32_t classes, double train, double val, uint64_t seed) {
        data::Split split = data::random_splits(vector_of(labels), classes,
                                                {.train = train, .val = val, .test = 0}, 1, seed)
                                .front();
        return py::make_tuple(owned(std::move(split.train)), owned(std::move(split.val)));
      },
      py::arg("labels"), py::arg("classes"), py::arg("train"), py::arg("val"), py::arg("seed"));
}

}  // namespace dgat::python
