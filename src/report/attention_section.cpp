#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "bins.h"
#include "sections.h"

namespace dgat::report {
namespace {

constexpr int kDistanceBins = 20;

/// Means over the rows of one layer and head.
struct HeadFigures {
  double entropy = 0;  ///< of a row, over log(senders)
  double same = 0;     ///< attention on senders of the same class, without the node itself
  double self = 0;     ///< attention on the self loop
};

struct UniformFigures {
  double same = 0, self = 0;  ///< what even attention would give
};

int64_t row_size(const rewire::MessageGraph& g, int64_t i) {
  return g.offsets[static_cast<size_t>(i) + 1] - g.offsets[static_cast<size_t>(i)];
}

/// Sums f(arc, sender) over the row of node i.
template <class F>
double row_sum(const rewire::MessageGraph& g, int64_t i, F&& f) {
  double sum = 0;
  for (int64_t arc = g.offsets[static_cast<size_t>(i)]; arc < g.offsets[static_cast<size_t>(i) + 1];
       ++arc) {
    sum += f(arc, g.senders[static_cast<size_t>(arc)]);
  }
  return sum;
}

bool same_class(const data::Dataset& dataset, int64_t i, int32_t j) {
  const int32_t label = dataset.labels[static_cast<size_t>(i)];
  return j != i && label >= 0 && label == dataset.labels[static_cast<size_t>(j)];
}

/// Mean of figure(i) over the nodes that attend to anyone but themselves.
template <class F>
double mean_over_rows(const rewire::MessageGraph& g, F&& figure) {
  double sum = 0, rows = 0;
  for (int64_t i = 0; i < g.nodes(); ++i) {
    if (row_size(g, i) < 2) continue;
    sum += figure(i);
    rows += 1;
  }
  return rows > 0 ? sum / rows : std::nan("");
}

HeadFigures measure_head(const data::Dataset& dataset, const rewire::MessageGraph& g,
                         const LayerAttention& layer, int head) {
  const auto weight = [&](int64_t arc) -> double {
    return layer.weights[static_cast<size_t>(arc * layer.heads + head)];
  };
  return {mean_over_rows(g,
                         [&](int64_t i) {
                           const double entropy = row_sum(g, i, [&](int64_t arc, int32_t) {
                             const double w = weight(arc);
                             return w > 0 ? -w * std::log(w) : 0.0;
                           });
                           return entropy / std::log(static_cast<double>(row_size(g, i)));
                         }),
          mean_over_rows(g,
                         [&](int64_t i) {
                           return row_sum(g, i, [&](int64_t arc, int32_t j) {
                             return same_class(dataset, i, j) ? weight(arc) : 0.0;
                           });
                         }),
          mean_over_rows(g, [&](int64_t i) {
            return row_sum(g, i,
                           [&](int64_t arc, int32_t j) { return j == i ? weight(arc) : 0.0; });
          })};
}

UniformFigures measure_uniform(const data::Dataset& dataset, const rewire::MessageGraph& g) {
  return {mean_over_rows(g,
                         [&](int64_t i) {
                           return row_sum(g, i,
                                          [&](int64_t, int32_t j) {
                                            return same_class(dataset, i, j) ? 1.0 : 0.0;
                                          }) /
                                  static_cast<double>(row_size(g, i));
                         }),
          mean_over_rows(g, [&](int64_t i) {
            return row_sum(g, i, [&](int64_t, int32_t j) { return j == i ? 1.0 : 0.0; }) /
                   static_cast<double>(row_size(g, i));
          })};
}

/// Relative attention (weight times senders of the row: 1 = even) over quantiles of d_s.
LineChart against_distance(const GraphAnalysis& a, const ModelAnalysis& model) {
  const rewire::MessageGraph& g = model.messages;
  struct Arc {
    double distance;
    int64_t arc;
    double senders;
  };
  std::vector<Arc> arcs;
  arcs.reserve(g.senders.size());
  for (int64_t i = 0; i < g.nodes(); ++i) {
    for (int64_t arc = g.offsets[static_cast<size_t>(i)];
         arc < g.offsets[static_cast<size_t>(i) + 1]; ++arc) {
      const int32_t j = g.senders[static_cast<size_t>(arc)];
      if (j == i) continue;
      const double distance =
          std::abs(a.phi[static_cast<size_t>(i)] - a.phi[static_cast<size_t>(j)]);
      arcs.push_back({distance, arc, static_cast<double>(row_size(g, i))});
    }
  }
  std::sort(arcs.begin(), arcs.end(), [](const Arc& x, const Arc& y) {
    return x.distance < y.distance || (x.distance == y.distance && x.arc < y.arc);
  });
  LineChart chart{.title = "Attention against spectral distance",
                  .note =
                      "Arcs in 20 groups of equal size by |φᵢ − φⱼ|; attention times the "
                      "number of senders of its row, so that 1 means even attention.",
                  .x_label = "|φᵢ − φⱼ| (median of the group)",
                  .y_label = "relative attention",
                  .lines = {},
                  .log_x = true,
                  .points = true};
  const size_t groups = std::min<size_t>(kDistanceBins, arcs.size());
  for (size_t l = 0; l < model.attention.size(); ++l) {
    const LayerAttention& layer = model.attention[l];
    Line line{.name = fmt::format("layer {}", l + 1), .x = {}, .y = {}};
    for (size_t group = 0; group < groups; ++group) {
      const size_t begin = group * arcs.size() / groups, end = (group + 1) * arcs.size() / groups;
      const double median = arcs[(begin + end) / 2].distance;
      if (!(median > 0)) continue;  // a logarithmic axis has no place for zero
      double sum = 0;
      for (size_t k = begin; k < end; ++k) {
        for (int h = 0; h < layer.heads; ++h) {
          sum += layer.weights[static_cast<size_t>(arcs[k].arc * layer.heads + h)] *
                 arcs[k].senders / layer.heads;
        }
      }
      line.x.push_back(median);
      line.y.push_back(sum / static_cast<double>(end - begin));
    }
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  }
  return chart;
}

Table directional_terms(const std::vector<DirectionalTerm>& terms) {
  Table table{"What the directional terms learned",
              "Added to the score of every arc: av · |g| + dx · g + bias, with g the normalised "
              "difference of φ along the arc. A bias alone changes nothing: a softmax ignores it.",
              {{"layer", Format::kInteger}, {"head", Format::kInteger}},
              {}};
  const size_t pairs = terms[0].coefficients.size() / 2;
  for (size_t k = 0; k < pairs; ++k) {
    const std::string suffix = pairs > 1 ? fmt::format(" {}", k + 1) : "";
    table.columns.push_back({"av" + suffix, Format::kNumber});
    table.columns.push_back({"dx" + suffix, Format::kNumber});
  }
  table.columns.push_back({"bias", Format::kNumber});
  for (const DirectionalTerm& term : terms) {
    std::vector<Cell> row = {static_cast<double>(term.layer + 1),
                             static_cast<double>(term.head + 1)};
    for (const double value : term.coefficients) row.emplace_back(value);
    row.emplace_back(term.bias);
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

Section attention_section(const GraphAnalysis& a, const ModelAnalysis& model) {
  Section section{
      "Attention",
      fmt::format("The network of split {}, without dropout, on the whole graph.", a.split),
      {}};
  if (model.attention.empty()) return section;
  const UniformFigures even = measure_uniform(a.dataset, model.messages);
  int heads = 0;
  for (const LayerAttention& layer : model.attention) heads = std::max(heads, layer.heads);

  Heatmap entropy{"Entropy of attention",
                  "Mean over nodes of entropy / log(senders). 100%: attention is even, as in a "
                  "mean; 0%: all on one sender.",
                  "layer",
                  "head",
                  Format::kPercent,
                  {},
                  {},
                  {}};
  for (int h = 0; h < heads; ++h) entropy.columns.push_back(std::to_string(h + 1));
  BarChart agreement{
      .title = "Attention and class agreement",
      .note =
          "Share of attention that goes to neighbours of the same class; the "
          "node itself is left out.",
      .x_label = "layer.head",
      .y_label = "share of attention",
      .format = Format::kPercent,
      .groups = {},
      .series = {{.name = "attention", .values = {}}, {.name = "even attention", .values = {}}}};
  BarChart self{
      .title = "Attention on the node itself",
      .note = {},
      .x_label = "layer.head",
      .y_label = "share of attention",
      .format = Format::kPercent,
      .groups = {},
      .series = {{.name = "attention", .values = {}}, {.name = "even attention", .values = {}}}};
  for (size_t l = 0; l < model.attention.size(); ++l) {
    const LayerAttention& layer = model.attention[l];
    entropy.rows.push_back(std::to_string(l + 1));
    for (int h = 0; h < heads; ++h) {
      if (h >= layer.heads) {
        entropy.values.push_back(std::nan(""));
        continue;
      }
      const HeadFigures figures = measure_head(a.dataset, model.messages, layer, h);
      entropy.values.push_back(figures.entropy);
      const std::string name = fmt::format("{}.{}", l + 1, h + 1);
      agreement.groups.push_back(name);
      agreement.series[0].values.push_back(figures.same);
      agreement.series[1].values.push_back(even.same);
      self.groups.push_back(name);
      self.series[0].values.push_back(figures.self);
      self.series[1].values.push_back(even.self);
    }
  }
  section.blocks = {entropy, agreement, self};
  LineChart distance = against_distance(a, model);
  if (!distance.lines.empty()) section.blocks.emplace_back(std::move(distance));
  if (!model.terms.empty()) section.blocks.emplace_back(directional_terms(model.terms));
  return section;
}

}  // namespace dgat::report
