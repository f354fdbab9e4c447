// Eigenvectors and the graphs rewired along them.
#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/rewire/rewire.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/train/directions.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
using namespace py::literals;

using graph::CsrGraph;
using spectral::EigenOptions;
using spectral::EigenResult;

/// Settings: options of the group Direction, and seed.
py::dict solve(const CsrGraph& graph, const train::Settings& settings, const std::string& solver) {
  const train::Config config = train::resolve(settings);
  EigenOptions options = train::eigen_options(config);
  options.solver = spectral::solver_from(solver);
  const double alpha = train::laplacian_of(config).alpha;
  struct Answer {
    EigenResult result;
    std::vector<double> phi, participation;
  };
  Answer answer = watched([&] {
    Answer a;
    a.result = graph.directed() ? spectral::solve_spectrum(graph::symmetrised(graph), options)
                                : spectral::solve_spectrum(graph, options);
    a.phi = a.result.phi(alpha);
    const auto nodes = static_cast<size_t>(a.result.nodes);
    for (int m = 0; m < a.result.k; ++m) {
      const std::span<const double> column =
          std::span(a.phi).subspan(static_cast<size_t>(m) * nodes, nodes);
      a.participation.push_back(spectral::participation_ratio(column));
    }
    return a;
  });
  EigenResult& r = answer.result;
  py::dict out;
  out["alpha"] = alpha;
  out["gamma"] = r.gamma;
  out["eigenvectors"] = owned(std::move(answer.phi), {r.nodes, r.k}, true);
  out["eigenvalues"] = owned(std::move(r.eigenvalues));
  out["residuals"] = owned(std::move(r.residuals));
  out["gaps"] = owned(std::move(r.gaps));
  out["angle_bounds"] = owned(std::move(r.angle_bounds));
  out["multiplicity"] = owned(std::move(r.multiplicity));
  out["participation_ratio"] = owned(std::move(answer.participation));
  out["converged"] = r.converged;
  out["solver"] = r.solver;
  out["iterations"] = r.iterations;
  out["seconds"] = r.seconds;
  out["num_components"] = r.components;
  out["num_isolated"] = r.isolated;
  out["components"] = std::string(spectral::to_string(r.policy));
  return out;
}

py::dict report_of(const rewire::RewireReport& r) {
  return py::dict(
      "mode"_a = rewire::to_string(r.mode), "epsilon"_a = r.epsilon,
      "edges_before"_a = r.edges_before, "dropped"_a = r.dropped, "added"_a = r.added,
      "edges_after"_a = r.edges_after, "isolated_before"_a = r.isolated_before,
      "isolated_after"_a = r.isolated_after, "components_before"_a = r.components_before,
      "components_after"_a = r.components_after, "homophily_before"_a = r.homophily_before,
      "homophily_after"_a = r.homophily_after);
}

/// Row 0 the senders, row 1 the receivers: the order of PyTorch Geometric.
std::vector<int64_t> edge_index(const rewire::MessageGraph& messages) {
  const auto arcs = static_cast<size_t>(messages.arcs());
  std::vector<int64_t> index(messages.senders.begin(), messages.senders.end());
  index.resize(2 * arcs);
  for (size_t i = 0; i + 1 < messages.offsets.size(); ++i) {
    for (int64_t e = messages.offsets[i]; e < messages.offsets[i + 1]; ++e) {
      index[arcs + static_cast<size_t>(e)] = static_cast<int64_t>(i);
    }
  }
  return index;
}

using Phi = py::array_t<double, py::array::f_style | py::array::forcecast>;

py::dict rewire_graph(const CsrGraph& graph, const Phi& phi, const std::string& mode,
                      const std::optional<std::string>& epsilon, bool per_component,
                      const Input<int32_t>& training_labels, bool self_loops) {
  if (phi.ndim() != 2 || phi.shape(0) != graph.nodes()) {
    throw_input("phi: must have the shape [{}, k], a row per node", graph.nodes());
  }
  const spectral::NodeVectors vectors({phi.data(), static_cast<size_t>(phi.size())}, graph.nodes(),
                                      static_cast<int>(phi.shape(1)));
  rewire::RewireOptions options{.mode = rewire::parse_mode(mode), .per_component = per_component};
  if (epsilon) options.epsilon = rewire::parse_epsilon(*epsilon);
  struct Answer {
    rewire::RewireResult rewired;
    rewire::MessageGraph messages;
    std::vector<int64_t> index;
  };
  Answer answer = watched([&] {
    Answer a{rewire::rewire(graph, vectors, options, span_of(training_labels)), {}, {}};
    a.messages = rewire::message_graph(a.rewired.graph, vectors);
    if (!self_loops) a.messages = rewire::without_self_loops(a.messages);
    a.index = edge_index(a.messages);
    return a;
  });
  const py::ssize_t arcs = answer.messages.arcs(), columns = answer.messages.feature_count;
  py::dict out;
  out["graph"] = std::make_shared<CsrGraph>(std::move(answer.rewired.graph));
  out["edge_index"] = owned(std::move(answer.index), {2, arcs});
  out["edge_attr"] = owned(std::move(answer.messages.features), {arcs, columns});
  out["report"] = report_of(answer.rewired.report);
  return out;
}

}  // namespace

void add_spectral(py::module_& module) {
  module.def("spectrum", &solve, py::arg("graph"), py::arg("settings"), py::arg("solver"));
  module.def("rewire", &rewire_graph, py::arg("graph"), py::arg("phi"), py::arg("mode"),
             py::arg("epsilon"), py::arg("per_component"), py::arg("training_labels"),
             py::arg("self_loops"));
}

}  // namespace dgat::python
