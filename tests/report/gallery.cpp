// report_gallery OUT.html [NODES EDGES]: one page with every kind of block, made of formulas.
#include <cmath>
#include <cstdlib>
#include <numbers>

#include "dgat/core/random.h"
#include "dgat/report/page.h"

namespace {

using namespace dgat::report;

constexpr const char* kHostile =
    "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>";

LineChart curves() {
  LineChart chart{.title = "Loss per split",
                  .note = "Made of formulas.",
                  .x_label = "step",
                  .y_label = "training loss",
                  .lines = {},
                  .markers = {{300, "best step"}}};
  for (int split = 0; split < 10; ++split) {
    Line line{.name = "split " + std::to_string(split), .x = {}, .y = {}};
    for (int step = 0; step < 1000; step += 5) {
      line.x.push_back(step);
      line.y.push_back((1.6 + 0.05 * split) * std::exp(-step / 250.0) + 0.05 +
                       0.01 * std::sin(step * 0.1 + split));
    }
    chart.lines.push_back(line);
  }
  return chart;
}

/// Means with their splits, published values with their deviation, and what is switched on.
DotChart ablation() {
  return {.title = "Ablation",
          .note = "",
          .x_label = "test accuracy",
          .format = Format::kPercent,
          .dots = {{"gat", 0.5, 0.4, 0.6, 0.55, 0.05, {0.4, 0.6, std::nan("")}, {false, false}},
                   {kHostile, 0.7, 0.65, 0.75, std::nullopt, 0, {0.65, 0.75, 0.7}, {true, true}}},
          .reference_name = "published",
          .sample_name = "split",
          .mark_names = {"attention", kHostile},
          .markers = {{0.5, "chance"}}};
}

LineChart scatter() {
  return {.title = "History",
          .note = "",
          .x_label = "seconds",
          .y_label = "validation",
          .format = Format::kPercent,
          .lines = {{.name = "first", .x = {1, 1, 3}, .y = {0.25, 0.5, 0.375}, .joined = false},
                    {.name = "best", .x = {1, 3}, .y = {0.5, 0.5}}}};
}

/// A ring of nodes with random chords; attention is even over the senders of a node.
Drawing drawing(int nodes, int edges) {
  Drawing d;
  d.title = "Graph";
  d.note = "All nodes and edges.";
  d.class_names = {"alpha", kHostile, "gamma"};
  Drawing::Layout circle{"circle", {}, {}}, spread{"spread", {}, {}};
  dgat::Random random(7);
  for (int i = 0; i < nodes; ++i) {
    const double angle = 2 * std::numbers::pi * i / nodes;
    const double radius = 1 + 0.3 * std::sin(7 * angle);
    circle.x.push_back(static_cast<float>(radius * std::cos(angle)));
    circle.y.push_back(static_cast<float>(radius * std::sin(angle)));
    spread.x.push_back(static_cast<float>(i % 71));
    spread.y.push_back(static_cast<float>(i / 71));
    d.id.push_back(i);
    d.label.push_back(i * 3 / nodes);
    d.prediction.push_back(i % 10 == 0 ? (i * 3 / nodes + 1) % 3 : i * 3 / nodes);
    d.part.push_back(static_cast<Part>(1 + i % 3));
    d.phi.push_back(static_cast<float>(std::cos(angle)));
  }
  d.layouts = {circle, spread};
  std::vector<std::vector<int32_t>> senders(static_cast<size_t>(nodes));
  for (int i = 0; i < nodes; ++i) senders[static_cast<size_t>(i)].push_back(i);
  const auto below = [&](int n) {
    return static_cast<int32_t>(random.below(static_cast<uint64_t>(n)));
  };
  for (int e = 0; e < edges; ++e) {
    const int32_t a = e < nodes ? e : below(nodes);
    const int32_t b = (a + 1 + (e < nodes ? 0 : below(nodes - 1))) % nodes;
    d.from.push_back(a);
    d.to.push_back(b);
    d.state.push_back(e < nodes ? EdgeState::kKept : static_cast<EdgeState>(e % 3));
    if (d.state.back() == EdgeState::kDropped) continue;
    senders[static_cast<size_t>(a)].push_back(b);
    senders[static_cast<size_t>(b)].push_back(a);
  }
  Drawing::Layer layer{"layer 1", 2, {}};
  d.offsets = {0};
  for (int i = 0; i < nodes; ++i) {
    const auto& row = senders[static_cast<size_t>(i)];
    for (const int32_t sender : row) {
      d.senders.push_back(sender);
      layer.weights.push_back(1.0F / static_cast<float>(row.size()));
      layer.weights.push_back(sender == i ? 1.0F : 0.0F);
    }
    d.offsets.push_back(static_cast<int32_t>(d.senders.size()));
    d.degree.push_back(static_cast<int32_t>(row.size()) - 1);
  }
  d.layers = {layer};
  return d;
}

Page gallery(int nodes, int edges) {
  Page page;
  page.title = kHostile;
  page.subtitle = "every kind of block";
  page.sections.push_back(
      {"Words and numbers",
       "Facts, code and tables.",
       {Facts{"Card", {{"name", kHostile}, {"nodes", "10,000"}}},
        Code{"Command", "dgat train '<script>' --model dgat"},
        Table{"Results",
              "Mean and standard deviation.",
              {{"split", Format::kInteger}, {"test", Format::kPercent}, {"remark", Format::kText}},
              {{0.0, 0.875, "a,b"}, {1.0, 0.8125, kHostile}, {2.0, std::nan(""), "x"}}}}});
  page.sections.push_back({"Charts",
                           "",
                           {curves(),
                            LineChart{.title = "Accuracy over gamma",
                                      .note = "",
                                      .x_label = "gamma",
                                      .y_label = "accuracy",
                                      .format = Format::kPercent,
                                      .lines = {{.name = "dgat",
                                                 .x = {0.1, 0.3, 0.5, 1},
                                                 .y = {0.8, 0.86, 0.84, 0.79},
                                                 .low = {0.78, 0.84, 0.82, 0.77},
                                                 .high = {0.82, 0.88, 0.86, 0.81}}},
                                      .points = true},
                            BarChart{.title = "Accuracy by class",
                                     .note = "",
                                     .x_label = "class",
                                     .y_label = "accuracy",
                                     .format = Format::kPercent,
                                     .groups = {"alpha", "beta", kHostile},
                                     .series = {{.name = "test",
                                                 .values = {0.9, 0.7, 0.5},
                                                 .low = {0.8, 0.6, 0.4},
                                                 .high = {0.95, 0.75, 0.6}}},
                                     .sizes = {100, 50, 10}},
                            Histogram{.title = "Distances",
                                      .note = "",
                                      .x_label = "|φᵢ−φⱼ|",
                                      .y_label = "edges",
                                      .edges = {1e-6, 1e-5, 1e-4, 1e-3, 1e-2},
                                      .series = {{.name = "edges", .values = {3, 40, 120, 9}}},
                                      .markers = {{3e-4, "ε"}},
                                      .log_x = true},
                            Heatmap{"Confusion",
                                    "",
                                    "true class",
                                    "predicted",
                                    Format::kInteger,
                                    {"alpha", "beta", kHostile},
                                    {"alpha", "beta", kHostile},
                                    {90, 5, 5, 10, 70, 20, 1, 4, 5}},
                            DotChart{.title = "Models",
                                     .note = "",
                                     .x_label = "test accuracy",
                                     .format = Format::kPercent,
                                     .dots = {{"dgat", 0.88, 0.87, 0.89, 0.881},
                                              {"gat", 0.81, 0.79, 0.83, 0.805},
                                              {"resnet", 0.7, 0.68, 0.72}},
                                     .reference_name = "published"},
                            ablation(), scatter(),
                            Heatmap{.title = "Difference",
                                    .note = "",
                                    .row_label = "model",
                                    .column_label = "data set",
                                    .rows = {"dgat", "gat"},
                                    .columns = {"texas", kHostile, "cora"},
                                    .values = {-1.5, 2, 0, 0.5, std::nan(""), -0.25},
                                    .diverging = true}}});
  page.sections.push_back({"Drawing", "", {drawing(nodes, edges)}});
  return page;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  const bool sized = argc == 4;
  write_page(gallery(sized ? std::atoi(argv[2]) : 300, sized ? std::atoi(argv[3]) : 900), argv[1]);
  return 0;
}
