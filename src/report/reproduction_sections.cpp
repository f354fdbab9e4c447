#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "read_json.h"
#include "sections.h"
#include "study_sections.h"

namespace dgat::report {
namespace {

/// The first table with a column of this key, or an empty object.
const Json& table_with(const Json& study, const std::string& key) {
  static const Json none = Json::object();
  for (const Json& table : list_at(study, "tables")) {
    for (const Json& column : list_at(table, "columns")) {
      if (text_at(column, "key") == key) return table;
    }
  }
  return none;
}

/// Where a name stands in a list that it is added to when it is new.
size_t place_of(std::vector<std::string>& names, const std::string& name) {
  const auto place =
      static_cast<size_t>(std::find(names.begin(), names.end(), name) - names.begin());
  if (place == names.size()) names.push_back(name);
  return place;
}

/// One number of every row on every data set from the table beside the published numbers.
Heatmap beside_paper(const Json& table, const char* key, const std::string& title,
                     const std::string& note) {
  Heatmap map{.title = title,
              .note = note,
              .row_label = "row",
              .column_label = "data set",
              .rows = {},
              .columns = {},
              .values = {},
              .diverging = true};
  std::map<std::pair<size_t, size_t>, double> values;
  for (const Json& row : list_at(table, "rows")) {
    const double value = number_at(row, key);
    if (!std::isfinite(value)) continue;
    values[{place_of(map.rows, text_at(row, "model")),
            place_of(map.columns, text_at(row, "dataset"))}] = value;
  }
  map.values.assign(map.rows.size() * map.columns.size(), std::nan(""));
  for (const auto& [place, value] : values) {
    map.values[place.first * map.columns.size() + place.second] = value;
  }
  return map;
}

/// Lines over mu from the table on synthetic graphs; its numbers are percentages.
LineChart over_mu(const Json& table, const std::string& title, const std::string& y_label,
                  Format format, const std::vector<std::pair<std::string, std::string>>& columns) {
  const double unit = format == Format::kPercent ? 100 : 1;
  LineChart chart{.title = title,
                  .note = {},
                  .x_label = "μ",
                  .y_label = y_label,
                  .format = format,
                  .lines = {},
                  .points = true};
  for (const auto& [key, name] : columns) {
    Line line{.name = name, .x = {}, .y = {}};
    bool known = false, spread = false;
    for (const Json& row : list_at(table, "rows")) {
      const Json& pair = object_at(row, key.c_str());
      const double value = pair.empty() ? number_at(row, key.c_str()) : number_at(pair, "mean");
      const double std = number_at(pair, "std");
      line.x.push_back(number_at(row, "mu"));
      line.y.push_back(value / unit);
      line.low.push_back((value - std) / unit);
      line.high.push_back((value + std) / unit);
      known = known || std::isfinite(value);
      spread = spread || std::isfinite(std);
    }
    if (!spread) {
      line.low.clear();
      line.high.clear();
    }
    if (known) chart.lines.push_back(std::move(line));
  }
  return chart;
}

/// One curve over gamma for every graph family of a table on synthetic graphs.
LineChart gamma_curves(const Json& study) {
  LineChart all{.title = "Test accuracy over γ",
                .note = "One curve per homophily μ, means over the graphs.",
                .x_label = "γ",
                .y_label = "test accuracy",
                .format = metric_format(),
                .lines = {},
                .points = true};
  for (const Json& level : list_at(study, "studies")) {
    for (Line& line : gamma_chart(level, "").lines) {
      line.name = fmt::format("μ = {}", short_number(number_at(level, "mu")));
      line.low.clear();
      line.high.clear();
      all.lines.push_back(std::move(line));
    }
  }
  return all;
}

Section synthetic_section(const Json& study) {
  Section section{"Over homophily and γ", "", {}};
  const auto add = [&](LineChart chart) {
    if (!chart.lines.empty()) section.blocks.emplace_back(std::move(chart));
  };
  const Json& table = table_with(study, "dgat_best");
  add(over_mu(table, "Ours over homophily", "test accuracy", Format::kPercent,
              {{"gat", "GAT"},
               {"gatv2", "GATv2"},
               {"dgat_chosen", "DGAT, γ by validation"},
               {"dgat_best", "DGAT, best γ by test"},
               {"dgat_worst", "DGAT, worst γ by test"}}));
  add(over_mu(table, "Published over homophily", "test accuracy", Format::kPercent,
              {{"gat_paper", "GAT"},
               {"gatv2_paper", "GATv2"},
               {"dgat_best_paper", "DGAT, best γ by test"},
               {"dgat_worst_paper", "DGAT, worst γ by test"}}));
  add(over_mu(table, "The best γ over homophily", "γ", Format::kNumber,
              {{"gamma_best", "ours, by test"},
               {"gamma_chosen", "ours, by validation"},
               {"gamma_best_paper", "published"}}));
  add(gamma_curves(study));
  return section;
}

/// Ours and published for every quantity of a table of measures.
Section measure_section(const Json& study) {
  std::vector<std::string> names;
  std::vector<DotChart> charts;
  for (const Json& dataset : list_at(study, "datasets")) {
    for (const Json& check : list_at(dataset, "checks")) {
      std::string quantity = text_at(check, "quantity");
      std::replace(quantity.begin(), quantity.end(), '_', ' ');
      const size_t place = place_of(names, quantity);
      if (place == charts.size()) {
        charts.push_back({.title = quantity,
                          .note = {},
                          .x_label = quantity,
                          .dots = {},
                          .reference_name = "published"});
      }
      const auto value_of = [](const std::string& text) {
        char* rest = nullptr;
        const double value = std::strtod(text.c_str(), &rest);
        return text.empty() || *rest != '\0' ? std::nan("") : value;
      };
      const double ours = value_of(text_at(check, "found"));
      charts[place].dots.push_back(
          {text_at(dataset, "dataset"), ours, ours, ours, value_of(text_at(check, "published"))});
    }
  }
  Section section{"Ours and published", "", {}};
  // Counts run over many orders of magnitude; the table has them.
  if (text_at(study, "table") == "homophily") {
    for (DotChart& chart : charts) section.blocks.emplace_back(std::move(chart));
  }
  return section;
}

}  // namespace

std::vector<Section> reproduction_sections(const Json& study) {
  std::vector<Section> sections(1);
  sections[0].title = "Tables";
  for (const Json& table : list_at(study, "tables")) {
    sections[0].blocks.emplace_back(study_table(table));
  }
  const auto add = [&](Section section) {
    if (!section.blocks.empty()) sections.push_back(std::move(section));
  };
  const Json& beside = table_with(study, "deviations");
  Section paper{"Beside the paper", "", {}};
  for (Heatmap map :
       {beside_paper(beside, "deviations", "Ours minus published, in standard deviations",
                     "Standard deviations of the paper, of ours where it gives none. Blue: ours is "
                     "higher; orange: lower."),
        beside_paper(beside, "difference", "Ours minus published, in percentage points", "")}) {
    if (!map.rows.empty()) paper.blocks.emplace_back(std::move(map));
  }
  add(std::move(paper));
  add(synthetic_section(study));
  add(measure_section(study));
  for (const Json& dataset : list_at(study, "studies")) {
    const std::string name = text_at(dataset, "dataset");
    Section section{name, "", {}};
    DotChart tests = test_chart(dataset, "Test metric on " + name);
    if (!tests.dots.empty()) section.blocks.emplace_back(std::move(tests));
    LineChart depths = depth_chart(dataset);
    if (!depths.lines.empty()) section.blocks.emplace_back(std::move(depths));
    add(std::move(section));
  }
  return sections;
}

}  // namespace dgat::report
