// The numbers on a page, recomputed by hand on graphs small enough to see through.
#include "report/sections.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/bins.h"
#include "report/neighbourhood.h"
#include "support/tiny_graphs.h"

namespace dgat::report {
namespace {

template <class T>
const T& block(const Section&& section, const std::string& title) = delete;  // would dangle
template <class T>
const T& block(const Section& section, const std::string& title) {
  for (const Block& each : section.blocks) {
    const auto* found = std::get_if<T>(&each);
    if (found != nullptr && found->title == title) return *found;
  }
  throw std::runtime_error("no block " + title);
}

/// A path 0-1-2-3-4-5, classes a a a b b b; the last three nodes are tested in the only split.
data::Dataset path_set() {
  data::Dataset set;
  set.name = "path";
  set.graph = test::path(6);
  set.labels = {0, 0, 0, 1, 1, 1};
  set.classes = 2;
  set.class_names = {"a", "b"};
  set.splits = {{{0, 1}, {2}, {3, 4, 5}}};
  return set;
}

SplitOutput answers(const std::vector<int32_t>& predicted, float confidence) {
  SplitOutput output;
  output.predicted = predicted;
  for (const int32_t c : predicted) {
    output.probabilities.push_back(c == 0 ? confidence : 1 - confidence);
    output.probabilities.push_back(c == 1 ? confidence : 1 - confidence);
  }
  return output;
}

TEST(Predictions, CountTestNodesOnly) {
  const std::vector<SplitOutput> outputs = {answers({1, 1, 1, 0, 1, 1}, 0.75F)};
  const Section section = prediction_section(path_set(), outputs);
  EXPECT_EQ(block<Heatmap>(section, "Confusion").values, (std::vector<double>{0, 0, 1, 2}));
  const auto& classes = block<BarChart>(section, "Accuracy by class");
  EXPECT_EQ(classes.groups, std::vector<std::string>{"b"});
  EXPECT_DOUBLE_EQ(classes.series[0].values[0], 2.0 / 3.0);
  EXPECT_EQ(classes.sizes, std::vector<double>{3});
}

TEST(Predictions, LocalHomophilyIsTheShareOfEqualNeighbours) {
  // Node 3 has neighbours a and b (0.5), nodes 4 and 5 only b (1).
  const std::vector<SplitOutput> outputs = {answers({1, 1, 1, 0, 1, 1}, 0.75F)};
  const Section section = prediction_section(path_set(), outputs);
  const auto& chart = block<BarChart>(section, "Accuracy by local homophily");
  EXPECT_EQ(chart.groups, (std::vector<std::string>{"0.5–0.6", "0.9–1.0"}));
  EXPECT_EQ(chart.series[0].values, (std::vector<double>{0, 1}));
  EXPECT_EQ(chart.sizes, (std::vector<double>{1, 2}));
}

TEST(Predictions, DegreesFallIntoTheirBins) {
  const std::vector<SplitOutput> outputs = {answers({1, 1, 1, 0, 1, 1}, 0.75F)};
  const Section section = prediction_section(path_set(), outputs);
  const auto& chart = block<BarChart>(section, "Accuracy by degree");
  EXPECT_EQ(chart.groups, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(chart.series[0].values, (std::vector<double>{1, 0.5}));
}

TEST(Predictions, CalibrationComparesConfidenceWithAccuracy) {
  const std::vector<SplitOutput> outputs = {answers({1, 1, 1, 0, 1, 1}, 0.75F)};
  const Section section = prediction_section(path_set(), outputs);
  const auto& chart = block<LineChart>(section, "Calibration");
  EXPECT_EQ(chart.lines[0].x, std::vector<double>{0.75});
  EXPECT_NEAR(chart.lines[0].y[0], 2.0 / 3.0, 1e-12);
  EXPECT_THAT(chart.note, ::testing::HasSubstr("8.33%"));  // |3/4 - 2/3|
}

TEST(Predictions, WithoutTestNodesThereIsNothingToShow) {
  data::Dataset set = path_set();
  set.splits[0].test.clear();
  const std::vector<SplitOutput> outputs = {answers({0, 0, 0, 0, 0, 0}, 0.75F)};
  EXPECT_TRUE(prediction_section(set, outputs).blocks.empty());
}

GraphAnalysis path_analysis(const std::string& mode) {
  static const data::Dataset dataset = path_set();  // the analysis refers to it
  const train::Config config = train::resolve({{"rewire", mode}, {"gamma", "1"}});
  spectral::SpectralCache cache;
  const train::GraphChoice choice = train::graph_of(config);
  train::Directions directions(dataset.graph, config, choice, cache);
  return analyse_graph(dataset, config, &directions, choice, 0, 0, cache);
}

/// Even attention over the rows of the rewired graph, one head; and all on the node itself.
ModelAnalysis two_heads(const GraphAnalysis& a) {
  ModelAnalysis model;
  model.messages = rewire::message_graph(a.rewired.graph);
  LayerAttention layer{2, {}};
  for (int64_t i = 0; i < model.messages.nodes(); ++i) {
    const int64_t begin = model.messages.offsets[static_cast<size_t>(i)];
    const int64_t end = model.messages.offsets[static_cast<size_t>(i) + 1];
    for (int64_t arc = begin; arc < end; ++arc) {
      layer.weights.push_back(1.0F / static_cast<float>(end - begin));
      layer.weights.push_back(model.messages.senders[static_cast<size_t>(arc)] == i ? 1.0F : 0.0F);
    }
  }
  model.attention = {layer};
  return model;
}

TEST(Attention, EvenRowsHaveFullEntropyAndSelfRowsNone) {
  const GraphAnalysis a = path_analysis("none");
  const Section section = attention_section(a, two_heads(a));
  const auto& entropy = block<Heatmap>(section, "Entropy of attention").values;
  EXPECT_NEAR(entropy[0], 1, 1e-6);
  EXPECT_NEAR(entropy[1], 0, 1e-6);
}

TEST(Attention, EvenAttentionAgreesWithTheEvenReference) {
  const GraphAnalysis a = path_analysis("none");
  const Section section = attention_section(a, two_heads(a));
  for (const char* title : {"Attention and class agreement", "Attention on the node itself"}) {
    const auto& chart = block<BarChart>(section, title);
    EXPECT_NEAR(chart.series[0].values[0], chart.series[1].values[0], 1e-6) << title;
  }
  // Rows of 2, 3, 3, 3, 3, 2 senders: mean of 1/2, 1/3, 1/3, 1/3, 1/3, 1/2.
  const auto& self = block<BarChart>(section, "Attention on the node itself");
  EXPECT_NEAR(self.series[1].values[0], (1 + 4.0 / 3) / 6, 1e-12);
  EXPECT_NEAR(self.series[0].values[1], 1, 1e-6);
  const auto& distance = block<LineChart>(section, "Attention against spectral distance");
  for (const double y : distance.lines[0].y) {
    EXPECT_GT(y, 0.3);  // the mean of an even head (1) and one that ignores neighbours (0) is 1/2
    EXPECT_LT(y, 0.7);
  }
}

TEST(DrawingSection, ShowsEveryEdgeWithItsFate) {
  const GraphAnalysis a = path_analysis("prune-far+add");
  const ModelAnalysis model = two_heads(a);
  const Section section = drawing_section(a, &model);
  const auto& drawing = std::get<Drawing>(section.blocks[0]);
  int64_t kept = 0, dropped = 0, added = 0;
  for (size_t e = 0; e < drawing.from.size(); ++e) {
    const bool before = a.graph.has_arc(drawing.from[e], drawing.to[e]);
    const bool after = a.rewired.graph.has_arc(drawing.from[e], drawing.to[e]);
    EXPECT_EQ(drawing.state[e], before && after ? EdgeState::kKept
                                : before        ? EdgeState::kDropped
                                                : EdgeState::kAdded);
    kept += before && after ? 1 : 0;
    dropped += before && !after ? 1 : 0;
    added += !before && after ? 1 : 0;
  }
  EXPECT_EQ(kept + dropped, a.graph.edges());
  EXPECT_EQ(kept + added, a.rewired.graph.edges());
  EXPECT_GT(dropped, 0);
  EXPECT_GT(added, 0);
  EXPECT_EQ(drawing.senders.size(), static_cast<size_t>(model.messages.arcs()));
  EXPECT_EQ(drawing.layers[0].weights, model.attention[0].weights);
}

TEST(Neighbourhood, SmallGraphsAreDrawnWhole) {
  const graph::CsrGraph grid = test::grid(10, 10);
  const Neighbourhood all = choose_neighbourhood(grid, grid);
  EXPECT_TRUE(all.whole);
  EXPECT_EQ(all.nodes.size(), 100U);
}

TEST(Neighbourhood, StaysWithinItsLimitsAndInOnePiece) {
  const graph::CsrGraph grid = test::grid(40, 40);
  const DrawingLimits limits{
      .whole_nodes = 100, .whole_edges = 100, .sample_nodes = 60, .sample_edges = 80};
  const Neighbourhood sample = choose_neighbourhood(grid, grid, limits);
  EXPECT_FALSE(sample.whole);
  EXPECT_LE(sample.nodes.size(), 60U);
  EXPECT_GE(sample.nodes.size(), 30U);
  int64_t edges = 0;
  for (const graph::NodeId i : sample.nodes) {
    int64_t inside = 0;
    for (const graph::NodeId j : grid.neighbors(i)) {
      inside += std::binary_search(sample.nodes.begin(), sample.nodes.end(), j) ? 1 : 0;
    }
    EXPECT_GT(inside, 0) << "node " << i << " hangs in the air";
    edges += inside;
  }
  EXPECT_LE(edges / 2, 80);
  EXPECT_EQ(choose_neighbourhood(grid, grid, limits).nodes, sample.nodes);
}

TEST(Bins, DoublingBinsCoverEveryValueOnce) {
  const DoublingBins bins(20);
  EXPECT_EQ(bins.names, (std::vector<std::string>{"0", "1", "2", "3–4", "5–8", "9–16", "17–32"}));
  EXPECT_EQ(bins.of(0), 0U);
  EXPECT_EQ(bins.of(4), 3U);
  EXPECT_EQ(bins.of(5), 4U);
  EXPECT_EQ(bins.of(20), 6U);
}

TEST(Bins, LogHistogramCountsEveryValue) {
  const std::vector<double> values = {0, 1e-3, 1e-2, 1e-2, 1};
  const LogHistogram histogram(values, 3);
  EXPECT_EQ(histogram.zeros, 1);
  EXPECT_EQ(histogram.counts, (std::vector<double>{1, 2, 1}));
  EXPECT_NEAR(histogram.edges.front(), 1e-3, 1e-12);
  EXPECT_NEAR(histogram.edges.back(), 1, 1e-9);
}

TEST(Words, NumbersAreGroupedByThousands) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(grouped(1234567), "1,234,567");
}

}  // namespace
}  // namespace dgat::report
