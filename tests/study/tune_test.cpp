#include "dgat/study/tune.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/interrupt.h"
#include "dgat/synth/csbm.h"
#include "dgat/synth/worlds.h"
#include "search_space.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {

using testing::HasSubstr;

data::Dataset small() {
  return test::small_dataset(3, 4);
}

TuneOptions quick() {
  TuneOptions options;
  options.settings = {{"hidden", "8"}, {"heads", "2"}, {"steps", "8"}, {"seed", "7"}};
  options.search = {{"gamma", {"0.1", "1"}},   {"alpha", {"1"}},       {"rewire", {"none", "add"}},
                    {"lr", {"0.001", "0.03"}}, {"layers", {"1", "2"}}, {"dropout", {"0.2"}},
                    {"weight_decay", {"0"}}};
  return options;
}

TuneResult search(const data::Dataset& dataset, const TuneOptions& options, Ledger& ledger) {
  spectral::SpectralCache cache;
  return tune(dataset, options, ledger, cache);
}

/// What was decided, in order.
std::vector<std::string> decisions(const TuneResult& result) {
  std::vector<std::string> lines;
  for (const Tried& t : result.tried) {
    std::string line;
    for (const auto& [key, value] : t.choices) line += key + "=" + value + " ";
    for (const double v : t.values) line += std::to_string(v) + " ";
    lines.push_back(line);
  }
  return lines;
}

TEST(Rungs, GrowAndDoNotRepeat) {
  const auto rungs = [](std::vector<Rung> list) { return list; };
  EXPECT_EQ(make_rungs(1000, 10, 1500), rungs({{250, 1}, {1000, 1}, {1000, 3}, {1000, 10}}));
  EXPECT_EQ(make_rungs(100, 2, 1500), rungs({{50, 1}, {100, 1}, {100, 2}}));
  EXPECT_EQ(make_rungs(20, 1, 1500), rungs({{20, 1}}));
}

TEST(Rungs, FewValidationNodesNeedMoreSplits) {
  const auto rungs = [](std::vector<Rung> list) { return list; };
  EXPECT_EQ(make_rungs(1000, 10, 287), rungs({{250, 4}, {1000, 4}, {1000, 10}}));
  EXPECT_EQ(make_rungs(1000, 10, 500), rungs({{250, 2}, {1000, 2}, {1000, 6}, {1000, 10}}));
  EXPECT_EQ(make_rungs(1000, 10, 59), rungs({{250, 10}, {1000, 10}}));
  EXPECT_EQ(make_rungs(1000, 3, 0), rungs({{250, 3}, {1000, 3}}));
}

TEST(Tune, StopsAtItsBudgetOfTrialsAndContinuesWithALargerOne) {
  Ledger ledger, whole;
  TuneOptions options = quick();
  options.budget_seconds = std::numeric_limits<double>::infinity();
  options.trials = 9;
  const TuneResult first = search(small(), options, ledger);
  EXPECT_FALSE(first.exhausted);
  EXPECT_LE(first.trials, 9);
  EXPECT_EQ(static_cast<int64_t>(ledger.size()), first.trials);
  const TuneResult again = search(small(), options, ledger);
  EXPECT_EQ(decisions(again), decisions(first));
  EXPECT_EQ(again.trials, first.trials);
  options.trials = 1000;
  const TuneResult more = search(small(), options, ledger);
  EXPECT_TRUE(more.exhausted);
  EXPECT_EQ(decisions(more), decisions(search(small(), options, whole)));
}

TEST(Tune, RefusesABudgetBelowTheFirstCandidate) {
  Ledger ledger;
  TuneOptions options = quick();
  options.trials = 1;
  EXPECT_THROW(search(small(), options, ledger), InputError);
}

TEST(Tune, SearchesTheSameRatesForEveryModelAndRecipe) {
  spectral::SpectralCache cache;
  std::map<std::string, std::vector<std::string>> expected;
  for (const auto& [model, recipe] : {std::pair{"gat", "residual"},
                                      {"gat", "classic"},
                                      {"gcn", "deep"},
                                      {"dgat", "deep"},
                                      {"dgn", ""},
                                      {"fagcn", ""}}) {
    TuneOptions options;
    options.settings = {{"model", model}};
    if (*recipe != '\0') options.settings["recipe"] = recipe;
    auto rates = make_space(small(), options, cache).rates;
    std::erase_if(rates, [](const auto& rate) { return rate.first.starts_with("extra."); });
    if (expected.empty()) expected = rates;
    EXPECT_EQ(rates, expected) << model << " " << recipe;
  }
  EXPECT_EQ(expected.size(), 5U);
  EXPECT_EQ(expected.at("lr").front(), "0.0001");
  EXPECT_EQ(expected.at("lr").back(), "0.05");
  EXPECT_EQ(expected.at("weight_decay").front(), "0");
  EXPECT_EQ(expected.at("weight_decay").back(), "0.01");
}

TEST(Tune, WinnerWentAllTheWayAndIsTheBestThere) {
  Ledger ledger;
  const TuneResult result = search(small(), quick(), ledger);
  EXPECT_TRUE(result.exhausted);
  const Tried& best = result.tried.front();
  ASSERT_EQ(best.values.size(), result.rungs.size());
  for (const Tried& t : result.tried) {
    if (t.values.size() < result.rungs.size()) continue;
    EXPECT_LE(t.values.back(), best.values.back());
  }
  for (const auto& [key, value] : best.choices) {
    EXPECT_EQ(train::find_option(key).get(result.winner), value) << key;
  }
  EXPECT_EQ(result.winner.steps, 8);
  EXPECT_EQ(result.winner.layers.first, result.winner.layers.last);
  const train::Settings again = train::parse_settings(train::to_yaml(result.winner), "config.yaml");
  EXPECT_EQ(train::to_yaml(train::resolve(again)), train::to_yaml(result.winner));
}

/// The candidate without a searched rate: what a training without a search has.
const Tried& plain(const TuneResult& result) {
  const auto at = std::ranges::find_if(result.tried, [](const Tried& t) {
    return t.choices == train::Settings{{"rewire", "advised"}};
  });
  EXPECT_NE(at, result.tried.end());
  return *at;
}

TEST(Tune, IsNotBelowAPlainTrainingOnThreeGraphsWhateverTheBudget) {
  synth::CsbmOptions homophilic = test::small_csbm(2, 3);
  homophilic.homophily = 0.8;
  data::Dataset agrees = synth::csbm(homophilic);
  agrees.name = "agrees";
  data::Dataset worlds = synth::worlds({.nodes = 200, .splits = 3});
  worlds.name = "worlds";
  for (const data::Dataset& dataset : {small(), agrees, worlds}) {
    Ledger ledger;
    for (const int64_t trials : {5, 9, 16, 30}) {
      TuneOptions options;
      options.settings = {{"hidden", "8"}, {"heads", "2"}, {"steps", "8"}, {"seed", "7"}};
      options.search = {{"dropout", {"0.2"}}, {"weight_decay", {"0"}}, {"layers", {"1", "2"}}};
      options.budget_seconds = std::numeric_limits<double>::infinity();
      options.trials = trials;
      const TuneResult result = search(dataset, options, ledger);
      const std::vector<double>& usual = plain(result).values;
      const std::vector<double>& best = result.tried.front().values;
      ASSERT_FALSE(usual.empty());
      ASSERT_GE(best.size(), usual.size()) << dataset.name << " " << trials;
      EXPECT_GE(best[usual.size() - 1], usual.back()) << dataset.name << " " << trials;
    }
  }
}

TEST(Tune, TheFirstCandidatesSpanTheLearningRates) {
  spectral::SpectralCache cache;
  TuneOptions options;
  options.settings = {{"seed", "7"}};
  const SearchSpace space = make_space(small(), options, cache);
  EXPECT_EQ(space.graphs.front(), (train::Settings{{"rewire", "advised"}}));
  EXPECT_EQ(space.graphs.at(1).at("rewire"), "none");
  ASSERT_EQ(space.learning_rates.size(), space.rates.at("lr").size());
  // Any first few are spread: the first three are the middle and a value on each side of it.
  std::vector<double> first;
  for (size_t i = 0; i < 3; ++i) first.push_back(std::stod(space.learning_rates[i]));
  EXPECT_LT(first[1], first[0] / 5);
  EXPECT_GT(first[2], first[0] * 2);
}

TEST(Tune, EveryCandidateIsDifferentAndFewClimb) {
  Ledger ledger;
  const TuneResult result = search(small(), quick(), ledger);
  const auto lines = decisions(result);
  EXPECT_EQ(std::set<std::string>(lines.begin(), lines.end()).size(), lines.size());
  EXPECT_GE(result.tried.size(), 6U);  // four graphs, and some rates
  const auto climbed = std::count_if(result.tried.begin(), result.tried.end(),
                                     [](const Tried& t) { return t.values.size() > 1; });
  EXPECT_LE(climbed, static_cast<int64_t>(result.tried.size() / 3 + 1));
  EXPECT_EQ(result.gammas.size(), 2U);
}

TEST(Tune, NewGraphsComeWithTheBestRatesSoFar) {
  TuneOptions options = quick();
  options.search["gamma"] = {"0.05", "0.1", "0.2", "0.3", "0.5", "0.7", "0.9", "1"};
  options.search["lr"] = {"0.03"};  // by default 3e-5, with which eight steps teach nothing
  Ledger ledger;
  std::map<std::string, bool> graphs;  // has it been tried with the better rate?
  for (const Tried& t : search(small(), options, ledger).tried) {
    graphs[t.choices.at("gamma") + t.choices.at("rewire")] |= t.choices.contains("lr");
  }
  const auto with = std::count_if(graphs.begin(), graphs.end(), [](auto& g) { return g.second; });
  EXPECT_GE(graphs.size(), 6U);
  EXPECT_GT(2 * with, std::ssize(graphs)) << "all but those before the rate was found";
}

TEST(Tune, TestLabelsChooseNothing) {
  const data::Dataset dataset = small();
  data::Dataset other = dataset;
  other.splits.resize(1);
  data::Dataset changed = other;
  for (const graph::NodeId i : other.splits[0].test) {
    int32_t& label = changed.labels[static_cast<size_t>(i)];
    label = (label + 1) % 3;
  }
  Ledger a, b;
  EXPECT_EQ(decisions(search(other, quick(), a)), decisions(search(changed, quick(), b)));
}

TEST(Tune, ContinuesFromItsLedger) {
  test::TempDir folder;
  Ledger whole;
  const TuneResult expected = search(small(), quick(), whole);
  {
    Ledger ledger(folder / "ledger.jsonl");
    TuneOptions few = quick();
    few.search["gamma"] = {"0.1"};
    search(small(), few, ledger);
  }
  Ledger ledger(folder / "ledger.jsonl");
  const size_t before = ledger.size();
  EXPECT_GT(before, 0U);
  EXPECT_EQ(decisions(search(small(), quick(), ledger)), decisions(expected));
  EXPECT_LT(ledger.size() - before, whole.size());
  // Everything is there now: nothing runs, the answer is the same.
  const size_t after = ledger.size();
  EXPECT_EQ(decisions(search(small(), quick(), ledger)), decisions(expected));
  EXPECT_EQ(ledger.size(), after);
}

TEST(Tune, TheGraphAsItIsComesFirst) {
  // Whatever the advice thinks of it: what rewiring gains is a gain over this.
  for (const bool advised : {true, false}) {
    test::TempDir folder;
    Ledger ledger(folder / "ledger.jsonl");
    TuneOptions options = quick();
    options.advised = advised;
    options.jobs = 1;  // lines of the ledger in the order of the search
    options.search["rewire"] = {"add", "hub", "none"};
    search(small(), options, ledger);
    const std::string lines = read_whole_file(folder / "ledger.jsonl");
    EXPECT_THAT(lines.substr(0, lines.find('\n')), HasSubstr(R"("rewire":"none")")) << advised;
  }
}

TEST(Tune, EqualGraphsAreTriedOnce) {
  TuneOptions options = quick();
  options.settings["directional"] = "off";
  options.search["rewire"] = {"none"};  // without directions, gamma changes nothing
  Ledger ledger;
  EXPECT_EQ(search(small(), options, ledger).repeated, 1);
}

TEST(Tune, EveryAlphaThatIsAskedForMeetsEveryRewiring) {
  TuneOptions options = quick();
  options.search["alpha"] = {"0", "1"};
  options.search["lr"] = {"0.03"};
  options.search["layers"] = {"1"};
  Ledger ledger;
  const TuneResult result = search(small(), options, ledger);
  EXPECT_TRUE(result.exhausted);
  std::set<std::string> graphs;
  for (const Tried& t : result.tried) {
    graphs.insert(t.choices.at("gamma") + " " + t.choices.at("alpha") + " " +
                  t.choices.at("rewire"));
  }
  EXPECT_EQ(std::ssize(graphs) + result.repeated, 2 * 2 * 2);
}

TEST(Tune, ModelsWithoutDirectionsSearchRatesOnly) {
  TuneOptions options = quick();
  options.settings["model"] = "gat";
  options.search.erase("gamma");
  options.search.erase("alpha");
  options.search.erase("rewire");
  Ledger ledger;
  const TuneResult result = search(small(), options, ledger);
  EXPECT_TRUE(result.gammas.empty());
  EXPECT_GE(result.tried.size(), 3U);
  EXPECT_THAT(to_markdown(result), HasSubstr("gat on small"));
}

/// DGN is defined with the random-walk Laplacian and the graph as it is.
TEST(Tune, GammaIsNotSearchedWithTheRandomWalkLaplacian) {
  TuneOptions options;
  options.settings = {{"model", "dgn"}, {"hidden", "8"}, {"steps", "4"}, {"seed", "7"}};
  options.search = {{"lr", {"0.001", "0.01"}}, {"layers", {"1"}},
                    {"dropout", {"0.3"}},      {"weight_decay", {"0"}},
                    {"extra.av", {"1"}},       {"extra.dx", {"1"}},
                    {"extra.complex", {"0"}},  {"feature_scaling", {"raw"}},
                    {"extra.scalers", {"0"}},  {"extra.graph_norm", {"0"}},
                    {"extra.xavier", {"0"}}};
  Ledger ledger;
  const TuneResult result = search(small(), options, ledger);
  EXPECT_TRUE(result.exhausted);
  EXPECT_EQ(result.tried.size(), 2U) << "two rates on one graph";
  EXPECT_TRUE(result.gammas.empty());
  EXPECT_EQ(result.winner.rewire, rewire::Mode{});
  options.search["rewire"] = {"none", "add"};
  Ledger second;
  EXPECT_EQ(search(small(), options, second).tried.size(), 4U);
  options.search["gamma"] = {"0.1", "1"};
  EXPECT_THROW(search(small(), options, second), InputError);
  options.settings["laplacian"] = "tuned";
  Ledger third;
  EXPECT_EQ(search(small(), options, third).gammas.size(), 2U);
}

TEST(Tune, BudgetAndInterruptionEndIt) {
  TuneOptions options = quick();
  options.budget_seconds = 0;
  Ledger ledger;
  EXPECT_THROW(search(small(), options, ledger), ComputeError);
  options.budget_seconds = 100;
  request_interrupt();
  EXPECT_THROW(search(small(), options, ledger), Interrupted);
  request_interrupt(false);
}

TEST(Tune, WrongSearchesAreExplained) {
  TuneOptions options = quick();
  const auto message = [&](const std::string& key, const std::vector<std::string>& values) {
    options.search = {{key, values}};
    Ledger ledger;
    try {
      search(small(), options, ledger);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(message("gama", {"1"}), HasSubstr("did you mean gamma?"));
  EXPECT_THAT(message("gamma", {"2"}), HasSubstr("must lie in [0, 1], got 2"));
  EXPECT_THAT(message("hidden", {"8"}), HasSubstr("fixed value"));
  EXPECT_THAT(message("laplacian", {"default", "tuned"}), HasSubstr("search gamma and alpha"));
  for (const char* key : {"memory_budget", "jobs", "spill", "checkpoint_every"}) {
    EXPECT_THAT(message(key, {"1"}), HasSubstr("is not searched")) << key << " changes no result";
  }
  options.settings["model"] = "dgn";
  EXPECT_THAT(message("gamma", {"0.1", "1"}), HasSubstr("(laplacian: default) has no gamma"));
  options.settings["model"] = "gat";  // or the same network would be trained several times
  for (const char* key : {"gamma", "eigenvectors"}) {
    EXPECT_THAT(message(key, {"1"}), HasSubstr("gat has no directions")) << key;
  }
}

/// Enough validation nodes for rungs of one split, so that candidates have to climb.
data::Dataset with_rungs() {
  synth::CsbmOptions o;
  o.nodes = 2100;
  o.degree = 2;
  o.features = 4;
  o.splits = 2;
  o.split = {.train = 0.3, .val = 0.5, .test = 0.2};
  return synth::csbm(o);
}

TEST(Tune, TheBestThirdClimbsAndTheBestOfAllToTheTop) {
  TuneOptions options;
  options.settings = {{"model", "resnet"}, {"hidden", "4"}, {"steps", "100"}};
  options.search = {{"lr", {"1e-05", "0.001", "0.03", "0.1"}},
                    {"layers", {"1", "2"}},
                    {"dropout", {"0", "0.5"}},
                    {"weight_decay", {"0"}}};
  Ledger ledger;
  const TuneResult result = search(with_rungs(), options, ledger);
  ASSERT_EQ(result.rungs, (std::vector<Rung>{{50, 1}, {100, 1}, {100, 2}}));
  EXPECT_TRUE(result.exhausted);
  EXPECT_EQ(result.tried.size(), 16U) << "everything there was to try";
  std::vector<size_t> reached(4, 0);
  for (const Tried& t : result.tried) {
    for (size_t r = 0; r < t.values.size(); ++r) ++reached[r];
  }
  EXPECT_EQ(reached[0], 16U);
  EXPECT_GE(reached[1], 16U / 3);
  EXPECT_LE(reached[1], 16U / 3 + 2) << "a candidate that is overtaken has climbed all the same";
  EXPECT_GE(reached[2], 1U);
  EXPECT_LT(reached[2], reached[1]);
  EXPECT_EQ(result.tried.front().values.size(), 3U);
}

TEST(Tune, AnExtraOptionThatIsGivenIsNotSearched) {
  TuneOptions options;
  options.settings = {{"model", "gprgnn"}, {"hidden", "8"}, {"steps", "4"}, {"extra", "alpha=0.9"}};
  options.search = {{"lr", {"0.01"}}, {"dropout", {"0.5"}}, {"weight_decay", {"0"}}};
  Ledger ledger;
  for (const Tried& t : search(small(), options, ledger).tried) {
    EXPECT_FALSE(t.choices.contains("extra.alpha"));
  }
  for (const TrialResult& trial : ledger.results()) {
    EXPECT_THAT(trial.options.at("extra"), HasSubstr("alpha=0.9"));
  }
}

TEST(Tune, StaysInsideWhatIsSearched) {
  TuneOptions options = quick();
  options.search["lr"] = {"0.5"};  // not the default
  options.search["layers"] = {"3..4"};
  Ledger ledger;
  for (const Tried& t : search(small(), options, ledger).tried) {
    EXPECT_EQ(t.choices.at("lr"), "0.5");
    EXPECT_TRUE(t.choices.at("layers") == "3" || t.choices.at("layers") == "4");
  }
  options.settings["gamma"] = "0.2";
  EXPECT_THROW(search(small(), options, ledger), InputError) << "searched and fixed";
}

}  // namespace
}  // namespace dgat::study
