#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "read_json.h"
#include "sections.h"
#include "study_sections.h"

namespace dgat::report {
namespace {

constexpr double kPercent = 100;
constexpr const char* kSwitches[] = {"laplacian", "directional", "rewire"};

/// The three switches of an ablation row, from the row or from the table of the study.
std::vector<bool> switches_of(const Json& study, const Json& row, size_t index) {
  const Json* from = &object_at(row, "switches");
  const Json& table = list_at(object_at(study, "table"), "rows");
  if (from->empty() && index < table.size()) from = &table[index];
  std::vector<bool> switches;
  for (const char* key : kSwitches) {
    const auto found = from->find(key);
    if (found == from->end() || !found->is_boolean()) return {};
    switches.push_back(found->get<bool>());
  }
  return switches;
}

/// "dgat gamma=0.1" or "dgat:gamma=0.1:rewire=add" as a name without gamma, and gamma.
std::optional<std::pair<std::string, double>> without_gamma(const std::string& name) {
  constexpr std::string_view kKey = "gamma=";
  const size_t at = name.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  const size_t begin = at + kKey.size(),
               end = std::min(name.find_first_of(": ,", begin), name.size());
  const std::string text = name.substr(begin, end - begin);
  char* rest = nullptr;
  const double gamma = std::strtod(text.c_str(), &rest);
  if (text.empty() || *rest != '\0') return std::nullopt;  // several candidates: gamma=0.1/0.3
  return std::pair{name.substr(0, at > 0 ? at - 1 : 0) + name.substr(end), gamma};
}

}  // namespace

std::vector<StudyRow> study_rows(const Json& study) {
  std::vector<StudyRow> rows;
  for (const Json& json : list_at(study, "rows")) {
    StudyRow row;
    row.name = text_at(json, "name");
    row.failure = text_at(json, "failure");
    row.mean = number_at(json, "test_mean");
    row.std = number_at(json, "test_std");
    const Json& splits = list_at(json, "splits");
    if (!splits.empty()) {
      const auto folds = std::max<size_t>(static_cast<size_t>(integer_at(study, "splits")), 1);
      row.samples.assign(std::min<size_t>(folds, 100000), std::nan(""));
      for (const Json& split : splits) {
        const auto fold = static_cast<size_t>(integer_at(split, "split"));
        if (fold < row.samples.size()) row.samples[fold] = number_at(split, "test");
      }
    }
    const Json& published = object_at(json, "published");
    if (std::isfinite(number_at(published, "mean"))) {
      row.published = number_at(published, "mean") / kPercent;
      const double spread = number_at(published, "std") / kPercent;
      row.published_spread = std::isfinite(spread) ? spread : 0;
    }
    row.switches = switches_of(study, json, rows.size());
    rows.push_back(std::move(row));
  }
  return rows;
}

DotChart test_chart(const Json& study, const std::string& title) {
  const std::string metric = metric_name(text_at(study, "metric"));
  DotChart chart{.title = title,
                 .note = "Mean over the splits with one sample standard deviation.",
                 .x_label = "test " + metric,
                 .format = metric_format(),
                 .dots = {},
                 .reference_name = "published",
                 .sample_name = "split"};
  std::vector<StudyRow> rows = study_rows(study);
  std::erase_if(rows, [](const StudyRow& row) { return !row.finished(); });
  const bool ablation = !rows.empty() && !rows.front().switches.empty();
  if (ablation) {
    chart.mark_names = {"L(α,γ)", "attention", "rewiring"};
  } else {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const StudyRow& a, const StudyRow& b) { return a.mean > b.mean; });
  }
  for (const StudyRow& row : rows) {
    const double spread = std::isfinite(row.std) ? row.std : 0;
    chart.dots.push_back({row.name, row.mean, row.mean - spread, row.mean + spread, row.published,
                          row.published_spread, row.samples, row.switches});
  }
  return chart;
}

LineChart gamma_chart(const Json& study, const std::string& title) {
  const std::string metric = metric_name(text_at(study, "metric"));
  LineChart chart{.title = title,
                  .note = "Bands are one standard deviation.",
                  .x_label = "γ",
                  .y_label = "test " + metric,
                  .format = metric_format(),
                  .lines = {},
                  .points = true};
  std::map<std::string, std::map<double, StudyRow>> curves;
  for (StudyRow& row : study_rows(study)) {
    const auto parts = without_gamma(row.name);
    if (parts && row.finished()) curves[parts->first][parts->second] = std::move(row);
  }
  for (const auto& [name, points] : curves) {
    if (points.size() < 2) continue;
    Line line{.name = name, .x = {}, .y = {}};
    for (const auto& [gamma, row] : points) {
      line.x.push_back(gamma);
      line.y.push_back(row.mean);
      line.low.push_back(row.mean - row.std);
      line.high.push_back(row.mean + row.std);
    }
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

LineChart depth_chart(const Json& study) {
  LineChart chart{.title = "Validation by depth",
                  .note =
                      "The best candidate of every depth; the depth with the highest "
                      "validation mean is used.",
                  .x_label = "layers",
                  .y_label = "validation " + metric_name(text_at(study, "metric")),
                  .format = metric_format(),
                  .lines = {},
                  .points = true};
  bool several = false;
  for (const Json& row : list_at(study, "rows")) {
    std::map<int64_t, double> best;
    for (const Json& choice : list_at(row, "choices")) {
      const double val = number_at(choice, "val_mean");
      if (!std::isfinite(val)) continue;
      double& there = best.try_emplace(integer_at(choice, "layers"), val).first->second;
      there = std::max(there, val);
    }
    Line line{.name = text_at(row, "name"), .x = {}, .y = {}};
    for (const auto& [layers, val] : best) {
      line.x.push_back(static_cast<double>(layers));
      line.y.push_back(val);
    }
    several = several || line.x.size() > 1;
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  }
  if (!several) chart.lines.clear();
  return chart;
}

}  // namespace dgat::report
