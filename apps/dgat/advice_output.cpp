#include "advice_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dgat/study/table.h"
#include "table_output.h"

namespace dgat::app {
namespace {

constexpr size_t kShown = 10;
constexpr size_t kLineLength = 96;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json edges_json(const study::EdgeLabels& e) {
  return {{"edges", e.edges},
          {"agreement", number(e.agreement)},
          {"label_informativeness", number(e.informativeness)}};
}

Json candidate_json(const study::Candidate& c) {
  return {{"gamma", c.gamma},
          {"alpha", c.alpha},
          {"rewire", rewire::to_string(c.mode)},
          {"epsilon", c.epsilon ? Json(rewire::to_string(*c.epsilon)) : Json(nullptr)}};
}

Json score_json(const study::CandidateScore& c) {
  Json json = candidate_json(c.candidate);
  json.update({{"score", c.score},
               {"held_out", number(c.metric)},
               {"gain", number(c.gain)},
               {"gain_error", number(c.error)},
               {"repeated", c.repeated},
               {"edges_after", c.report.edges_after},
               {"dropped_edges", c.report.dropped},
               {"added_edges", c.report.added},
               {"kept", edges_json(c.kept)},
               {"dropped", edges_json(c.dropped)},
               {"added", edges_json(c.added)}});
  return json;
}

std::string share(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.2f}", value);
}

/// Words broken into lines.
std::string wrapped(const std::string& text) {
  std::string out;
  size_t column = 0;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    if (column > 0 && column + (end - begin) + 1 > kLineLength) {
      out += '\n';
      column = 0;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += text.substr(begin, end - begin);
    column += end - begin;
    begin = end + 1;
  }
  return out + "\n";
}

Json race_json(const study::Race& race) {
  Json json = {{"raced", race.run()},         {"metric", race.metric},
               {"trainings", race.trainings}, {"validation_nodes", race.validation_nodes},
               {"gain", race.gain},           {"error", race.error},
               {"clear", race.clear},         {"left_out", race.left_out},
               {"seconds", race.seconds},     {"levels", Json::array()},
               {"candidates", Json::array()}};
  for (const study::Rung& level : race.levels) {
    json["levels"].push_back({{"steps", level.steps}, {"splits", level.splits}});
  }
  for (const study::Raced& c : race.candidates) {
    Json one = candidate_json(c.candidate);
    one.update({{"level", c.level}, {"val", c.level < 0 ? Json(nullptr) : Json(c.val)}});
    if (!c.failure.empty()) one["failure"] = c.failure;
    json["candidates"].push_back(std::move(one));
  }
  return json;
}

study::Table race_table(const study::Race& race) {
  study::Table table = study::Table::of({"raced", "validation", "steps", "splits"});
  for (size_t r = 0; r < std::min(race.candidates.size(), kShown); ++r) {
    const study::Raced& c = race.candidates[r];
    if (c.level < 0) continue;
    const study::Rung& level = race.levels[static_cast<size_t>(c.level)];
    table.row({train::to_string(c.candidate), fmt::format("{:.2f}%", 100 * c.val),
               fmt::format("{}", level.steps), fmt::format("{}", level.splits)});
  }
  return table;
}

}  // namespace

Json advice_json(const study::Advice& advice, const std::optional<study::Race>& race) {
  const bool raced = race && race->run();
  Json json = {{"dataset", advice.dataset},
               {"split", advice.split},
               {"training_nodes", advice.training_nodes},
               {"metric", advice.metric == data::Metric::kRocAuc ? "roc_auc" : "accuracy"},
               {"adjusted_homophily", number(advice.adjusted_homophily)},
               {"best", candidate_json(raced ? race->best() : advice.best().candidate)},
               {"clear", raced ? race->clear : advice.clear},
               {"reason", race ? advice.reason + " " + race->reason : advice.reason},
               {"gammas", Json::array()},
               {"reference", score_json(advice.reference)},
               {"candidates", Json::array()}};
  for (const study::GammaScore& g : advice.gammas) {
    json["gammas"].push_back({{"gamma", g.gamma},
                              {"score", g.score},
                              {"eigenvalue", g.eigenvalue},
                              {"gap", number(g.gap)},
                              {"multiplicity", g.multiplicity},
                              {"participation_ratio", number(g.participation_ratio)},
                              {"class_share", g.class_share},
                              {"converged", g.converged}});
  }
  for (const study::CandidateScore& c : advice.candidates) {
    json["candidates"].push_back(score_json(c));
  }
  if (race) json["race"] = race_json(*race);
  json["seconds"] = advice.seconds + (race ? race->seconds : 0);
  return json;
}

std::string to_text(const study::Advice& advice, const std::string& train_command,
                    const std::optional<study::Race>& race) {
  const bool raced = race && race->run();
  study::Table gammas =
      study::Table::of({"gamma", "score", "eigenvalue", "gap", "nodes in phi", "classes in phi"});
  for (const study::GammaScore& g : advice.gammas) {
    gammas.row({fmt::format("{:g}", g.gamma), fmt::format("{:.4f}", g.score),
                fmt::format("{:.3g}", g.eigenvalue), fmt::format("{:.2g}", g.gap),
                fmt::format("{:.1f}%", 100 * g.participation_ratio),
                fmt::format("{:.1f}%", 100 * std::max(0.0, g.class_share))});
  }
  study::Table best =
      study::Table::of({"candidate", "score", "held-out", "gain", "edges", "agree kept/dropped"});
  size_t shown = 0;
  for (const study::CandidateScore& c : advice.candidates) {
    if (c.repeated || shown++ >= kShown) continue;
    best.row({train::to_string(c.candidate), fmt::format("{:.4f}", c.score),
              fmt::format("{:.2f}%", 100 * c.metric), fmt::format("{:+.4f}", c.gain),
              fmt::format("{}", c.report.edges_after),
              fmt::format("{} / {}", share(c.kept.agreement), share(c.dropped.agreement))});
  }
  const study::Candidate& choice = raced ? race->best() : advice.best().candidate;
  std::string command = fmt::format("{} --gamma {:g} --alpha {:g} --rewire {}", train_command,
                                    choice.gamma, choice.alpha, rewire::to_string(choice.mode));
  if (choice.epsilon) command += " --epsilon " + rewire::to_string(*choice.epsilon);
  std::string text = fmt::format("{}, split {}: {} training nodes\n\n{}\n{}\n{}", advice.dataset,
                                 advice.split, advice.training_nodes, on_screen(gammas),
                                 on_screen(best), wrapped(advice.reason));
  if (raced) text += "\n" + on_screen(race_table(*race));
  if (race) text += "\n" + wrapped(race->reason);
  return fmt::format("{}\n  {}\n", text, command);
}

}  // namespace dgat::app
