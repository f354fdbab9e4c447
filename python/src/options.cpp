// The option table and the list of models, for signatures and documentation.
#include "bindings.h"
#include "dgat/nn/registry.h"
#include "dgat/study/reproduce.h"
#include "dgat/train/option_table.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
using namespace py::literals;

py::list options() {
  py::list out;
  for (const train::OptionInfo& option : train::config_options()) {
    out.append(py::dict("key"_a = option.key, "group"_a = option.group, "value"_a = option.value,
                        "meaning"_a = option.meaning, "default"_a = option.shown_default(),
                        "searchable"_a = option.searchable));
  }
  return out;
}

py::list models() {
  py::list out;
  for (const nn::ModelInfo& model : nn::all_models()) {
    py::dict extras;
    for (const nn::ExtraOption& extra : model.extras) {
      extras[py::str(extra.name)] =
          py::make_tuple(extra.value, extra.first, extra.last, extra.meaning);
    }
    out.append(py::dict("name"_a = model.name, "description"_a = model.description,
                        "equations"_a = model.equations, "reference"_a = model.reference,
                        "directional"_a = model.directional, "defaults"_a = model.defaults,
                        "extras"_a = extras));
  }
  return out;
}

/// Every option as the command line would resolve it, as text by key.
train::Settings resolved(const train::Settings& settings, const std::string& dataset) {
  const train::Config config = train::resolve(train::flags_over_file({}, settings), dataset);
  train::Settings out;
  for (const train::OptionInfo& option : train::config_options()) {
    out[option.key] = option.get(config);
  }
  return out;
}

}  // namespace

void add_options(py::module_& module) {
  module.def("options", &options);
  module.def("models", &models);
  module.def("resolve", &resolved, py::arg("settings"), py::arg("dataset"));
  module.def(
      "check_option",
      [](const std::string& key, const std::string& text) {
        train::Config probe;
        train::find_option(key).set(probe, text);
      },
      py::arg("key"), py::arg("text"));
  module.def("paper_tables", [] {
    py::dict out;
    for (const study::PaperTable& table : study::paper_tables()) {
      out[table.name] = table.what;
    }
    return out;
  });
}

}  // namespace dgat::python
