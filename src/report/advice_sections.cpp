#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "read_json.h"
#include "sections.h"
#include "study_sections.h"

namespace dgat::report {
namespace {

constexpr size_t kShown = 20;

std::string rewiring_name(const Json& candidate) {
  const std::string epsilon = text_at(candidate, "epsilon");
  return text_at(candidate, "rewire") + (epsilon.empty() ? "" : " " + epsilon);
}

std::string candidate_name(const Json& candidate) {
  const double alpha = number_at(candidate, "alpha");
  return fmt::format("γ {}, {}{}", short_number(number_at(candidate, "gamma")),
                     rewiring_name(candidate),
                     alpha == 1 ? "" : fmt::format(", α {}", short_number(alpha)));
}

bool repeated(const Json& candidate) {
  const auto found = candidate.find("repeated");
  return found != candidate.end() && found->is_boolean() && found->get<bool>();
}

/// Gain over the graph as it is, with one standard error, of the best candidates.
DotChart gain_chart(const Json& advice) {
  DotChart chart{.title = "Best candidates",
                 .note =
                     "Share of the labels' variance predicted on held-out training nodes beyond "
                     "that of the graph as it is, with one standard error.",
                 .x_label = "gain",
                 .dots = {},
                 .markers = {{0, "the graph as it is"}}};
  for (const Json& candidate : list_at(advice, "candidates")) {
    if (repeated(candidate) || chart.dots.size() == kShown) continue;
    const double gain = number_at(candidate, "gain"), error = number_at(candidate, "gain_error");
    const double reach = std::isfinite(error) ? error : 0;
    chart.dots.push_back({candidate_name(candidate), gain, gain - reach, gain + reach});
  }
  return chart;
}

/// Scores of gamma by rewiring at the first alpha.
Heatmap score_map(const Json& advice) {
  Heatmap map{.title = "Score by γ and rewiring",
              .note =
                  "Share of the labels' variance predicted on held-out training nodes. A cell "
                  "with several candidates shows the highest score.",
              .row_label = "γ",
              .column_label = "rewiring",
              .rows = {},
              .columns = {},
              .values = {}};
  std::vector<double> gammas;
  for (const Json& candidate : list_at(advice, "candidates")) {
    gammas.push_back(number_at(candidate, "gamma"));
    map.columns.push_back(rewiring_name(candidate));
  }
  const auto distinct = [](auto& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  };
  std::erase_if(gammas, [](double gamma) { return !std::isfinite(gamma); });
  distinct(gammas);
  distinct(map.columns);
  for (const double gamma : gammas) map.rows.push_back(short_number(gamma));
  map.values.assign(gammas.size() * map.columns.size(), std::nan(""));
  for (const Json& candidate : list_at(advice, "candidates")) {
    const auto row = std::find(gammas.begin(), gammas.end(), number_at(candidate, "gamma"));
    if (row == gammas.end()) continue;
    const auto column = std::find(map.columns.begin(), map.columns.end(), rewiring_name(candidate));
    double& value = map.values[static_cast<size_t>(row - gammas.begin()) * map.columns.size() +
                               static_cast<size_t>(column - map.columns.begin())];
    value = std::fmax(value, number_at(candidate, "score"));
  }
  return map;
}

/// One figure of the eigenvector over gamma.
LineChart over_gamma(const Json& advice, const char* key, const std::string& title,
                     const std::string& y_label, Format format) {
  LineChart chart{.title = title,
                  .note = {},
                  .x_label = "γ",
                  .y_label = y_label,
                  .format = format,
                  .lines = {},
                  .log_x = true,
                  .points = true};
  std::vector<std::pair<double, double>> points;
  for (const Json& gamma : list_at(advice, "gammas")) {
    points.emplace_back(number_at(gamma, "gamma"), number_at(gamma, key));
    chart.log_x = chart.log_x && points.back().first > 0;
  }
  std::sort(points.begin(), points.end());
  Line line{.name = y_label, .x = {}, .y = {}};
  for (const auto& [gamma, value] : points) {
    line.x.push_back(gamma);
    line.y.push_back(value);
  }
  chart.lines.push_back(std::move(line));
  return chart;
}

Table candidate_table(const Json& advice) {
  Table table{"Candidates",
              "Agreement is the share of equal labels at the ends of edges between training nodes.",
              {{"candidate", Format::kText},
               {"score", Format::kNumber},
               {"held-out", Format::kPercent},
               {"gain", Format::kNumber},
               {"± error", Format::kNumber},
               {"edges", Format::kInteger},
               {"dropped", Format::kInteger},
               {"added", Format::kInteger},
               {"agreement kept", Format::kPercent},
               {"dropped", Format::kPercent},
               {"added", Format::kPercent},
               {"remark", Format::kText}},
              {}};
  for (const Json& candidate : list_at(advice, "candidates")) {
    const auto agreement = [&](const char* key) {
      return number_at(object_at(candidate, key), "agreement");
    };
    table.rows.push_back(
        {candidate_name(candidate), number_at(candidate, "score"), number_at(candidate, "held_out"),
         number_at(candidate, "gain"), number_at(candidate, "gain_error"),
         number_at(candidate, "edges_after"), number_at(candidate, "dropped_edges"),
         number_at(candidate, "added_edges"), agreement("kept"), agreement("dropped"),
         agreement("added"), repeated(candidate) ? "same graph as another" : ""});
  }
  return table;
}

Facts choice_card(const Json& advice) {
  const auto clear = advice.find("clear");
  return {
      "Advice",
      {{"choice", candidate_name(object_at(advice, advice.contains("best") ? "best" : "choice"))},
       {"clear", clear != advice.end() && clear->is_boolean() && clear->get<bool>() ? "yes" : "no"},
       {"data set", text_at(advice, "dataset")},
       {"split", text_at(advice, "split")},
       {"training nodes", grouped(integer_at(advice, "training_nodes"))},
       {"adjusted homophily of their edges", short_number(number_at(advice, "adjusted_homophily"))},
       {"time", duration(number_at(advice, "seconds"))}}};
}

}  // namespace

std::vector<Section> advice_sections(const Json& advice) {
  Section section{"Advice", text_at(advice, "reason"), {choice_card(advice)}};
  section.blocks.emplace_back(
      over_gamma(advice, "score", "Score over γ", "score", Format::kNumber));
  section.blocks.emplace_back(gain_chart(advice));
  section.blocks.emplace_back(score_map(advice));
  section.blocks.emplace_back(candidate_table(advice));
  Section vector{"The eigenvector over γ", "", {}};
  vector.blocks.emplace_back(
      over_gamma(advice, "eigenvalue", "Eigenvalue over γ", "eigenvalue", Format::kNumber));
  vector.blocks.emplace_back(
      over_gamma(advice, "gap", "Gap to the next eigenvalue", "gap", Format::kNumber));
  vector.blocks.emplace_back(over_gamma(advice, "participation_ratio",
                                        "Nodes on which φ is concentrated", "share of the nodes",
                                        Format::kPercent));
  vector.blocks.emplace_back(over_gamma(advice, "class_share", "Classes in φ",
                                        "variance between classes", Format::kPercent));
  return {std::move(section), std::move(vector)};
}

std::vector<Section> advice_check_sections(const Json& check) {
  Section section{"Advice against training",
                  "Every candidate is scored without training and then trained. ρ is Spearman's "
                  "correlation of the two orders; the regret is the loss of the choice against the "
                  "best candidate.",
                  {}};
  Table table{
      "By data set",
      "Regret in validation metric. The ceiling is the ρ that the noise of training leaves.",
      {{"data set", Format::kText},
       {"ρ", Format::kNumber},
       {"ρ of γ", Format::kNumber},
       {"ceiling", Format::kNumber},
       {"best", Format::kPercent},
       {"regret", Format::kPercent},
       {"graph as it is", Format::kPercent},
       {"random choice", Format::kPercent},
       {"seconds", Format::kNumber}},
      {}};
  DotChart chart{.title = "Correlation of advice and training",
                 .note = {},
                 .x_label = "ρ",
                 .dots = {},
                 .reference_name = "ceiling",
                 .markers = {{0, "no better than chance"}}};
  std::vector<Block> details;
  for (const Json& set : list_at(check, "datasets")) {
    const std::string name = text_at(set, "dataset");
    const double rho = number_at(set, "rho");
    table.rows.push_back({name, rho, number_at(set, "rho_gamma"), number_at(set, "ceiling"),
                          number_at(set, "best_val"), number_at(set, "regret"),
                          number_at(set, "regret_plain"), number_at(set, "regret_random"),
                          number_at(set, "advice_seconds")});
    chart.dots.push_back({name, rho, rho, rho, number_at(set, "ceiling")});
    Line line{.name = "candidate", .x = {}, .y = {}, .joined = false};
    for (const Json& candidate : list_at(set, "candidates")) {
      line.x.push_back(number_at(candidate, "score"));
      line.y.push_back(number_at(candidate, "val"));
    }
    details.emplace_back(LineChart{.title = name,
                                   .note = "With good advice, the dots rise to the right.",
                                   .x_label = "score of the advice",
                                   .y_label = "validation after training",
                                   .format = Format::kPercent,
                                   .lines = {std::move(line)}});
  }
  section.blocks = {std::move(chart), std::move(table)};
  return {std::move(section), {"Candidates", "", std::move(details)}};
}

}  // namespace dgat::report
