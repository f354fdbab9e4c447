#include <gtest/gtest.h>

#include "dgat/train/config.h"
#include "dgat/train/option_table.h"

namespace dgat::train {
namespace {

DataFacts facts(const std::string& name, int64_t nodes, int64_t edges) {
  DataFacts result(name);
  result.nodes = nodes;
  result.edges = edges;
  return result;
}

/// What a training costs, up to a factor: splits x steps x (nodes x width^2 + edges x width).
double work(const Config& c, const DataFacts& data) {
  const auto width = static_cast<double>(c.hidden);
  const double splits = c.splits > 0 ? static_cast<double>(c.splits) : 10;
  return splits * static_cast<double>(c.steps) * static_cast<double>(c.layers.last) *
         (static_cast<double>(data.nodes) * width * width +
          static_cast<double>(data.edges) * width);
}

TEST(Presets, DataSetsOfTheCatalogueKeepTheProtocolOfThePaper) {
  for (const char* name : {"texas", "chameleon_filtered", "tolokers"}) {
    const Config c = resolve({}, facts(name, 1000, 5000));
    EXPECT_EQ(c.preset, Preset::kPaper) << name;
    EXPECT_EQ(c.layers, (LayerRange{1, 5})) << name;
    EXPECT_EQ(c.hidden, 512) << name;
    EXPECT_EQ(c.lr, 3e-5) << name;
    EXPECT_EQ(c.steps, 1000) << name;
    EXPECT_EQ(c.patience, 0) << name;
  }
}

TEST(Presets, OtherDataSetsStartQuick) {
  const DataFacts mine = facts("mine", 600, 2000);
  const Config c = resolve({}, mine);
  EXPECT_EQ(c.preset, Preset::kQuick);
  EXPECT_LT(work(c, mine), work(resolve({{"preset", "paper"}}, mine), mine) / 100);
  EXPECT_EQ(resolve({{"preset", "paper"}}, mine).hidden, 512);
  EXPECT_EQ(resolve({{"preset", "quick"}}, facts("texas", 183, 279)).hidden, c.hidden);
  EXPECT_GT(resolve({{"preset", "thorough"}}, mine).steps, 1000);
}

TEST(Presets, TheWorkGrowsSlowerThanTheGraph) {
  // 100 times the graph may take 30 times the work: seconds become minutes.
  const DataFacts small = facts("a", 1000, 4000), large = facts("b", 100'000, 400'000);
  const double ratio = work(resolve({}, large), large) / work(resolve({}, small), small);
  EXPECT_GT(ratio, 1);
  EXPECT_LT(ratio, 30);
}

TEST(Presets, WhatIsGivenWins) {
  const Config c = resolve({{"hidden", "16"}, {"steps", "7"}, {"lr", "0.5"}, {"layers", "4"}},
                           facts("mine", 600, 2000));
  EXPECT_EQ(c.hidden, 16);
  EXPECT_EQ(c.steps, 7);
  EXPECT_EQ(c.lr, 0.5);
  EXPECT_EQ(c.layers, (LayerRange{4, 4}));
}

TEST(Presets, ModelsAndRecipesKeepTheirRates) {
  const DataFacts mine = facts("mine", 600, 2000);
  EXPECT_EQ(resolve({{"model", "jacobiconv"}}, mine).lr, 0.05);
  EXPECT_EQ(resolve({{"recipe", "classic"}}, mine).lr, 0.01);
  EXPECT_EQ(resolve({{"recipe", "deep"}}, mine).lr, 0.005);
  EXPECT_EQ(resolve({{"recipe", "deep"}}, mine).steps, resolve({}, mine).steps);
}

TEST(Presets, AResolvedFileMeansTheSameOnEveryDataSet) {
  for (const char* model : {"dgat", "gat", "pgcn", "dgn"}) {
    for (const char* preset : {"quick", "paper", "thorough"}) {
      const Config c =
          resolve({{"model", model}, {"preset", preset}}, facts("mine", 90'000, 300'000));
      const Settings file = parse_settings(to_yaml(c), "config.yaml");
      EXPECT_EQ(to_yaml(resolve(file, facts("other", 50, 60))), to_yaml(c)) << model << preset;
      EXPECT_EQ(to_yaml(resolve(file)), to_yaml(c)) << model << preset;
    }
  }
}

TEST(Presets, TheSummaryNamesWhatWasChosen) {
  const DataFacts mine = facts("mine", 600, 2000);
  EXPECT_EQ(preset_summary(resolve({{"hidden", "16"}}, mine), mine),
            "quick for 600 nodes, 2000 edges: layers 2, hidden 16, lr 0.003, dropout 0.2, 300 "
            "steps, patience 100");
}

TEST(AdvisedGraph, IsWhatDirectionalModelsStartFrom) {
  const auto text = [](const Config& c, const char* key) { return find_option(key).get(c); };
  const Config c = resolve({});
  for (const char* key : {"alpha", "gamma", "epsilon"}) EXPECT_EQ(text(c, key), "auto") << key;
  EXPECT_EQ(text(c, "rewire"), "advised");
  EXPECT_EQ(text(resolve({{"model", "gat"}}), "rewire"), "none");
  EXPECT_EQ(text(resolve({{"model", "dgn"}}), "rewire"), "none");
  const Config fixed = resolve({{"gamma", "0.1"}});
  EXPECT_EQ(text(fixed, "gamma"), "0.1");
  EXPECT_EQ(text(fixed, "alpha"), "auto");
}

TEST(AdvisedGraph, ANamedRewiringHasTheAlphaAndGammaThatItHad) {
  const Config c = resolve({{"rewire", "add"}});
  EXPECT_EQ(c.alpha, 1.0);
  EXPECT_EQ(c.gamma, 0.3);
  const Config automatic = resolve({{"rewire", "auto"}, {"gamma", "auto"}});
  EXPECT_EQ(automatic.gamma, 0.3);
}

TEST(AdvisedGraph, ThePapersValuesNameTheirRewiring) {
  const Config c = resolve({{"recipe", "classic"}}, "texas");
  EXPECT_TRUE(c.rewire.automatic);
  EXPECT_EQ(c.gamma, 0.2);
  const Config asked = resolve({{"recipe", "classic"}, {"rewire", "advised"}}, "texas");
  EXPECT_FALSE(asked.gamma.has_value());
  EXPECT_FALSE(asked.epsilon.has_value());
}

TEST(AdvisedGraph, IsNotTakenOverFromAModelWithoutDirections) {
  const Settings file = parse_settings(to_yaml(resolve({{"model", "gat"}})), "config.yaml");
  const Config c = resolve(flags_over_file(file, {{"model", "dgat"}}));
  EXPECT_TRUE(c.rewire.advised);
  EXPECT_FALSE(c.gamma.has_value());
  const Settings ours = parse_settings(to_yaml(resolve({{"model", "dgat"}})), "config.yaml");
  EXPECT_EQ(resolve(flags_over_file(ours, {{"model", "pgcn"}})).extra.at("gamma"), 0.5);
}

}  // namespace
}  // namespace dgat::train
