#include "dgat/train/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "dgat/core/error.h"

namespace dgat::train {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

template <class Visit>
void for_each_labelled(std::span<const int32_t> labels, std::span<const graph::NodeId> nodes,
                       Visit visit) {
  for (const graph::NodeId i : nodes) {
    const int32_t label = labels[static_cast<size_t>(i)];
    if (label >= 0) visit(i, label);
  }
}

}  // namespace

int32_t predicted_class(std::span<const float> scores) {
  if (scores.size() == 1) return scores[0] > 0 ? 1 : 0;
  return static_cast<int32_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

double accuracy(const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes) {
  int64_t seen = 0, right = 0;
  for_each_labelled(labels, nodes, [&](graph::NodeId i, int32_t label) {
    ++seen;
    right += predicted_class(scores.row(i)) == label ? 1 : 0;
  });
  return seen > 0 ? static_cast<double>(right) / static_cast<double>(seen) : kNothing;
}

double roc_auc(const Scores& scores, std::span<const int32_t> labels,
               std::span<const graph::NodeId> nodes) {
  expects(scores.columns <= 2, "the ROC curve needs two classes");
  std::vector<std::pair<float, bool>> ranked;  // score, positive
  ranked.reserve(nodes.size());
  for_each_labelled(labels, nodes, [&](graph::NodeId i, int32_t label) {
    const auto row = scores.row(i);
    ranked.emplace_back(row.size() == 1 ? row[0] : row[1] - row[0], label == 1);
  });
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  // Twice the number of (positive, negative) pairs in the right order, ties counting one: integers,
  // so the area is exact up to one rounding.
  int64_t negatives_below = 0, positives = 0, doubled_pairs = 0;
  for (size_t start = 0; start < ranked.size();) {
    size_t end = start;
    int64_t tied_positive = 0, tied_negative = 0;
    for (; end < ranked.size() && ranked[end].first == ranked[start].first; ++end) {
      ++(ranked[end].second ? tied_positive : tied_negative);
    }
    if (end == start) return kNothing;  // a NaN score equals nothing, not even itself
    doubled_pairs += tied_positive * (2 * negatives_below + tied_negative);
    negatives_below += tied_negative;
    positives += tied_positive;
    start = end;
  }
  if (positives == 0 || negatives_below == 0) return kNothing;
  return static_cast<double>(doubled_pairs) /
         (2.0 * static_cast<double>(positives) * static_cast<double>(negatives_below));
}

double macro_f1(const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes) {
  struct Count {
    int64_t hits = 0, labelled = 0, predicted = 0;
  };
  std::vector<Count> counts;
  const auto of = [&counts](int32_t c) -> Count& {
    if (static_cast<size_t>(c) >= counts.size()) counts.resize(static_cast<size_t>(c) + 1);
    return counts[static_cast<size_t>(c)];
  };
  for_each_labelled(labels, nodes, [&](graph::NodeId i, int32_t label) {
    const int32_t guess = predicted_class(scores.row(i));
    ++of(label).labelled;
    ++of(guess).predicted;
    if (guess == label) ++of(label).hits;
  });
  double sum = 0;
  int64_t classes = 0;
  for (const Count& c : counts) {
    if (c.labelled + c.predicted == 0) continue;
    sum += 2.0 * static_cast<double>(c.hits) / static_cast<double>(c.labelled + c.predicted);
    ++classes;
  }
  return classes > 0 ? sum / static_cast<double>(classes) : kNothing;
}

std::string to_string(MetricKind metric) {
  switch (metric) {
    case MetricKind::kRocAuc:
      return "roc_auc";
    case MetricKind::kMacroF1:
      return "macro_f1";
    default:
      return "accuracy";
  }
}

double evaluate(MetricKind metric, const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes) {
  switch (metric) {
    case MetricKind::kRocAuc:
      return roc_auc(scores, labels, nodes);
    case MetricKind::kMacroF1:
      return macro_f1(scores, labels, nodes);
    default:
      return accuracy(scores, labels, nodes);
  }
}

MetricKind metric_for(std::optional<MetricKind> asked, const data::Dataset& dataset) {
  if (asked == MetricKind::kRocAuc && dataset.classes != 2) {
    throw_input("metric: roc_auc needs two classes, {} has {}", dataset.name, dataset.classes);
  }
  if (asked) return *asked;
  return dataset.metric() == data::Metric::kRocAuc ? MetricKind::kRocAuc : MetricKind::kAccuracy;
}

void check_measurable(MetricKind metric, const data::Dataset& dataset, int64_t split) {
  const int64_t columns = dataset.classes == 2 ? 1 : dataset.classes;
  const std::vector<float> zeros(dataset.labels.size() * static_cast<size_t>(columns));
  const data::Split& parts = dataset.splits.at(static_cast<size_t>(split));
  for (const auto& [nodes, name] :
       {std::pair{&parts.train, "training"}, {&parts.val, "validation"}}) {
    if (std::isnan(evaluate(metric, {zeros, columns}, dataset.labels, *nodes))) {
      throw_input(
          "{}: split {} has {} {} nodes, which {} cannot measure: {}; label more nodes, or give "
          "other shares with --split",
          dataset.name, split, nodes->size(), name, to_string(metric),
          metric == MetricKind::kRocAuc ? "it needs nodes of both classes"
                                        : "it needs a labelled node");
    }
  }
}

std::string percent(double fraction) {
  return std::isnan(fraction) ? "-" : fmt::format("{:.2f}", 100 * fraction);
}

MeanStd mean_std(std::span<const double> values) {
  if (values.empty()) return {kNothing, kNothing};
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double v : values) sum += v;
  const double mean = sum / n;
  for (const double v : values) squares += (v - mean) * (v - mean);
  return {mean, values.size() > 1 ? std::sqrt(squares / (n - 1)) : 0.0};
}

}  // namespace dgat::train
