#include <fmt/format.h>

#include "dgat/core/progress.h"
#include "dgat/study/engine.h"
#include "dgat/study/table.h"
#include "dgat/study/tune.h"
#include "study_json.h"

namespace dgat::study {
namespace {

constexpr size_t kShown = 15;

std::string words(const train::Settings& choices) {
  std::string text;
  for (const auto& [key, value] : choices) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, value);
  }
  return text.empty() ? "the defaults" : text;
}

std::string rung_words(const Rung& rung) {
  return fmt::format("{} steps, {} split{}", rung.steps, rung.splits, rung.splits == 1 ? "" : "s");
}

const char* ending(const TuneResult& result) {
  return result.exhausted     ? "every candidate was tried"
         : result.interrupted ? "stopped by the user"
                              : "the budget ended";
}

Table candidate_table(const TuneResult& result) {
  Table table;
  table.title = "Best candidates";
  table.columns = {{"candidate", "candidate"}};
  for (const Rung& rung : result.rungs) {
    table.columns.push_back({fmt::format("val_{}_{}", rung.steps, rung.splits), rung_words(rung)});
  }
  table.columns.push_back({"advice_rank", "advice"});
  for (const Tried& t : result.tried) {
    if (table.rows.size() == kShown) break;
    std::vector<Cell> row = {words(t.choices)};
    for (size_t r = 0; r < result.rungs.size(); ++r) {
      row.push_back(r < t.values.size() ? Cell::number(100 * t.values[r]) : Cell());
    }
    row.push_back(t.advice_rank > 0 ? Cell(fmt::format("{}", t.advice_rank)) : Cell());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table gamma_table(const TuneResult& result) {
  Table table;
  table.title = "Sensitivity to gamma (" + rung_words(result.rungs.front()) + ")";
  table.columns = {
      {"gamma", "γ"}, {"candidates", "candidates"}, {"best", "best"}, {"mean", "mean"}};
  for (const GammaSensitivity& s : result.gammas) {
    table.rows.push_back({fmt::format("{:g}", s.gamma), fmt::format("{}", s.candidates),
                          Cell::number(100 * s.best), Cell::number(100 * s.mean)});
  }
  mark_best(table, "best");
  return table;
}

}  // namespace

std::string to_json(const TuneResult& result) {
  Json json = {{"dataset", result.dataset},
               {"model", result.model},
               {"metric", result.metric},
               {"ended", result.exhausted     ? "exhausted"
                         : result.interrupted ? "interrupted"
                                              : "budget"},
               {"seconds", result.seconds},
               {"trials", result.trials},
               {"machine", machine_description()},
               {"repeated_graphs", result.repeated},
               {"rungs", Json::array()},
               {"winner", nullptr},
               {"gamma_sensitivity", Json::array()},
               {"candidates", Json::array()}};
  for (const Rung& rung : result.rungs) {
    json["rungs"].push_back({{"steps", rung.steps}, {"splits", rung.splits}});
  }
  for (const Tried& t : result.tried) {
    json["candidates"].push_back(
        {{"options", t.choices},
         {"val", t.values},
         {"advice_rank", t.advice_rank > 0 ? Json(t.advice_rank) : Json(nullptr)},
         {"failure", t.failure.empty() ? Json(nullptr) : Json(t.failure)}});
  }
  json["winner"] = json["candidates"].front();
  for (const GammaSensitivity& s : result.gammas) {
    json["gamma_sensitivity"].push_back(
        {{"gamma", s.gamma}, {"candidates", s.candidates}, {"best", s.best}, {"mean", s.mean}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string to_markdown(const TuneResult& result) {
  const Tried& best = result.tried.front();
  const Rung& rung = result.rungs[best.values.size() - 1];
  std::string text = fmt::format(
      "# {} on {}: tuned by validation\n\n"
      "Winner: {}. Validation {} {:.2f}% ({}).\n\n"
      "{} candidates, {} trials in {}; {}. {} graphs that equal another one were left out. "
      "Machine: {}. Test "
      "labels were not read; `dgat train --config config.yaml` gives the test result.\n\n",
      result.model, result.dataset, words(best.choices), result.metric, 100 * best.values.back(),
      rung_words(rung), result.tried.size(), result.trials, format_duration(result.seconds),
      ending(result), result.repeated, machine_description());
  if (!result.gammas.empty()) text += gamma_table(result).markdown() + "\n";
  return text + candidate_table(result).markdown();
}

}  // namespace dgat::study
