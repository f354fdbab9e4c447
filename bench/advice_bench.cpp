// How far to trust `dgat advise`: over data sets, every candidate gamma x rewiring is judged
// without training and then trained, and the two orders are compared. Prints a table, writes a
// JSON.
//
//   advice_bench texas.npz mixhop:0.2 mixhop:0.8:1000 --recipe classic --ledger trials.jsonl
//
// Columns: rho, Spearman's correlation of score and validation metric over all candidates; of gamma
// alone (mean over the rewirings); the ceiling that the noise of the trained models leaves (from
// the agreement between splits); regret, in percentage points of validation metric against the best
// candidate, of the advice (the best-scored one), of the advice where it calls itself clear and
// otherwise the graph as it is, of the graph as it is (gamma 1, no rewiring), of a random choice;
// in which share of the splits it was clear.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "dgat/data/load.h"
#include "dgat/study/advise.h"
#include "dgat/study/engine.h"
#include "dgat/study/statistics.h"
#include "dgat/study/table.h"
#include "dgat/synth/mixhop.h"

namespace {
using namespace dgat;
using Json = nlohmann::ordered_json;

struct Options {
  std::vector<std::string> data;
  std::vector<double> gammas = {0.03, 0.1, 0.3, 0.6, 1};
  std::string recipe = "classic", ledger, out;
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
  std::vector<double> score, held, val;
  double rho = 0, rho_held = 0, rho_gamma = 0, ceiling = 0;
  double best = 0, regret = 0, regret_careful = 0, regret_plain = 0, regret_random = 0, clear = 0;
  double seconds = 0;
};

/// Square root of the reliability of the mean over splits (Spearman and Brown).
double ceiling(const std::vector<std::vector<double>>& by_split) {
  std::vector<double> pairs;
  for (size_t a = 0; a < by_split.size(); ++a) {
    for (size_t b = 0; b < a; ++b) pairs.push_back(spearman(by_split[a], by_split[b]));
  }
  const double r = mean_of(pairs), k = static_cast<double>(by_split.size());
  return r > 0 ? std::sqrt(k * r / (1 + (k - 1) * r)) : 0;
}

Row check(const std::string& name, const Options& options, study::Ledger& ledger,
          spectral::SpectralCache& cache) {
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
    const study::Advice advice = study::advise(*data.dataset, s, question, cache);
    row.seconds += advice.seconds * share;
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
  const auto outcomes = study::run_trials(trials, ledger, inputs, {.label = row.name});
  std::vector<std::vector<double>> by_split(static_cast<size_t>(options.splits));
  for (size_t t = 0; t < outcomes.size(); ++t) {
    const double val = outcomes[t].result ? outcomes[t].result->val : 0;
    by_split[t % by_split.size()].push_back(val);
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
  for (size_t c = 0; c < row.candidates.size(); ++c) {
    json["candidates"].push_back({{"candidate", study::to_string(row.candidates[c])},
                                  {"score", row.score[c]},
                                  {"held_out", row.held[c]},
                                  {"val", row.val[c]}});
  }
  return json;
}

int run(const Options& options) {
  study::Ledger ledger = options.ledger.empty() ? study::Ledger() : study::Ledger(options.ledger);
  spectral::SpectralCache cache;
  study::Table table;
  table.title = "Advice against training, recipe " + options.recipe;
  table.columns = {{"dataset", "data set"}, {"rho", "rho"},        {"rho_gamma", "of gamma"},
                   {"ceiling", "ceiling"},  {"best", "best val"},  {"regret", "advised"},
                   {"careful", "if clear"}, {"plain", "as it is"}, {"random", "random"},
                   {"clear", "clear"},      {"seconds", "s"}};
  Json json = {
      {"recipe", options.recipe}, {"training", options.training}, {"datasets", Json::array()}};
  std::vector<std::vector<double>> columns(10);
  for (const std::string& name : options.data) {
    const Row row = check(name, options, ledger, cache);
    const std::vector<double> figures = {row.rho,
                                         row.rho_gamma,
                                         row.ceiling,
                                         100 * row.best,
                                         100 * row.regret,
                                         100 * row.regret_careful,
                                         100 * row.regret_plain,
                                         100 * row.regret_random,
                                         row.clear,
                                         row.seconds};
    std::vector<study::Cell> cells = {row.name};
    for (size_t f = 0; f < figures.size(); ++f) {
      cells.push_back(study::Cell::number(figures[f]));
      columns[f].push_back(figures[f]);
    }
    table.rows.push_back(std::move(cells));
    json["datasets"].push_back(to_json(row));
  }
  std::vector<study::Cell> means = {"mean"};
  for (const auto& column : columns) means.push_back(study::Cell::number(mean_of(column)));
  table.rows.push_back(std::move(means));
  fmt::print("{}", table.terminal());
  if (!options.out.empty()) std::ofstream(options.out) << json.dump(1) << "\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"advice against training"};
  Options options;
  std::string steps = "150", hidden = "64", lr, layers = "2";
  app.add_option("DATA", options.data, "data sets, or mixhop:MU[:NODES]")->required();
  app.add_option("--recipe", options.recipe, "classic or residual");
  app.add_option("--gammas", options.gammas, "gammas")->delimiter(',');
  app.add_option("--splits", options.splits, "splits");
  app.add_option("--steps", steps, "training steps");
  app.add_option("--hidden", hidden, "width");
  app.add_option("--layers", layers, "depth");
  app.add_option("--lr", lr, "learning rate; default 0.01 (classic), 0.002 (residual)");
  app.add_option("--ledger", options.ledger, "trials that are kept");
  app.add_option("--out", options.out, "JSON to write");
  CLI11_PARSE(app, argc, argv);
  options.training = {
      {"steps", steps}, {"hidden", hidden}, {"layers", layers}, {"eval_every", "3"}};
  options.training["lr"] = !lr.empty() ? lr : options.recipe == "classic" ? "0.01" : "0.002";
  try {
    return run(options);
  } catch (const std::exception& error) {
    fmt::print(stderr, "advice_bench: {}\n", error.what());
    return 1;
  }
}
