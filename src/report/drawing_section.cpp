#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "neighbourhood.h"
#include "sections.h"

namespace dgat::report {
namespace {

using graph::NodeId;

/// Positions of the drawn nodes inside the drawing, -1 for the others.
std::vector<int32_t> positions(const std::vector<NodeId>& drawn, NodeId nodes) {
  std::vector<int32_t> position(static_cast<size_t>(nodes), -1);
  for (size_t k = 0; k < drawn.size(); ++k) {
    position[static_cast<size_t>(drawn[k])] = static_cast<int32_t>(k);
  }
  return position;
}

/// To [-1, 1], the middle of the range at 0.
std::vector<float> scaled(const std::vector<double>& values) {
  std::vector<float> result(values.size(), 0);
  if (values.empty()) return result;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  const double middle = (*low + *high) / 2, half = (*high - *low) / 2;
  for (size_t k = 0; k < values.size() && half > 0; ++k) {
    result[k] = static_cast<float>((values[k] - middle) / half);
  }
  return result;
}

std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> result(values.size());
  for (size_t k = 0; k < order.size(); ++k) result[order[k]] = static_cast<double>(k);
  return result;
}

void place(const GraphAnalysis& a, const std::vector<NodeId>& drawn, Drawing& drawing) {
  const auto nodes = static_cast<size_t>(a.graph.nodes());
  const auto coordinate = [&](size_t vector) {
    std::vector<double> values;
    values.reserve(drawn.size());
    for (const NodeId node : drawn) {
      values.push_back(a.phi[vector * nodes + static_cast<size_t>(node)]);
    }
    return values;
  };
  const std::vector<double> x = coordinate(0), y = coordinate(a.spectrum->k > 1 ? 1 : 0);
  const Drawing::Layout plain{"φ₁, φ₂", scaled(x), scaled(y)};
  const Drawing::Layout ranked{"ranks of φ₁, φ₂", scaled(ranks(x)), scaled(ranks(y))};
  // An eigenvector concentrated on a few nodes would put all others on one spot.
  const auto on_few_nodes = [&](size_t vector) {
    return spectral::participation_ratio(std::span(a.phi).subspan(vector * nodes, nodes)) < 0.2;
  };
  const bool crowded = on_few_nodes(0) || on_few_nodes(a.spectrum->k > 1 ? 1 : 0);
  if (crowded) {
    drawing.layouts = {ranked, plain};
  } else {
    drawing.layouts = {plain, ranked};
  }
}

void describe_nodes(const GraphAnalysis& a, const ModelAnalysis* model,
                    const std::vector<NodeId>& drawn, Drawing& drawing) {
  const data::Dataset& dataset = a.dataset;
  std::vector<Part> parts(dataset.labels.size(), Part::kNone);
  const auto mark = [&](const std::vector<NodeId>& nodes, Part part) {
    for (const NodeId node : nodes) parts[static_cast<size_t>(node)] = part;
  };
  if (static_cast<size_t>(a.split) < dataset.splits.size()) {
    const data::Split& split = dataset.splits[static_cast<size_t>(a.split)];
    mark(split.train, Part::kTrain);
    mark(split.val, Part::kValidation);
    mark(split.test, Part::kTest);
  }
  const SplitOutput* output = nullptr;
  if (model != nullptr) {
    for (const SplitOutput& each : model->outputs) {
      if (each.split == a.split) output = &each;
    }
  }
  for (const NodeId node : drawn) {
    const auto i = static_cast<size_t>(node);
    drawing.id.push_back(node);
    if (!dataset.node_ids.empty()) drawing.names.push_back(dataset.node_ids[i]);
    drawing.label.push_back(dataset.labels[i]);
    drawing.part.push_back(parts[i]);
    drawing.phi.push_back(static_cast<float>(a.phi[i]));
    drawing.degree.push_back(static_cast<int32_t>(a.graph.degree(node)));
    if (output != nullptr) drawing.prediction.push_back(output->predicted[i]);
  }
  drawing.class_names = class_names(dataset);
}

/// Edges among the drawn nodes before and after, each once, with its state.
void connect(const graph::CsrGraph& before, const graph::CsrGraph& after,
             const std::vector<NodeId>& drawn, const std::vector<int32_t>& position,
             Drawing& drawing) {
  const auto add = [&](NodeId i, NodeId j, EdgeState state) {
    if (j <= i || position[static_cast<size_t>(j)] < 0) return;
    drawing.from.push_back(position[static_cast<size_t>(i)]);
    drawing.to.push_back(position[static_cast<size_t>(j)]);
    drawing.state.push_back(state);
  };
  for (const NodeId i : drawn) {
    const auto old_row = before.neighbors(i), new_row = after.neighbors(i);
    size_t o = 0, n = 0;
    while (o < old_row.size() || n < new_row.size()) {
      if (n == new_row.size() || (o < old_row.size() && old_row[o] < new_row[n])) {
        add(i, old_row[o++], EdgeState::kDropped);
      } else if (o == old_row.size() || new_row[n] < old_row[o]) {
        add(i, new_row[n++], EdgeState::kAdded);
      } else {
        add(i, old_row[o++], EdgeState::kKept);
        ++n;
      }
    }
  }
}

void attend(const ModelAnalysis& model, const std::vector<NodeId>& drawn,
            const std::vector<int32_t>& position, Drawing& drawing) {
  if (model.attention.empty()) return;
  const rewire::MessageGraph& g = model.messages;
  for (size_t l = 0; l < model.attention.size(); ++l) {
    drawing.layers.push_back({fmt::format("layer {}", l + 1), model.attention[l].heads, {}});
  }
  drawing.offsets = {0};
  for (const NodeId i : drawn) {
    for (int64_t arc = g.offsets[static_cast<size_t>(i)];
         arc < g.offsets[static_cast<size_t>(i) + 1]; ++arc) {
      const int32_t sender = position[static_cast<size_t>(g.senders[static_cast<size_t>(arc)])];
      if (sender < 0) continue;
      drawing.senders.push_back(sender);
      for (size_t l = 0; l < model.attention.size(); ++l) {
        const LayerAttention& layer = model.attention[l];
        const auto row = layer.weights.begin() + arc * layer.heads;
        drawing.layers[l].weights.insert(drawing.layers[l].weights.end(), row, row + layer.heads);
      }
    }
    drawing.offsets.push_back(static_cast<int32_t>(drawing.senders.size()));
  }
}

std::string statement(const GraphAnalysis& a, const Neighbourhood& sample, size_t edges) {
  if (sample.whole) {
    return "All nodes and edges. Positions: the first two eigenvectors. Click the drawing, then "
           "the wheel zooms.";
  }
  return fmt::format(
      "A sample: {} of {} nodes, found by a breadth-first walk from node {} over at most {} random "
      "neighbours of each, with all {} edges among them (of {} before rewiring). What a node shows "
      "here is not its whole neighbourhood. Positions: the first two eigenvectors of the whole "
      "graph.",
      grouped(static_cast<int64_t>(sample.nodes.size())), grouped(a.graph.nodes()), sample.start,
      DrawingLimits{}.fan_out, grouped(static_cast<int64_t>(edges)), grouped(a.graph.edges()));
}

}  // namespace

Section drawing_section(const GraphAnalysis& a, const ModelAnalysis* model) {
  const Neighbourhood sample = choose_neighbourhood(a.graph, a.rewired.graph);
  const std::vector<int32_t> position = positions(sample.nodes, a.graph.nodes());
  Drawing drawing;
  drawing.title = "Graph";
  place(a, sample.nodes, drawing);
  describe_nodes(a, model, sample.nodes, drawing);
  connect(a.graph, a.rewired.graph, sample.nodes, position, drawing);
  if (model != nullptr) attend(*model, sample.nodes, position, drawing);
  drawing.note = statement(a, sample, drawing.from.size());
  return {"Drawing",
          fmt::format("Edges show what the rewiring did{}; click a node to see its row.",
                      drawing.layers.empty()
                          ? ""
                          : fmt::format(", their width the attention in split {}", a.split)),
          {std::move(drawing)}};
}

}  // namespace dgat::report
