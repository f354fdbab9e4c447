#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"

/// Measures of a classification, in [0, 1]. Every function looks at the nodes it is given and skips
/// those with label -1; without any labelled node the result is NaN.
namespace dgat::train {

/// Scores of N nodes, row by row: one column means two classes (the logit of class 1).
struct Scores {
  std::span<const float> values;
  int64_t columns = 1;
  std::span<const float> row(int64_t i) const {
    return values.subspan(static_cast<size_t>(i * columns), static_cast<size_t>(columns));
  }
};

/// The class with the largest score, the smallest number on a tie; one column: 1 when positive.
int32_t predicted_class(std::span<const float> scores);

/// Share of nodes whose predicted class is their label.
double accuracy(const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes);

/// Area under the ROC curve of the score of class 1, exact: the probability that a random node of
/// class 1 scores above a random node of class 0. Ties count one half. With two columns the score
/// is their difference. NaN when one of the classes is missing.
/// Cost: O(n log n).
double roc_auc(const Scores& scores, std::span<const int32_t> labels,
               std::span<const graph::NodeId> nodes);

/// Mean over the classes that occur (as label or as prediction) of 2 TP / (2 TP + FP + FN).
double macro_f1(const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes);

enum class MetricKind { kAccuracy, kRocAuc, kMacroF1 };
std::string to_string(MetricKind metric);  ///< "accuracy", "roc_auc", "macro_f1"
double evaluate(MetricKind metric, const Scores& scores, std::span<const int32_t> labels,
                std::span<const graph::NodeId> nodes);

/// The metric given, or the default of the data set: ROC AUC for two classes, else
/// accuracy. Throws: InputError when it does not apply.
MetricKind metric_for(std::optional<MetricKind> asked, const data::Dataset& dataset);

/// Checks that every part has a metric: one that is NaN for all scores cannot choose a step.
/// Throws: InputError naming the split and its part.
void check_measurable(MetricKind metric, const data::Dataset& dataset, int64_t split);

/// A fraction in percent with two decimals, "42.09"; "-" for NaN.
std::string percent(double fraction);

/// Mean and sample standard deviation (n - 1); the deviation of a single value is 0.
struct MeanStd {
  double mean = 0, std = 0;
};
MeanStd mean_std(std::span<const double> values);

}  // namespace dgat::train
