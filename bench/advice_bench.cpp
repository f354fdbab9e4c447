// How reliable is `dgat advise`: over data sets, every candidate gamma x rewiring is judged
// without training and then trained, and the two orders are compared. Prints a table, writes a
// JSON.
//
//   advice_bench texas.npz mixhop:0.2 mixhop:0.8:1000 --recipe classic --ledger trials.jsonl
//
// Columns: rho, Spearman's correlation of score and validation metric over all candidates; of gamma
// alone (mean over the rewirings); the ceiling that the noise of the trained models leaves (from
// the agreement between splits); regret, in percentage points of validation metric against the best
// candidate, of the advice (the best-scored one), of the advice where it is clear and
// otherwise the graph as it is, of the graph as it is (gamma 1, no rewiring), of a random choice;
// in which share of the splits it was clear. With --race SECONDS the same for the choice of a race,
// and what it gains over the graph as it is, on validation and on test nodes. The race has another
// seed than the trainings that it is judged by. Its seconds are those
// of the processors per thread, ranking included: other work on the machine changes nothing.
// --known FILE: lines of a ledger that stand in for trainings, whatever their results version.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "dgat/study/advise.h"
#include "dgat/study/engine.h"
#include "dgat/study/race.h"
#include "dgat/study/statistics.h"
#include "dgat/study/table.h"
#include "dgat/synth/mixhop.h"
#include "stopwatch.h"

namespace {
using namespace dgat;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> data;
  std::vector<double> gammas = {0.03, 0.1, 0.3, 0.6, 1};
  std::string recipe = "classic", ledger, out;
  std::vector<std::string> known;
  double race = 0;  // seconds; 0: no race
  train::Settings training;
  int splits = 3;
};

/// A file, or "mixhop:MU" or "mixhop:MU:NODES": a small generated graph of 5 classes.
data::Dataset read(const std::string& name, int splits) {
  if (!name.starts_with("mixhop:")) {
    data::LoadOptions options;
    options.splits.count = splits;
    options.splits.required = true;
    return data::load_dataset(name, options);
  }
  synth::MixhopOptions o;
  const size_t colon = name.find(':', 7);
  o.mu = std::stod(name.substr(7, colon - 7));
  o.nodes = colon == std::string::npos ? 800 : std::stoi(name.substr(colon + 1));
  o.classes = 6;
  o.splits = splits;
  o.seed = 3;
  data::Dataset dataset = synth::mixhop(o);
  dataset.name = name;
  return dataset;
}

double spearman(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& values) {
    std::vector<std::vector<double>> rows;
    for (const double v : values) rows.push_back({v});
    return study::average_ranks(rows);
  };
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::nan("");
}

double mean_of(const std::vector<double>& values) {
  double sum = 0, count = 0;
  for (const double v : values) {
    if (std::isnan(v)) continue;
    sum += v;
    ++count;
  }
  return count > 0 ? sum / count : std::nan("");
}

struct Row {
  std::string name;
  std::vector<study::Candidate> candidates;
  std::vector<double> score, held, val, test;
  double rho = 0, rho_held = 0, rho_gamma = 0, ceiling = 0;
  double best = 0, regret = 0, regret_careful = 0, regret_plain = 0, regret_random = 0, clear = 0;
  double seconds = 0;
  study::Race race;
  double regret_race = 0, gain_race = 0, test_gain_race = 0, race_seconds = 0;
};

/// Validation and test metrics of the lines of other ledgers.
class Known {
 public:
  explicit Known(const std::vector<std::string>& files) {
    for (const std::string& file : files) {
      std::ifstream stream(file);
      if (!stream) throw_input("{}: cannot be read", file);
      for (std::string line; std::getline(stream, line);) {
        if (const auto result = study::parse_line(line)) {
          known_[name(result->dataset, result->layers, result->split, result->options)] = *result;
        }
      }
    }
  }
  const study::TrialResult* find(const study::Trial& trial) const {
    const auto at = known_.find(name(trial.data.dataset->name, trial.layers, trial.split,
                                     study::differing_options(*trial.config)));
    return at == known_.end() ? nullptr : &at->second;
  }

 private:
  static std::string name(const std::string& dataset, int64_t layers, int64_t split,
                          const std::map<std::string, std::string>& options) {
    std::string text = fmt::format("{} {} {}", dataset, layers, split);
    for (const auto& [key, value] : options) text += fmt::format(" {}={}", key, value);
    return text;
  }
  std::map<std::string, study::TrialResult> known_;
};

/// The results of the trials: known ones, and trainings of the others.
std::vector<std::optional<study::TrialResult>> results_of(const std::vector<study::Trial>& trials,
                                                          const Known& known, study::Ledger& ledger,
                                                          study::InputStore& inputs) {
  std::vector<std::optional<study::TrialResult>> results(trials.size());
  std::vector<study::Trial> missing;
  std::vector<size_t> places;
  for (size_t t = 0; t < trials.size(); ++t) {
    if (const study::TrialResult* result = known.find(trials[t])) {
      results[t] = *result;
    } else {
      missing.push_back(trials[t]);
      places.push_back(t);
    }
  }
  const auto outcomes = study::run_trials(missing, ledger, inputs, {.label = "advice_bench"});
  for (size_t m = 0; m < outcomes.size(); ++m) results[places[m]] = outcomes[m].result;
  return results;
}

/// Square root of the reliability of the mean over splits (Spearman and Brown).
double ceiling(const std::vector<std::vector<double>>& by_split) {
  std::vector<double> pairs;
  for (size_t a = 0; a < by_split.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs.push_back(spearman(by_split[a], by_split[b]));
  }
  const double r = mean_of(pairs), k = static_cast<double>(by_split.size());
  return r > 0 ? std::sqrt(k * r / (1 + (k - 1) * r)) : 0;
}

Row check(const std::string& name, const Options& options, const Known& known,
          study::Ledger& ledger, spectral::SpectralCache& cache) {
  const study::TrialData data = study::trial_data(read(name, options.splits));
  Row row;
  row.name = data.dataset->name;
  study::AdviceOptions question;
  question.gammas = options.gammas;
  question.alphas = {1};
  question.own_features = options.recipe != "classic";
  for (const double gamma : question.gammas) {
    for (const study::Rewiring& r : question.rewirings) {
      row.candidates.push_back({gamma, 1, r.mode, r.epsilon});
    }
  }
  const size_t count = row.candidates.size();
  row.score.resize(count);
  row.held.resize(count);
  const double share = 1.0 / options.splits;
  const auto place = [&](const study::Candidate& c) {
    const auto at = std::find(row.candidates.begin(), row.candidates.end(), c);
    return static_cast<size_t>(at - row.candidates.begin());
  };
  std::vector<size_t> careful;  // by split
  for (int64_t s = 0; s < options.splits; ++s) {
    const double start = bench::now();
    const study::Advice advice = study::advise(*data.dataset, s, question, cache);
    row.seconds += advice.seconds * share;
    if (s == 0 && options.race > 0) {
      study::RaceOptions request{.settings = options.training};
      request.settings["recipe"] = options.recipe;
      request.settings["seed"] = "1";
      request.clock = bench::now;
      request.seconds = options.race - (bench::now() - start);
      row.race = study::race(*data.dataset, advice, request, cache);
      row.race_seconds = bench::now() - start;
    }
    row.clear += advice.clear ? share : 0;
    careful.push_back(place((advice.clear ? advice.best() : advice.reference).candidate));
    for (const study::CandidateScore& c : advice.candidates) {
      const size_t at = place(c.candidate);
      row.score[at] += c.score * share;
      row.held[at] += c.metric * share;
    }
  }
  std::vector<study::Trial> trials;
  for (const study::Candidate& c : row.candidates) {
    train::Settings settings = options.training;
    settings["recipe"] = options.recipe;
    settings["alpha"] = fmt::format("{}", c.alpha);
    settings["gamma"] = fmt::format("{}", c.gamma);
    settings["rewire"] = rewire::to_string(c.mode);
    settings["epsilon"] = c.epsilon ? rewire::to_string(*c.epsilon) : "auto";
    const auto config = std::make_shared<const train::Config>(train::resolve(settings));
    for (int64_t s = 0; s < options.splits; ++s) {
      trials.push_back({data, config, config->layers.first, s});
    }
  }
  study::InputStore inputs(cache);
  const auto results = results_of(trials, known, ledger, inputs);
  std::vector<std::vector<double>> by_split(static_cast<size_t>(options.splits));
  row.test.resize(count);
  for (size_t t = 0; t < results.size(); ++t) {
    by_split[t % by_split.size()].push_back(results[t] ? results[t]->val : 0);
    row.test[t / by_split.size()] += share * (results[t] ? results[t]->test : 0);
  }
  for (size_t c = 0; c < count; ++c) {
    row.val.push_back(0);
    for (const auto& split : by_split) row.val.back() += split[c] * share;
  }
  row.rho = spearman(row.score, row.val);
  row.rho_held = spearman(row.held, row.val);
  row.ceiling = ceiling(by_split);
  std::vector<double> of_gamma;
  const size_t columns = question.rewirings.size();
  for (size_t r = 0; r < columns; ++r) {
    std::vector<double> s, v;
    for (size_t g = 0; g < question.gammas.size(); ++g) {
      s.push_back(row.score[g * columns + r]);
      v.push_back(row.val[g * columns + r]);
    }
    of_gamma.push_back(spearman(s, v));
  }
  row.rho_gamma = mean_of(of_gamma);
  row.best = *std::max_element(row.val.begin(), row.val.end());
  const auto first =
      static_cast<size_t>(std::max_element(row.score.begin(), row.score.end()) - row.score.begin());
  row.regret = row.best - row.val[first];
  for (const size_t choice : careful) {
    row.regret_careful += (row.best - row.val.at(choice)) * share;
  }
  row.regret_plain = row.best - row.val.at(place({}));
  row.regret_random = row.best - mean_of(row.val);
  const size_t plain = place({}), raced = row.race.run() ? place(row.race.best()) : first;
  row.regret_race = row.best - row.val[raced];
  row.gain_race = row.val[raced] - row.val[plain];
  row.test_gain_race = row.test[raced] - row.test[plain];
  return row;
}

Json to_json(const Row& row) {
  Json json = {{"dataset", row.name},
               {"rho", row.rho},
               {"rho_held_out", row.rho_held},
               {"rho_gamma", row.rho_gamma},
               {"ceiling", row.ceiling},
               {"best_val", row.best},
               {"regret", row.regret},
               {"regret_careful", row.regret_careful},
               {"clear", row.clear},
               {"regret_plain", row.regret_plain},
               {"regret_random", row.regret_random},
               {"advice_seconds", row.seconds},
               {"candidates", Json::array()}};
  if (row.race_seconds > 0) {
    json.update({{"race_choice", row.race.run() ? train::to_string(row.race.best()) : "no race"},
                 {"race_trainings", row.race.trainings},
                 {"race_clear", row.race.clear},
                 {"race_left_out", row.race.left_out},
                 {"race_seconds", row.race_seconds},
                 {"regret_race", row.regret_race},
                 {"gain_race", row.gain_race},
                 {"test_gain_race", row.test_gain_race}});
  }
  for (size_t c = 0; c < row.candidates.size(); ++c) {
    json["candidates"].push_back({{"candidate", train::to_string(row.candidates[c])},
                                  {"score", row.score[c]},
                                  {"held_out", row.held[c]},
                                  {"val", row.val[c]},
                                  {"test", row.test[c]}});
  }
  return json;
}

int run(const Options& options) {
  bench::cpu_time = true;
  const Known known(options.known);
  study::Ledger ledger = options.ledger.empty() ? study::Ledger() : study::Ledger(options.ledger);
  spectral::SpectralCache cache;
  study::Table table;
  table.title = "Advice against training, recipe " + options.recipe;
  table.columns = {{"dataset", "data set"}, {"rho", "rho"},         {"rho_gamma", "of gamma"},
                   {"ceiling", "ceiling"},  {"best", "best val"},   {"regret", "advised"},
                   {"careful", "if clear"}, {"plain", "as it is"},  {"random", "random"},
                   {"clear", "clear"},      {"seconds", "s"},       {"raced", "raced"},
                   {"test", "test +"},      {"trained", "trained"}, {"race_s", "race s"}};
  Json json = {
      {"recipe", options.recipe}, {"training", options.training}, {"datasets", Json::array()}};
  std::vector<std::vector<double>> columns(14);
  for (const std::string& name : options.data) {
    const Row row = check(name, options, known, ledger, cache);
    const std::vector<double> figures = {row.rho,
                                         row.rho_gamma,
                                         row.ceiling,
                                         100 * row.best,
                                         100 * row.regret,
                                         100 * row.regret_careful,
                                         100 * row.regret_plain,
                                         100 * row.regret_random,
                                         row.clear,
                                         row.seconds,
                                         100 * row.regret_race,
                                         100 * row.test_gain_race,
                                         static_cast<double>(row.race.trainings),
                                         row.race_seconds};
    std::vector<study::Cell> cells = {row.name};
    for (size_t f = 0; f < figures.size(); ++f) {
      cells.push_back(study::Cell::number(figures[f]));
      columns[f].push_back(figures[f]);
    }
    table.rows.push_back(std::move(cells));
    json["datasets"].push_back(to_json(row));
    if (!options.out.empty()) std::ofstream(options.out) << json.dump(1) << "\n";
  }
  std::vector<study::Cell> means = {"mean"};
  for (const auto& column : columns) means.push_back(study::Cell::number(mean_of(column)));
  table.rows.push_back(std::move(means));
  fmt::print("{}", table.terminal());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"advice against training"};
  Options options;
  std::string steps = "150", hidden = "64", lr, layers = "2";
  app.add_option("DATA", options.data, "data sets, or mixhop:MU[:NODES]")->required();
  app.add_option("--recipe", options.recipe, "classic, residual or deep");
  app.add_option("--gammas", options.gammas, "gammas")->delimiter(',');
  app.add_option("--splits", options.splits, "splits");
  app.add_option("--steps", steps, "training steps");
  app.add_option("--hidden", hidden, "width");
  app.add_option("--layers", layers, "depth");
  app.add_option("--lr", lr, "learning rate; default 0.002 (residual), 0.01 (others)");
  app.add_option("--race", options.race, "seconds of a race");
  app.add_option("--known", options.known, "ledgers whose lines stand in for trainings");
  app.add_option("--ledger", options.ledger, "trials that are kept");
  app.add_option("--out", options.out, "JSON to write");
  CLI11_PARSE(app, argc, argv);
  options.training = {
      {"steps", steps}, {"hidden", hidden}, {"layers", layers}, {"eval_every", "3"}};
  options.training["lr"] = !lr.empty() ? lr : options.recipe == "residual" ? "0.002" : "0.01";
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "advice_bench: {}\n", error.what());
    return 1;
  }
}
