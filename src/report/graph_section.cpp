#include <fmt/format.h>

#include "bins.h"
#include "dgat/graph/components.h"
#include "dgat/graph/degrees.h"
#include "dgat/graph/homophily.h"
#include "sections.h"

namespace dgat::report {
namespace {

Facts graph_card(const data::Dataset& dataset) {
  const graph::Components components = graph::connected_components(dataset.graph);
  const graph::DegreeSummary degrees = graph::degree_summary(dataset.graph);
  const int64_t largest =
      components.count() > 0 ? components.sizes[static_cast<size_t>(components.largest())] : 0;
  return {"Data set",
          {{"name", dataset.name},
           {"nodes", grouped(dataset.graph.nodes())},
           {"edges", grouped(dataset.graph.edges())},
           {"features", grouped(dataset.features.cols())},
           {"classes", std::to_string(dataset.classes_present())},
           {"splits", std::to_string(dataset.splits.size())},
           {"components", grouped(components.count())},
           {"largest component", grouped(largest) + " nodes"},
           {"isolated nodes", grouped(components.isolated())},
           {"degree", fmt::format("{} … {:g} … {} (median in the middle)", degrees.min,
                                  degrees.median, grouped(degrees.max))},
           {"self loops dropped", grouped(dataset.dropped_self_loops)},
           {"duplicates dropped", grouped(dataset.dropped_duplicates)}}};
}

BarChart degree_chart(const graph::CsrGraph& graph) {
  int64_t largest = 0;
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) largest = std::max(largest, graph.degree(i));
  const DoublingBins bins(largest);
  std::vector<double> counts(bins.names.size(), 0);
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) counts[bins.of(graph.degree(i))] += 1;
  return {.title = "Degrees",
          .note = {},
          .x_label = "degree",
          .y_label = "nodes",
          .format = Format::kInteger,
          .groups = bins.names,
          .series = {{.name = "nodes", .values = counts}}};
}

}  // namespace

Section graph_section(const data::Dataset& dataset) {
  const graph::Homophily h =
      graph::measure_homophily(dataset.graph, dataset.labels, dataset.classes);
  const Table homophily{
      "Homophily",
      "How similar neighbours are, on the graph as it was read and with all labels.",
      {{"measure", Format::kText}, {"value", Format::kNumber}},
      {{"node", h.node},
       {"edge", h.edge},
       {"class", h.class_},
       {"adjusted edge", h.adjusted_edge},
       {"label informativeness", h.label_informativeness},
       {"node label informativeness", h.node_label_informativeness},
       {"aggregation", h.aggregation}}};
  const std::vector<std::string> names = class_names(dataset);
  const Heatmap compatibility{"Compatibility of classes",
                              "Row: class of a node. Column: class of a random neighbour. Percent.",
                              "class",
                              "class of the neighbour",
                              Format::kPercent,
                              names,
                              names,
                              h.compatibility};
  const std::vector<double> counts(h.class_counts.begin(), h.class_counts.end());
  const BarChart classes{.title = "Class sizes",
                         .note = {},
                         .x_label = "class",
                         .y_label = "nodes",
                         .format = Format::kInteger,
                         .groups = names,
                         .series = {{.name = "nodes", .values = counts}}};
  return {"Graph",
          "",
          {graph_card(dataset), homophily, degree_chart(dataset.graph), compatibility, classes}};
}

}  // namespace dgat::report
