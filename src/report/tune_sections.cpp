#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "dgat/study/statistics.h"
#include "read_json.h"
#include "search_history.h"
#include "sections.h"
#include "study_sections.h"

namespace dgat::report {
namespace {

constexpr const char* kAdvances = "one candidate";

std::vector<SearchRung> rungs_of(const Json& study) {
  std::vector<SearchRung> rungs;
  for (const Json& rung : list_at(study, "rungs")) {
    rungs.push_back({integer_at(rung, "steps"), integer_at(rung, "splits")});
  }
  return rungs;
}

std::string rung_name(const SearchRung& rung) {
  return fmt::format("{} steps, {} split{}", grouped(rung.steps), rung.splits,
                     rung.splits == 1 ? "" : "s");
}

/// Validation metric of a candidate at a rung; not-a-number when it did not come so far.
double value_at(const Json& candidate, size_t rung) {
  const Json& values = list_at(candidate, "val");
  return rung < values.size() && values[rung].is_number() ? values[rung].get<double>()
                                                          : std::nan("");
}

/// From rung to rung of every candidate that advanced, with a gap between two candidates.
Line advances(const std::vector<SearchEvent>& events) {
  std::map<size_t, std::vector<SearchEvent>> of_candidate;
  for (const SearchEvent& event : events) of_candidate[event.candidate].push_back(event);
  Line line{.name = kAdvances, .x = {}, .y = {}};
  for (const auto& [candidate, path] : of_candidate) {
    if (path.size() < 2) continue;
    if (!line.x.empty()) {
      line.x.push_back(line.x.back());
      line.y.push_back(std::nan(""));
    }
    for (const SearchEvent& event : path) {
      line.x.push_back(event.seconds);
      line.y.push_back(event.val);
    }
  }
  return line;
}

/// The events of a search as dots, or as the best value so far.
LineChart history_chart(const std::vector<SearchEvent>& events,
                        const std::vector<SearchRung>& rungs, const std::string& metric,
                        bool best_so_far) {
  LineChart chart{.title = best_so_far ? "Best so far" : "Search history",
                  .note = best_so_far
                              ? "The highest validation metric at every rung; rungs with fewer "
                                "splits have higher maxima by chance, so compare within one."
                              : "A dot is a candidate that finished a rung; a line connects the "
                                "rungs of one candidate. Time is that of training, added over all "
                                "trials.",
                  .x_label = "seconds of training",
                  .y_label = "validation " + metric,
                  .format = metric_format(),
                  .lines = {}};
  for (size_t r = 0; r < rungs.size(); ++r) {
    Line line{.name = rung_name(rungs[r]), .x = {}, .y = {}, .joined = best_so_far};
    for (const SearchEvent& event : events) {
      if (event.rung != r) continue;
      const double before = line.y.empty() ? event.val : line.y.back();
      if (best_so_far && !line.y.empty()) {  // a step, not a slope
        line.x.push_back(event.seconds);
        line.y.push_back(before);
      }
      line.x.push_back(event.seconds);
      line.y.push_back(best_so_far ? std::max(before, event.val) : event.val);
    }
    if (best_so_far && !line.x.empty()) {
      line.x.push_back(events.back().seconds);
      line.y.push_back(line.y.back());
    }
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  }
  if (Line line = advances(events); !best_so_far && !line.x.empty()) {
    chart.lines.push_back(std::move(line));
  }
  return chart;
}

BarChart rung_chart(const Json& study, const std::vector<SearchRung>& rungs) {
  BarChart chart{.title = "Candidates per rung",
                 .note = "The best third of a rung advances to the next.",
                 .x_label = "rung",
                 .y_label = "candidates",
                 .groups = {},
                 .series = {{.name = "candidates", .values = {}}}};
  for (size_t r = 0; r < rungs.size(); ++r) {
    double reached = 0;
    for (const Json& candidate : list_at(study, "candidates")) {
      reached += std::isfinite(value_at(candidate, r)) ? 1 : 0;
    }
    chart.groups.push_back(rung_name(rungs[r]));
    chart.series[0].values.push_back(reached);
  }
  return chart;
}

LineChart gamma_sensitivity(const Json& study, const std::string& metric) {
  LineChart chart{.title = "Sensitivity to γ",
                  .note = "Values at the first rung, which every candidate has finished.",
                  .x_label = "γ",
                  .y_label = "validation " + metric,
                  .format = metric_format(),
                  .lines = {{.name = "best", .x = {}, .y = {}}, {.name = "mean", .x = {}, .y = {}}},
                  .log_x = true,
                  .points = true};
  for (const Json& point : list_at(study, "gamma_sensitivity")) {
    const double gamma = number_at(point, "gamma");
    chart.log_x = chart.log_x && gamma > 0;
    for (Line& line : chart.lines) {
      line.x.push_back(gamma);
      line.y.push_back(number_at(point, line.name.c_str()));
    }
  }
  return chart;
}

/// Candidates, best and mean of the first rung for every value of every searched option.
Table option_table(const Json& study) {
  struct Tally {
    double count = 0, best = 0, sum = 0;
  };
  std::map<std::string, std::map<std::string, Tally>> by_option;
  for (const Json& candidate : list_at(study, "candidates")) {
    const double val = value_at(candidate, 0);
    if (!std::isfinite(val)) continue;
    for (const auto& [key, value] : object_at(candidate, "options").items()) {
      Tally& tally = by_option[key][value.is_string() ? value.get<std::string>() : value.dump()];
      tally.best = tally.count == 0 ? val : std::max(tally.best, val);
      tally.count += 1;
      tally.sum += val;
    }
  }
  Table table{"Validation by option",
              "First rung. Other options vary, too, so a difference is not a proof.",
              {{"option", Format::kText},
               {"value", Format::kText},
               {"candidates", Format::kInteger},
               {"best", metric_format()},
               {"mean", metric_format()}},
              {}};
  for (const auto& [key, values] : by_option) {
    for (const auto& [value, tally] : values) {
      table.rows.push_back({key, value, tally.count, tally.best, tally.sum / tally.count});
    }
  }
  return table;
}

Table candidate_table(const Json& study, const std::vector<SearchRung>& rungs) {
  Table table{"Candidates", "Best first: rungs reached, then validation there.", {}, {}};
  std::set<std::string> keys;
  const Json& candidates = list_at(study, "candidates");
  for (const Json& candidate : candidates) {
    for (const auto& [key, value] : object_at(candidate, "options").items()) keys.insert(key);
  }
  table.columns.push_back({"place", Format::kInteger});
  for (const std::string& key : keys) table.columns.push_back({key, Format::kText});
  for (const SearchRung& rung : rungs) table.columns.push_back({rung_name(rung), metric_format()});
  table.columns.push_back({"advice", Format::kInteger});
  table.columns.push_back({"failure", Format::kText});
  for (const Json& candidate : candidates) {
    std::vector<Cell> row = {static_cast<double>(table.rows.size() + 1)};
    const Json& options = object_at(candidate, "options");
    for (const std::string& key : keys) row.emplace_back(text_at(options, key.c_str()));
    for (size_t r = 0; r < rungs.size(); ++r) row.emplace_back(value_at(candidate, r));
    row.emplace_back(number_at(candidate, "advice_rank"));
    row.emplace_back(text_at(candidate, "failure"));
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Where the advice put the graph of a candidate, against what training gave.
LineChart advice_chart(const Json& study, const std::string& metric) {
  Line line{.name = "candidate", .x = {}, .y = {}, .joined = false};
  for (const Json& candidate : list_at(study, "candidates")) {
    const double rank = number_at(candidate, "advice_rank"), val = value_at(candidate, 0);
    if (!std::isfinite(rank) || !std::isfinite(val)) continue;
    line.x.push_back(rank);
    line.y.push_back(val);
  }
  std::string note =
      "Place of the candidate's graph in the advice (1 is the best) and validation at the first "
      "rung. With good advice, the dots fall to the right. Candidates on one graph differ in their "
      "rates.";
  if (const double rho = study::rank_correlation(line.x, line.y); std::isfinite(rho)) {
    note +=
        fmt::format(" Rank correlation over all candidates: {:.2f} (-1 would be perfect).", rho);
  }
  return {.title = "Advice against training",
          .note = note,
          .x_label = "place in the advice",
          .y_label = "validation " + metric,
          .format = metric_format(),
          .lines = {std::move(line)}};
}

Facts winner_card(const Json& study, const std::vector<SearchRung>& rungs) {
  const Json& winner = object_at(study, "winner");
  const Json& values = list_at(winner, "val");
  Facts facts{"Search",
              {{"data set", text_at(study, "dataset")},
               {"model", text_at(study, "model")},
               {"candidates", grouped(static_cast<int64_t>(list_at(study, "candidates").size()))},
               {"ended by", text_at(study, "ended")},
               {"time", duration(number_at(study, "seconds"))},
               {"machine", text_at(study, "machine")}}};
  if (!values.empty() && values.size() <= rungs.size()) {
    const size_t last = values.size() - 1;
    facts.rows.emplace_back(
        "validation of the winner",
        fmt::format("{:.2f}% ({})", 100 * value_at(winner, last), rung_name(rungs[last])));
  }
  return facts;
}

}  // namespace

std::vector<Section> tune_sections(const Json& study, const std::filesystem::path& ledger) {
  const std::string metric = metric_name(text_at(study, "metric"));
  const std::vector<SearchRung> rungs = rungs_of(study);
  Section result{"Winner",
                 "Chosen on validation alone: no test label was read. The command gives the test "
                 "result.",
                 {winner_card(study, rungs)}};
  Facts options{"Winning options", {}};
  for (const auto& [key, value] : object_at(object_at(study, "winner"), "options").items()) {
    options.rows.emplace_back(key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  result.blocks.emplace_back(std::move(options));
  Section search{"Search", "", {}};
  if (const std::vector<SearchEvent> events = search_history(ledger, rungs); !events.empty()) {
    search.blocks.emplace_back(history_chart(events, rungs, metric, false));
    search.blocks.emplace_back(history_chart(events, rungs, metric, true));
  }
  search.blocks.emplace_back(rung_chart(study, rungs));
  if (LineChart chart = gamma_sensitivity(study, metric); chart.lines[0].x.size() > 1) {
    search.blocks.emplace_back(std::move(chart));
  }
  if (LineChart chart = advice_chart(study, metric); chart.lines[0].x.size() > 2) {
    search.blocks.emplace_back(std::move(chart));
  }
  search.blocks.emplace_back(option_table(study));
  search.blocks.emplace_back(candidate_table(study, rungs));
  return {std::move(result), std::move(search)};
}

}  // namespace dgat::report
