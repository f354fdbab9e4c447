#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "read_json.h"
#include "sections.h"
#include "study_sections.h"

namespace dgat::report {
namespace {

/// Differences to the reference with their 95% intervals; no dots when nothing was tested.
DotChart difference_chart(const Json& study) {
  const std::string reference = text_at(study, "reference");
  DotChart chart{.title = "Difference to " + reference,
                 .note =
                     "Mean difference over the splits with its 95% interval from the corrected "
                     "resampled t-test. An interval without zero means p < 0.05 before the "
                     "adjustment for the number of rows.",
                 .x_label = "test " + metric_name(text_at(study, "metric")) + ", difference",
                 .format = metric_format(),
                 .dots = {},
                 .markers = {{0, reference}}};
  for (const Json& row : list_at(study, "rows")) {
    const Json& test = object_at(row, "versus_reference");
    if (!std::isfinite(number_at(test, "difference"))) continue;
    chart.dots.push_back({text_at(row, "name"), number_at(test, "difference"),
                          number_at(test, "low"), number_at(test, "high")});
  }
  std::stable_sort(chart.dots.begin(), chart.dots.end(),
                   [](const Dot& a, const Dot& b) { return a.value > b.value; });
  return chart;
}

Heatmap split_map(const Json& study) {
  const std::vector<StudyRow> rows = study_rows(study);
  Heatmap map{.title = "Test metric by split",
              .note = "All rows are measured on the same splits.",
              .row_label = "row",
              .column_label = "split",
              .format = metric_format(),
              .rows = {},
              .columns = {},
              .values = {}};
  for (const StudyRow& row : rows) {
    if (!row.finished()) continue;
    map.rows.push_back(row.name);
    map.values.insert(map.values.end(), row.samples.begin(), row.samples.end());
    map.columns.resize(row.samples.size());
  }
  for (size_t k = 0; k < map.columns.size(); ++k) map.columns[k] = std::to_string(k);
  return map;
}

Facts card(const Json& study) {
  Facts facts{"Study",
              {{"what", text_at(study, "study")},
               {"data set", text_at(study, "dataset")},
               {"metric", metric_name(text_at(study, "metric"))},
               {"rows", std::to_string(list_at(study, "rows").size())},
               {"splits", text_at(study, "splits")},
               {"tested against", text_at(study, "reference")},
               {"training time", duration(number_at(study, "seconds"))},
               {"machine", text_at(study, "machine")}}};
  if (integer_at(study, "trials_left") > 0) {
    facts.rows.emplace_back("not run yet", fmt::format("{} trials", text_at(study, "trials_left")));
  }
  return facts;
}

Table options_table(const Json& study) {
  Table table{"Options of every row",
              "Options that differ from the defaults, as validation chose them.",
              {{"row", Format::kText},
               {"model", Format::kText},
               {"layers", Format::kInteger},
               {"parameters", Format::kInteger},
               {"trials", Format::kInteger},
               {"options", Format::kText},
               {"failure", Format::kText}},
              {}};
  for (const Json& row : list_at(study, "rows")) {
    table.rows.push_back({text_at(row, "name"), text_at(row, "model"), number_at(row, "layers"),
                          number_at(row, "parameters"), number_at(row, "trials"),
                          options_text(object_at(row, "options")), text_at(row, "failure")});
  }
  return table;
}

}  // namespace

std::vector<Section> comparison_sections(const Json& study) {
  Section result{"Results", "", {}},
      how{"How", "Validation chooses. Test values are shown and choose nothing.", {}};
  DotChart tests = test_chart(study, "Test " + metric_name(text_at(study, "metric")));
  if (!tests.dots.empty()) result.blocks.emplace_back(std::move(tests));
  result.blocks.emplace_back(study_table(object_at(study, "table")));
  DotChart differences = difference_chart(study);
  if (!differences.dots.empty()) result.blocks.emplace_back(std::move(differences));
  Heatmap splits = split_map(study);
  if (!splits.rows.empty()) result.blocks.emplace_back(std::move(splits));

  how.blocks.emplace_back(card(study));
  for (LineChart chart : {gamma_chart(study, "Test metric over γ"), depth_chart(study)}) {
    if (!chart.lines.empty()) how.blocks.emplace_back(std::move(chart));
  }
  how.blocks.emplace_back(options_table(study));
  return {std::move(result), std::move(how)};
}

}  // namespace dgat::report
