#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "dgat/core/progress.h"
#include "sections.h"

namespace dgat::report {

std::string grouped(int64_t value) {
  std::string text = std::to_string(value);
  const ptrdiff_t first = value < 0 ? 1 : 0;
  for (auto at = static_cast<ptrdiff_t>(text.size()) - 3; at > first; at -= 3) {
    text.insert(static_cast<size_t>(at), 1, ',');
  }
  return text;
}

std::string short_number(double value) {
  return std::isfinite(value) ? fmt::format("{:.4g}", value) : "–";
}

std::string duration(double seconds) {
  return std::isfinite(seconds) ? format_duration(seconds) : "–";
}

std::string with_spread(double mean, double std) {
  if (!std::isfinite(mean)) return "–";
  if (!std::isfinite(std)) return fmt::format("{:.2f}%", 100 * mean);
  return fmt::format("{:.2f}% ± {:.2f}%", 100 * mean, 100 * std);
}

std::string class_name(const data::Dataset& dataset, int32_t label) {
  const auto index = static_cast<size_t>(label);
  return index < dataset.class_names.size() ? dataset.class_names[index] : std::to_string(label);
}

std::vector<std::string> class_names(const data::Dataset& dataset) {
  std::vector<std::string> names;
  names.reserve(static_cast<size_t>(dataset.classes));
  for (int32_t c = 0; c < dataset.classes; ++c) names.push_back(class_name(dataset, c));
  return names;
}

std::string metric_name(const std::string& metric) {
  if (metric == "roc_auc") return "ROC AUC";
  if (metric == "macro_f1") return "macro F1";
  return metric;
}

Format metric_format() {
  return Format::kPercent;
}

Spread spread_of(std::span<const double> values) {
  double sum = 0, squares = 0;
  int64_t count = 0;
  for (const double value : values) {
    if (!std::isfinite(value)) continue;
    sum += value;
    ++count;
  }
  if (count == 0) {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    return {kNone, kNone, kNone};
  }
  const double mean = sum / static_cast<double>(count);
  for (const double value : values) {
    if (std::isfinite(value)) squares += (value - mean) * (value - mean);
  }
  const double deviation = count > 1 ? std::sqrt(squares / static_cast<double>(count - 1)) : 0;
  return {mean, mean - deviation, mean + deviation};
}

}  // namespace dgat::report
