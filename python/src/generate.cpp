// Generated data sets.
#include <fmt/format.h>

#include <functional>
#include <initializer_list>

#include "bindings.h"
#include "dgat/synth/csbm.h"
#include "dgat/synth/minesweeper.h"
#include "dgat/synth/mixhop.h"
#include "dgat/synth/worlds.h"

namespace py = pybind11;

namespace dgat::python {
namespace {

std::string percent(const data::SplitFractions& split) {
  return fmt::format("{:g}/{:g}/{:g}", 100 * split.train, 100 * split.val, 100 * split.test);
}

template <class Options>
struct Option {
  template <class T>
  Option(const char* name, T Options::*member)
      : add([=](py::class_<Options>& type) { type.def_readwrite(name, member); }) {}
  std::function<void(py::class_<Options>&)> add;
};

/// A class with the options of a generator as attributes, and make().
template <class Options>
py::object generator(const char* kind, data::Dataset (*make)(const Options&),
                     std::initializer_list<Option<Options>> options) {
  py::class_<Options> type(py::handle(), kind);
  for (const Option<Options>& option : options) option.add(type);
  type.def(py::init<>())
      .def_property(
          "split", [](const Options& o) { return percent(o.split); },
          [](Options& o, const std::string& text) { o.split = data::parse_split_fractions(text); })
      .def_readwrite("splits", &Options::splits)
      .def_readwrite("seed", &Options::seed)
      .def("make", [make](const Options& o) {
        return std::make_shared<data::Dataset>(watched([&] { return make(o); }));
      });
  return type;
}

}  // namespace

void add_generators(py::module_& module) {
  using synth::CsbmOptions, synth::MinesweeperOptions, synth::MixhopOptions, synth::WorldsOptions;
  py::dict kinds;
  kinds["csbm"] = generator<CsbmOptions>("csbm", &synth::csbm,
                                         {{"nodes", &CsbmOptions::nodes},
                                          {"classes", &CsbmOptions::classes},
                                          {"degree", &CsbmOptions::degree},
                                          {"homophily", &CsbmOptions::homophily},
                                          {"features", &CsbmOptions::features},
                                          {"signal", &CsbmOptions::signal}});
  kinds["minesweeper"] = generator<MinesweeperOptions>("minesweeper", &synth::minesweeper,
                                                       {{"height", &MinesweeperOptions::height},
                                                        {"width", &MinesweeperOptions::width},
                                                        {"mines", &MinesweeperOptions::mines},
                                                        {"unknown", &MinesweeperOptions::unknown}});
  kinds["mixhop"] = generator<MixhopOptions>("mixhop", &synth::mixhop,
                                             {{"mu", &MixhopOptions::mu},
                                              {"nodes", &MixhopOptions::nodes},
                                              {"classes", &MixhopOptions::classes},
                                              {"edges_per_node", &MixhopOptions::edges_per_node},
                                              {"start", &MixhopOptions::start}});
  kinds["worlds"] = generator<WorldsOptions>("worlds", &synth::worlds,
                                             {{"nodes", &WorldsOptions::nodes},
                                              {"worlds", &WorldsOptions::worlds},
                                              {"degree", &WorldsOptions::degree},
                                              {"crossing", &WorldsOptions::crossing},
                                              {"homophily", &WorldsOptions::homophily},
                                              {"features", &WorldsOptions::features},
                                              {"noise", &WorldsOptions::noise}});
  module.attr("generators") = kinds;
}

}  // namespace dgat::python
