#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "bins.h"
#include "sections.h"

namespace dgat::report {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
constexpr int kConfidenceBins = 10, kHomophilyBins = 10;

/// Right answers and test nodes per (split, group).
class GroupedAccuracy {
 public:
  GroupedAccuracy(size_t splits, size_t groups)
      : groups_(groups), right_(splits * groups, 0), total_(splits * groups, 0) {}

  void add(size_t split, size_t group, bool right) {
    total_[split * groups_ + group] += 1;
    right_[split * groups_ + group] += right ? 1 : 0;
  }

  /// Mean over the splits that have such nodes, with one standard deviation.
  BarChart chart(std::string title, std::string note, std::string x_label,
                 std::vector<std::string> names) const {
    BarSeries series{.name = "test accuracy", .values = {}};
    std::vector<double> sizes;
    std::vector<std::string> shown;
    for (size_t group = 0; group < groups_; ++group) {
      std::vector<double> shares;
      double size = 0;
      for (size_t at = group; at < total_.size(); at += groups_) {
        if (total_[at] == 0) continue;
        shares.push_back(right_[at] / total_[at]);
        size += total_[at];
      }
      if (shares.empty()) continue;
      const Spread spread = spread_of(shares);
      series.values.push_back(spread.mean);
      series.low.push_back(std::max(0.0, spread.low));
      series.high.push_back(std::min(1.0, spread.high));
      sizes.push_back(size);
      shown.push_back(std::move(names[group]));
    }
    return {.title = std::move(title),
            .note = std::move(note),
            .x_label = std::move(x_label),
            .y_label = "accuracy",
            .format = Format::kPercent,
            .groups = std::move(shown),
            .series = {std::move(series)},
            .sizes = std::move(sizes)};
  }

 private:
  size_t groups_;
  std::vector<double> right_, total_;
};

/// Share of a node's labelled neighbours that have its class; not-a-number without any.
std::vector<double> local_homophily(const data::Dataset& dataset) {
  std::vector<double> shares(dataset.labels.size(), kNone);
  for (graph::NodeId i = 0; i < dataset.graph.nodes(); ++i) {
    double same = 0, labelled = 0;
    for (const graph::NodeId j : dataset.graph.neighbors(i)) {
      const int32_t label = dataset.labels[static_cast<size_t>(j)];
      labelled += label >= 0 ? 1 : 0;
      same += label >= 0 && label == dataset.labels[static_cast<size_t>(i)] ? 1 : 0;
    }
    if (labelled > 0) shares[static_cast<size_t>(i)] = same / labelled;
  }
  return shares;
}

/// Calls visit(index of the output, node) for every labelled test node of every split.
template <class Visit>
void each_test_node(const data::Dataset& dataset, std::span<const SplitOutput> outputs,
                    Visit&& visit) {
  for (size_t s = 0; s < outputs.size(); ++s) {
    for (const graph::NodeId node : dataset.splits[static_cast<size_t>(outputs[s].split)].test) {
      if (dataset.labels[static_cast<size_t>(node)] >= 0) visit(s, static_cast<size_t>(node));
    }
  }
}

Heatmap confusion(const data::Dataset& dataset, std::span<const SplitOutput> outputs) {
  const auto classes = static_cast<size_t>(dataset.classes);
  std::vector<double> counts(classes * classes, 0);
  each_test_node(dataset, outputs, [&](size_t s, size_t node) {
    counts[static_cast<size_t>(dataset.labels[node]) * classes +
           static_cast<size_t>(outputs[s].predicted[node])] += 1;
  });
  return {"Confusion",          fmt::format("Test nodes, summed over {} split(s).", outputs.size()),
          "true class",         "predicted class",
          Format::kInteger,     class_names(dataset),
          class_names(dataset), counts};
}

LineChart calibration(const data::Dataset& dataset, std::span<const SplitOutput> outputs) {
  std::vector<double> confidence(kConfidenceBins, 0), right(kConfidenceBins, 0),
      total(kConfidenceBins, 0);
  const auto classes = static_cast<size_t>(dataset.classes);
  double all = 0;
  each_test_node(dataset, outputs, [&](size_t s, size_t node) {
    const auto answer = static_cast<size_t>(outputs[s].predicted[node]);
    const double p = outputs[s].probabilities[node * classes + answer];
    const auto bin =
        static_cast<size_t>(std::min(kConfidenceBins - 1, static_cast<int>(p * kConfidenceBins)));
    confidence[bin] += p;
    right[bin] += outputs[s].predicted[node] == dataset.labels[node] ? 1 : 0;
    total[bin] += 1;
    all += 1;
  });
  Line line{.name = "network", .x = {}, .y = {}};
  double error = 0;
  for (size_t bin = 0; bin < total.size(); ++bin) {
    if (total[bin] == 0) continue;
    line.x.push_back(confidence[bin] / total[bin]);
    line.y.push_back(right[bin] / total[bin]);
    error += std::abs(confidence[bin] - right[bin]) / all;
  }
  return {.title = "Calibration",
          .note = fmt::format("Ten bins of confidence. Expected calibration error {:.2f}%. Below "
                              "the diagonal the network is overconfident.",
                              100 * error),
          .x_label = "confidence",
          .y_label = "accuracy",
          .format = Format::kPercent,
          .lines = {line, {.name = "perfect", .x = {0, 1}, .y = {0, 1}}},
          .points = true};
}

std::vector<std::string> homophily_names() {
  std::vector<std::string> names;
  names.reserve(kHomophilyBins + 1);
  for (int bin = 0; bin < kHomophilyBins; ++bin) {
    names.push_back(fmt::format("{:.1f}–{:.1f}", bin / 10.0, (bin + 1) / 10.0));
  }
  names.emplace_back("none");
  return names;
}

}  // namespace

Section prediction_section(const data::Dataset& dataset, std::span<const SplitOutput> outputs) {
  const auto classes = static_cast<size_t>(dataset.classes);
  int64_t largest = 0, seen = 0;
  each_test_node(dataset, outputs, [&](size_t, size_t node) {
    largest = std::max(largest, dataset.graph.degree(static_cast<graph::NodeId>(node)));
    ++seen;
  });
  Section section{"Predictions",
                  "Each split's network on its own test nodes; whiskers are one standard deviation "
                  "over the splits.",
                  {}};
  if (seen == 0) return section;

  const DoublingBins degrees(largest);
  const std::vector<double> homophily = local_homophily(dataset);
  GroupedAccuracy by_class(outputs.size(), classes),
      by_degree(outputs.size(), degrees.names.size()),
      by_homophily(outputs.size(), kHomophilyBins + 1);
  each_test_node(dataset, outputs, [&](size_t s, size_t node) {
    const bool right = outputs[s].predicted[node] == dataset.labels[node];
    by_class.add(s, static_cast<size_t>(dataset.labels[node]), right);
    by_degree.add(s, degrees.of(dataset.graph.degree(static_cast<graph::NodeId>(node))), right);
    const double share = homophily[node];
    const int bin = std::isnan(share)
                        ? kHomophilyBins
                        : std::min(kHomophilyBins - 1, static_cast<int>(share * kHomophilyBins));
    by_homophily.add(s, static_cast<size_t>(bin), right);
  });
  section.blocks = {
      by_homophily.chart("Accuracy by local homophily",
                         "Local homophily: share of a node's labelled neighbours that have its "
                         "class, on the graph as it was read.",
                         "local homophily", homophily_names()),
      by_degree.chart("Accuracy by degree", "", "degree", degrees.names),
      by_class.chart("Accuracy by class", "Share of each class that is recognised.", "class",
                     class_names(dataset)),
      confusion(dataset, outputs), calibration(dataset, outputs)};
  return section;
}

}  // namespace dgat::report
