// Training one split, and networks that were trained.
#include <mutex>

#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/data/fingerprint.h"
#include "dgat/report/explorer.h"
#include "dgat/report/run_page.h"
#include "dgat/study/engine.h"
#include "dgat/study/run.h"
#include "dgat/train/predict.h"
#include "dgat/train/trained_model.h"
#include "dgat/train/weights.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
namespace fs = std::filesystem;

spectral::SpectralCache& cache() {
  static auto* const shared = new spectral::SpectralCache(spectral::default_cache_folder());
  return *shared;
}

train::Existing existing_from(const std::string& name) {
  if (name == "resume") return train::Existing::kResume;
  if (name == "overwrite") return train::Existing::kOverwrite;
  if (name == "refuse") return train::Existing::kRefuse;
  throw_input("existing: must be one of refuse, resume, overwrite, got '{}'", name);
}

/// As `dgat train` with these flags, on one split; the folder holds the run afterwards.
void fit(const DatasetPointer& dataset, const train::Settings& settings, int64_t split,
         const std::string& folder, const std::string& existing) {
  const train::Existing how = existing_from(existing);
  watched([&] {
    const train::Config config = train::resolve(train::flags_over_file({}, settings), *dataset);
    const DatasetPointer used = with_features(dataset, config.features);
    const study::TrialData data{used, data::fingerprint(*used)};
    const train::RunDirectory directory(folder, how);
    study::run_training(data, config, cache(), &directory, {split});
  });
}

/// The page of a run whose data set is in memory.
void write_run_page(const std::string& folder, const DatasetPointer& dataset,
                    const std::string& page) {
  watched([&] {
    const auto config = std::make_shared<const train::Config>(
        train::resolve(train::read_settings(fs::path(folder) / "config.yaml"), *dataset));
    const DatasetPointer used = with_features(dataset, config->features);
    const study::TrialData data{used, data::fingerprint(*used)};
    const study::RunInputs inputs{data, config, study::InputStore(cache()).builder(data, config)};
    report::write_page(report::run_page(folder, cache(), {.inputs = &inputs}), page);
  });
}

/// As `dgat explore`.
void write_explorer(const DatasetPointer& dataset, const train::Settings& settings,
                    const report::ExplorerOptions& options, const std::string& page) {
  watched([&] {
    const train::Config config = train::resolve(settings, dataset->name);
    report::write_page(report::explorer_page(*dataset, config, options, cache()), page);
  });
}

/// A trained network; one call at a time is inside it.
struct Network {
  explicit Network(train::TrainedModel model) : trained(std::move(model)) {}
  train::TrainedModel trained;
  std::mutex mutex;
};

std::shared_ptr<Network> load_network(const std::string& path, int64_t split) {
  return watched([&] { return std::make_shared<Network>(train::load_trained(path, split)); });
}

/// Quiet on the graph of training: training has given its notices.
py::dict predict(Network& network, const DatasetPointer& dataset, bool embeddings, bool attention,
                 bool quiet) {
  train::Prediction p = watched([&] {
    const std::lock_guard lock(network.mutex);
    std::optional<QuietNotices> scope;
    if (quiet) scope.emplace();
    const DatasetPointer used = with_features(dataset, network.trained.config.features);
    return train::predict(network.trained, *used, cache(),
                          {.embeddings = embeddings, .attention = attention});
  });
  const auto nodes = static_cast<py::ssize_t>(p.classes.size());
  const auto arcs = static_cast<py::ssize_t>(p.senders.size());
  py::dict out;
  out["classes"] = owned(std::move(p.classes));
  out["probabilities"] = owned(std::move(p.probabilities), {nodes, p.class_count});
  if (embeddings) out["embeddings"] = owned(std::move(p.embeddings), {nodes, p.embedding_width});
  if (attention) {
    out["senders"] = owned(std::move(p.senders));
    out["receivers"] = owned(std::move(p.receivers));
    py::list layers;
    for (train::Prediction::Layer& layer : p.attention) {
      layers.append(owned(std::move(layer.weights), {arcs, layer.heads}));
    }
    out["attention"] = layers;
  }
  return out;
}

py::dict tensors_of(const std::string& path) {
  train::SafeTensors file = watched([&] { return train::read_safetensors(path); });
  py::dict tensors;
  for (train::NamedTensor& tensor : file.tensors) {
    Shape shape(tensor.shape.begin(), tensor.shape.end());
    tensors[py::str(tensor.name)] = owned(std::move(tensor.values), std::move(shape));
  }
  py::dict out;
  out["tensors"] = tensors;
  out["metadata"] = file.metadata;
  return out;
}

void write_tensors(const std::string& path, const std::map<std::string, Input<float>>& tensors,
                   const std::map<std::string, std::string>& metadata) {
  train::TensorList list;
  for (const auto& [name, values] : tensors) {
    list.add(name, {values.shape(), values.shape() + values.ndim()}, vector_of(values));
  }
  write_atomically(path, [&](std::ostream& out) { list.write(out, metadata); });
}

}  // namespace

void add_training(py::module_& module) {
  module.def(
      "fit",
      [](const std::shared_ptr<data::Dataset>& dataset, const train::Settings& settings,
         int64_t split, const std::string& folder,
         const std::string& existing) { fit(dataset, settings, split, folder, existing); },
      py::arg("dataset"), py::arg("settings"), py::arg("split"), py::arg("folder"),
      py::arg("existing"));
  module.def(
      "write_run_page",
      [](const std::string& folder, const std::shared_ptr<data::Dataset>& dataset,
         const std::string& page) { write_run_page(folder, dataset, page); },
      py::arg("folder"), py::arg("dataset"), py::arg("page"));
  module.def(
      "write_explorer",
      [](const std::shared_ptr<data::Dataset>& dataset, const train::Settings& settings,
         int64_t split, const std::string& budget, bool advise, const std::string& command,
         const std::string& page) {
        write_explorer(dataset, settings,
                       {.split = split,
                        .budget_seconds = study::parse_duration(budget),
                        .advise = advise,
                        .command = command},
                       page);
      },
      py::arg("dataset"), py::arg("settings"), py::arg("split"), py::arg("budget"),
      py::arg("advise"), py::arg("command"), py::arg("page"));
  py::class_<Network, std::shared_ptr<Network>>(module, "Network")
      .def_static("load", &load_network, py::arg("path"), py::arg("split"))
      .def_property_readonly("model", [](const Network& n) { return n.trained.config.model; })
      .def_property_readonly("layers", [](const Network& n) { return n.trained.layers; })
      .def_property_readonly("features", [](const Network& n) { return n.trained.features; })
      .def_property_readonly("classes", [](const Network& n) { return n.trained.classes; })
      .def_property_readonly("class_names", [](const Network& n) { return n.trained.class_names; })
      .def_property_readonly("dataset", [](const Network& n) { return n.trained.dataset; })
      .def(
          "predict",
          [](Network& n, const std::shared_ptr<data::Dataset>& dataset, bool embeddings,
             bool attention,
             bool quiet) { return predict(n, dataset, embeddings, attention, quiet); },
          py::arg("dataset"), py::arg("embeddings"), py::arg("attention"), py::arg("quiet"));
  module.def("read_tensors", &tensors_of, py::arg("path"));
  module.def("write_tensors", &write_tensors, py::arg("path"), py::arg("tensors"),
             py::arg("metadata"));
}

}  // namespace dgat::python
