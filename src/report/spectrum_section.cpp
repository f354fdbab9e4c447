#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bins.h"
#include "dgat/spectral/distances.h"
#include "sections.h"

namespace dgat::report {
namespace {

spectral::NodeVectors model_vectors(const GraphAnalysis& a) {
  const auto nodes = static_cast<int64_t>(a.graph.nodes());
  return {std::span(a.phi).first(static_cast<size_t>(nodes * a.vectors)), nodes, a.vectors};
}

Facts spectrum_card(const GraphAnalysis& a) {
  const spectral::EigenResult& s = *a.spectrum;
  const auto phi = std::span(a.phi).first(static_cast<size_t>(a.graph.nodes()));
  const double participation = spectral::participation_ratio(phi);
  return {"Eigenvector",
          {{"operator", fmt::format("L(α={:g}, γ={:g})", a.alpha, a.spectrum->gamma)},
           {"smallest positive eigenvalue", short_number(s.eigenvalues[0])},
           {"gap to the next", short_number(s.gaps[0])},
           {"residual", short_number(s.residuals[0])},
           {"multiplicity", std::to_string(s.multiplicity[0])},
           {"participation ratio", short_number(participation)},
           {"nodes that matter",
            fmt::format("about {}", grouped(std::llround(participation * a.graph.nodes())))},
           {"components", std::string(to_string(s.policy))},
           {"solver", s.solver},
           {"converged", s.converged ? "yes" : "no"},
           {"read by the model", a.used_by_model ? "yes" : "no"}}};
}

LineChart profile(const GraphAnalysis& a) {
  const auto nodes = static_cast<size_t>(a.graph.nodes());
  std::vector<double> sorted(a.phi.begin(), a.phi.begin() + static_cast<ptrdiff_t>(nodes));
  std::sort(sorted.begin(), sorted.end());
  Line line{.name = "φ", .x = {}, .y = {}};
  for (const size_t k : evenly_spaced(nodes, 500)) {
    line.x.push_back(static_cast<double>(k + 1) / static_cast<double>(nodes));
    line.y.push_back(sorted[k]);
  }
  return {.title = "Profile of φ",
          .note = "Nodes sorted by φ. A flat line with steep ends means that few nodes carry it.",
          .x_label = "share of nodes",
          .y_label = "φ",
          .lines = {line}};
}

Histogram distances(const GraphAnalysis& a) {
  const std::vector<double> d = spectral::edge_distances(a.graph, model_vectors(a));
  const LogHistogram histogram(d, 40);
  Histogram chart{.title = "Spectral distance over the edges",
                  .note = {},
                  .x_label = "|φᵢ − φⱼ|",
                  .y_label = "edges",
                  .edges = histogram.edges,
                  .series = {{.name = "edges", .values = histogram.counts}},
                  .markers = {},
                  .log_x = true};
  if (histogram.zeros > 0) {
    chart.note = fmt::format("{} edges with distance 0 are not drawn. ", grouped(histogram.zeros));
  }
  const rewire::RewireReport& report = a.rewired.report;
  if (report.mode.prune != rewire::Prune::kNone) {
    chart.markers.push_back({report.epsilon, fmt::format("ε = {:.3g}", report.epsilon)});
    chart.note += report.mode.prune == rewire::Prune::kNear ? "Edges left of ε are dropped."
                                                            : "Edges right of ε are dropped.";
  }
  return chart;
}

LineChart eigenvalues(const GraphAnalysis& a) {
  Line line{.name = "λ", .x = {}, .y = {}};
  for (size_t k = 0; k < a.spectrum->eigenvalues.size(); ++k) {
    if (a.spectrum->multiplicity[k] == 0) break;  // the graph has no more
    line.x.push_back(static_cast<double>(k + 1));
    line.y.push_back(a.spectrum->eigenvalues[k]);
  }
  return {.title = "Smallest positive eigenvalues",
          .note =
              "On a graph of several components under the policy `each`: the smallest k-th "
              "eigenvalue of any component.",
          .x_label = "k",
          .y_label = "λ",
          .lines = {line},
          .points = true};
}

int64_t labelled_edges(const graph::CsrGraph& graph, std::span<const int32_t> labels) {
  int64_t arcs = 0;
  for (graph::NodeId i = 0; i < graph.nodes(); ++i) {
    if (labels[static_cast<size_t>(i)] < 0) continue;
    for (const graph::NodeId j : graph.neighbors(i)) {
      arcs += labels[static_cast<size_t>(j)] >= 0 ? 1 : 0;
    }
  }
  return arcs / 2;
}

Table rewiring(const GraphAnalysis& a) {
  const rewire::RewireReport& r = a.rewired.report;
  const auto count = [](int64_t value) { return static_cast<double>(value); };
  return {fmt::format("Rewiring: {}", rewire::to_string(r.mode)),
          fmt::format("Homophily counts edges between training nodes of split {}.", a.split),
          {{"", Format::kText}, {"before", Format::kNumber}, {"after", Format::kNumber}},
          {{"edges", count(r.edges_before), count(r.edges_after)},
           {"dropped", std::nan(""), count(r.dropped)},
           {"added", std::nan(""), count(r.added)},
           {"edge homophily", r.homophily_before, r.homophily_after},
           {"edges that it counts", count(labelled_edges(a.graph, a.training_labels)),
            count(labelled_edges(a.rewired.graph, a.training_labels))},
           {"components", count(r.components_before), count(r.components_after)},
           {"nodes without neighbours", std::nan(""), count(r.isolated_after)}}};
}

}  // namespace

Section spectrum_section(const GraphAnalysis& a) {
  Section section{"Spectrum and rewiring", "", {spectrum_card(a), rewiring(a), profile(a)}};
  Histogram histogram = distances(a);
  if (!histogram.edges.empty()) section.blocks.emplace_back(std::move(histogram));
  LineChart values = eigenvalues(a);
  if (values.lines[0].x.size() > 1) section.blocks.emplace_back(std::move(values));
  return section;
}

}  // namespace dgat::report
