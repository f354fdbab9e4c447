// Graph, homophily.
#include <fmt/format.h>

#include <memory>

#include "bindings.h"
#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/components.h"
#include "dgat/graph/homophily.h"

namespace py = pybind11;

namespace dgat::python {
namespace {
using namespace py::literals;
using graph::CsrGraph;
using GraphPointer = std::shared_ptr<const CsrGraph>;

/// Rows of edge_index: source, target. Weights: one per column, or none.
py::tuple build(const Input<int64_t>& edge_index, const Input<float>& weights, int64_t nodes,
                bool directed) {
  if (edge_index.ndim() != 2 || edge_index.shape(0) != 2) {
    throw InputError(
        "edge_index: must have the shape [2, edges]: a row of sources and a row of "
        "targets; transpose a list of pairs");
  }
  if (nodes < 0 || nodes > INT32_MAX) {
    throw_input("num_nodes: must lie in [0, {}], got {}", INT32_MAX, nodes);
  }
  const auto count = static_cast<size_t>(edge_index.shape(1));
  const std::span<const int64_t> all = span_of(edge_index);
  graph::BuildResult built = watched([&] {
    std::vector<graph::Edge> edges(count);
    for (size_t e = 0; e < count; ++e) {
      for (const int64_t end : {all[e], all[count + e]}) {
        if (end < 0 || end >= nodes) {
          throw_input("edge_index[:, {}]: node {} is outside [0, {})", e, end, nodes);
        }
      }
      edges[e] = {static_cast<graph::NodeId>(all[e]), static_cast<graph::NodeId>(all[count + e])};
    }
    if (weights.size() > 0 && static_cast<size_t>(weights.size()) != count) {
      throw_input("edge_weight: one per edge was expected, got {} for {} edges", weights.size(),
                  count);
    }
    return graph::build_graph(static_cast<graph::NodeId>(nodes), edges, span_of(weights),
                              {.directed = directed});
  });
  return py::make_tuple(std::make_shared<const CsrGraph>(std::move(built.graph)), built.self_loops,
                        built.duplicates);
}

GraphPointer from_rows(const Input<int64_t>& indptr, const Input<int32_t>& indices, bool directed,
                       const Input<float>& weights) {
  try {
    return std::make_shared<const CsrGraph>(vector_of(indptr), vector_of(indices), directed,
                                            vector_of(weights));
  } catch (const InternalError&) {
    throw InputError("graph: these arrays are not rows of a simple graph");
  }
}

py::dict homophily(const CsrGraph& graph, const Input<int32_t>& labels, int classes,
                   bool skip_isolated) {
  graph::Homophily h = watched([&] {
    return graph::measure_homophily(graph, span_of(labels), classes,
                                    {.skip_isolated = skip_isolated});
  });
  return py::dict("node"_a = h.node, "edge"_a = h.edge, "class"_a = h.class_,
                  "adjusted_edge"_a = h.adjusted_edge,
                  "label_informativeness"_a = h.label_informativeness,
                  "node_label_informativeness"_a = h.node_label_informativeness,
                  "aggregation"_a = h.aggregation, "aggregation_raw"_a = h.aggregation_raw,
                  "labelled_nodes"_a = h.labelled_nodes, "labelled_edges"_a = h.labelled_edges,
                  "class_counts"_a = owned(std::move(h.class_counts)),
                  "compatibility"_a = owned(std::move(h.compatibility), {classes, classes}));
}

}  // namespace

void add_graph(py::module_& module) {
  py::class_<CsrGraph, std::shared_ptr<CsrGraph>>(module, "CsrGraph")
      .def_property_readonly("nodes", &CsrGraph::nodes)
      .def_property_readonly("edges", &CsrGraph::edges)
      .def_property_readonly("arcs", &CsrGraph::arcs)
      .def_property_readonly("directed", &CsrGraph::directed)
      .def_property_readonly("indptr",
                             [](const py::object& self) {
                               const auto& g = self.cast<const CsrGraph&>();
                               return view(g.offsets(), {g.nodes() + 1}, self);
                             })
      .def_property_readonly("indices",
                             [](const py::object& self) {
                               const auto& g = self.cast<const CsrGraph&>();
                               return view(g.targets(), {g.arcs()}, self);
                             })
      .def_property_readonly("weights",  // empty: all 1
                             [](const py::object& self) {
                               const auto& g = self.cast<const CsrGraph&>();
                               return view(g.weights(), {g.weighted() ? g.arcs() : 0}, self);
                             });
  module.def("build_graph", &build, py::arg("edge_index"), py::arg("weights"), py::arg("nodes"),
             py::arg("directed"));
  module.def("graph_from_rows", &from_rows, py::arg("indptr"), py::arg("indices"),
             py::arg("directed"), py::arg("weights"));
  module.def(
      "components",
      [](const CsrGraph& graph) {
        return owned(std::move(graph::connected_components(graph).of_node));
      },
      py::arg("graph"));
  module.def("homophily", &homophily, py::arg("graph"), py::arg("labels"), py::arg("classes"),
             py::arg("skip_isolated"));
}

}  // namespace dgat::python
