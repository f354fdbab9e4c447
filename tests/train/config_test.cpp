#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "dgat/core/error.h"
#include "dgat/nn/registry.h"
#include "dgat/train/grid.h"
#include "dgat/train/option_table.h"

namespace dgat::train {
namespace {
using testing::HasSubstr;

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Config, AListInAFileIsAGrid) {
  Grid grid;
  const Settings settings =
      parse_settings("lr: [0.001, 0.01]\nhidden: 8\nheads: [2]\n", "a.yaml", grid);
  EXPECT_EQ(grid, (Grid{{"lr", {"0.001", "0.01"}}}));
  EXPECT_EQ(settings, (Settings{{"hidden", "8"}, {"heads", "2"}})) << "a list of one is a value";
  const auto error = [](const std::string& yaml) {
    return error_of([&] {
      Grid lists;
      parse_settings(yaml, "a.yaml", lists);
    });
  };
  EXPECT_EQ(error_of([] { parse_settings("steps: 3\nlr: [1, 2]\n", "a.yaml"); }),
            "a.yaml:2: lr has a list of values; only `compare` and `tune` try several");
  EXPECT_THAT(error("lr: [0.1, x]\n"), HasSubstr("a.yaml:1: lr: "));
  EXPECT_EQ(error("lr: []\n"), "a.yaml:1: lr: the list is empty");
  EXPECT_EQ(error("lr: [[1]]\n"), "a.yaml:1: lr: a list of plain values was expected");
  EXPECT_EQ(error("lr: [0.1, 0.2]\nlr: 0.3\n"), "a.yaml:2: lr is given twice");
}

TEST(Config, DefaultsAreTheHeterophilyProtocol) {
  const Config c = resolve({});
  EXPECT_EQ(c.model, "dgat");
  EXPECT_EQ(c.hidden, 512);
  EXPECT_EQ(c.heads, 8);
  EXPECT_EQ(c.dropout, 0.2);
  EXPECT_EQ(c.lr, 3e-5);
  EXPECT_EQ(c.optimizer, Optimizer::kAdamW);
  EXPECT_EQ(c.weight_decay, 0);
  EXPECT_EQ(c.steps, 1000);
  EXPECT_EQ(c.eval_every, 1);
  EXPECT_EQ(c.patience, 0);
  EXPECT_EQ(c.clip, 0);
  EXPECT_EQ(c.layers, (LayerRange{1, 5}));
}

TEST(Config, ClassicTakesTheSettingOfTheSyntheticGraphsAndOfThePaperPerDataSet) {
  const Config c = resolve({{"recipe", "classic"}});
  EXPECT_EQ(c.hidden, 64);
  EXPECT_EQ(c.layers, (LayerRange{2, 2}));
  EXPECT_EQ(c.optimizer, Optimizer::kAdam);
  EXPECT_EQ(c.lr, 0.01);
  EXPECT_EQ(c.weight_decay, 0.001);
  const Config texas = resolve({{"recipe", "classic"}, {"lr", "0.5"}}, "texas");
  EXPECT_EQ(texas.hidden, 256) << "eight heads of the printed 32";
  EXPECT_EQ(texas.epsilon, rewire::parse_epsilon("1e-05"));
  EXPECT_EQ(texas.lr, 0.5) << "what the user says wins";
  EXPECT_EQ(resolve({}, "texas").hidden, 512) << "presets belong to recipe classic";
}

TEST(Config, DeepTakesTheSettingOfTunedClassicNetworks) {
  const Config c = resolve({{"recipe", "deep"}, {"model", "gcn"}, {"dropout", "0.2"}}, "texas");
  EXPECT_EQ(c.hidden, 256);
  EXPECT_EQ(c.heads, 1);
  EXPECT_EQ(c.layers, (LayerRange{3, 3}));
  EXPECT_EQ(c.dropout, 0.2);
  EXPECT_EQ(c.lr, 0.005);
  EXPECT_EQ(c.optimizer, Optimizer::kAdam);
  EXPECT_EQ(c.weight_decay, 5e-4);
  EXPECT_EQ(c.steps, 500);
  EXPECT_THROW(resolve({{"recipe", "deep"}, {"model", "gat-sep"}}), InputError);
}

TEST(Config, SeparateAttentionWithoutDirectionsLeavesTheNodeItselfOut) {
  EXPECT_FALSE(resolve({{"model", "gat-sep"}}).self_loops);
  EXPECT_FALSE(resolve({{"model", "gt-sep"}}).self_loops);
  EXPECT_TRUE(resolve({{"model", "gat-sep"}, {"self_loops", "on"}}).self_loops);
  for (const char* model : {"gat", "gatv2-sep", "dgat-sep", "dgt-sep"}) {
    EXPECT_TRUE(resolve({{"model", model}}).self_loops) << model;
  }
}

TEST(Config, YamlRoundTripKeepsEveryOption) {
  Settings given = {{"model", "dgt-sep"},      {"layers", "2..4"},
                    {"epsilon", "q0.25"},      {"rewire", "prune-far"},
                    {"weight_decay", "1e-07"}, {"seed", "18446744073709551615"},
                    {"data", "a b: \"c\"#d"},  {"split", "50/25/25"}};
  const Config c = resolve(given);
  const Config back = resolve(parse_settings(to_yaml(c), "config.yaml"));
  for (const OptionInfo& option : config_options()) {
    EXPECT_EQ(option.get(back), option.get(c)) << option.key;
  }
  EXPECT_EQ(back.seed, 18446744073709551615U);
  EXPECT_EQ(back.data, "a b: \"c\"#d");
}

TEST(Config, UnknownKeysAreErrorsWithASuggestionAndALine) {
  EXPECT_EQ(error_of([] { parse_settings("model: gat\ndroput: 0.5\n", "run.yaml"); }),
            "run.yaml:2: unknown option droput; did you mean dropout?");
  EXPECT_THAT(error_of([] { parse_settings("lr: fast", "run.yaml"); }),
              HasSubstr("run.yaml:1: lr: a number was expected, got 'fast'"));
  EXPECT_THAT(error_of([] { parse_settings("lr: [1, 2]", "run.yaml"); }),
              HasSubstr("lr has a list of values"));
  EXPECT_THAT(error_of([] { parse_settings("lr: 1\nlr: 2", "run.yaml"); }), HasSubstr("twice"));
  EXPECT_THAT(error_of([] { parse_settings("a: [", "run.yaml"); }), HasSubstr("not YAML"));
  EXPECT_THAT(error_of([] { parse_settings("- a", "run.yaml"); }), HasSubstr("mapping"));
  EXPECT_EQ(parse_settings("weight-decay: 0.1", "x").count("weight_decay"), 1U);
}

TEST(Config, RangesAreChecked) {
  const auto message = [](const std::string& key, const std::string& value) {
    return error_of([&] { resolve({{key, value}}); });
  };
  EXPECT_EQ(message("gamma", "1.5"), "gamma: must lie in [0, 1], got 1.5");
  EXPECT_EQ(message("gamma", "nan"), "gamma: must lie in [0, 1], got nan");
  EXPECT_EQ(message("steps", "0"), "steps: must lie in [1, 1099511627776], got 0");
  EXPECT_THAT(message("steps", "1e3"), HasSubstr("whole number"));
  EXPECT_THAT(message("layers", "5..1"), HasSubstr("empty range"));
  EXPECT_THAT(message("layers", "2..x"), HasSubstr("whole number"));
  EXPECT_THAT(message("directional", "yes"), HasSubstr("one of on|off"));
  EXPECT_THAT(message("components", "each|first"), HasSubstr("must be one of"));
  EXPECT_THAT(message("heads", "7"), HasSubstr("do not divide"));
  EXPECT_THAT(message("extra", "k=3"), HasSubstr("has no option k"));
  EXPECT_THAT(message("model", "gatt"), HasSubstr("did you mean gat?"));
  EXPECT_THAT(message("clip", "-1"), HasSubstr("at least 0"));
}

TEST(Config, PlainModelsIgnoreRewiring) {
  const Config c = resolve({{"model", "gat"}, {"rewire", "add"}, {"directional", "on"}});
  EXPECT_EQ(c.rewire, rewire::Mode{});
  EXPECT_FALSE(c.directional);
}

TEST(Config, EveryExtraOptionHasAValueAndCanBeSetAlone) {
  const Config c = resolve(
      {{"model", "gprgnn"}, {"extra", "alpha=0.5,k=4"}, {"extra.k", "3"}, {"layers", "1..5"}});
  EXPECT_EQ(find_option("extra").get(c), "alpha=0.5,k=3,propagation_dropout=0.7");
  EXPECT_EQ(c.layers, (LayerRange{1, 1})) << "there is nothing to stack";
  EXPECT_EQ(c.optimizer, Optimizer::kAdam);
  EXPECT_THAT(error_of([] {
                resolve({{"model", "gprgnn"}, {"extra.alhpa", "1"}});
              }),
              HasSubstr("did you mean alpha?"));
}

TEST(Config, DefaultsOfEveryModelAreValid) {
  for (const nn::ModelInfo& info : nn::all_models()) {
    Settings settings = {{"model", info.name}};
    EXPECT_EQ(error_of([&] { resolve(settings); }), "accepted") << info.name;
    for (const auto& [key, values] : info.grid) {
      for (const std::string& value : values) {
        settings[key] = value;
        EXPECT_EQ(error_of([&] { resolve(settings); }), "accepted") << info.name << " " << key;
      }
    }
  }
}

TEST(Config, KeysAreUniqueAndDescribed) {
  std::set<std::string> keys;
  for (const OptionInfo& option : config_options()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_FALSE(option.meaning.empty());
    EXPECT_FALSE(option.value.empty());
  }
}

TEST(Config, AFileOfOneModelSaysLittleAboutAnother) {
  const Settings file = parse_settings(to_yaml(resolve({{"model", "gat"}, {"lr", "0.01"}})), "f");
  const Config dgat = resolve(flags_over_file(file, {{"model", "dgat"}}));
  EXPECT_TRUE(dgat.directional) << "a gat cannot choose it";
  EXPECT_TRUE(dgat.rewire.advised);
  EXPECT_EQ(dgat.lr, 0.01);
  const Config same = resolve(flags_over_file(file, {{"lr", "0.1"}}));
  EXPECT_EQ(same.model, "gat");
  EXPECT_FALSE(same.directional);
  EXPECT_FALSE(for_any_model(file).contains("directional"));
  EXPECT_FALSE(for_any_model(file).contains("model"));
  const Settings chosen = {{"model", "dgat"}, {"directional", "off"}};
  EXPECT_TRUE(for_any_model(chosen).contains("directional")) << "a dgat can";
}

TEST(Config, ExtraOptionsOfAFileGoWithItsModelAndFlagsChangeSingleOnes) {
  const Settings file = {{"model", "gprgnn"}, {"extra", "k=5,alpha=0.9"}};
  const Config config = resolve(flags_over_file(file, {{"extra", "k=7"}}));
  EXPECT_EQ(config.extra.at("k"), 7);
  EXPECT_EQ(config.extra.at("alpha"), 0.9);
  EXPECT_TRUE(resolve(flags_over_file(file, {{"model", "gcn"}})).extra.empty());
}

TEST(Config, GammaReachesTheModelThatHasItAsItsOwn) {
  EXPECT_EQ(resolve({{"model", "pgcn"}}).extra.at("gamma"), 0.5);
  EXPECT_EQ(resolve({{"model", "pgcn"}, {"gamma", "0.1"}}).extra.at("gamma"), 0.1);
  EXPECT_EQ(
      resolve({{"model", "pgcn"}, {"gamma", "0.1"}, {"extra.gamma", "0.2"}}).extra.at("gamma"),
      0.2);
  const Settings file =
      parse_settings(to_yaml(resolve({{"model", "pgcn"}, {"gamma", "0.1"}})), "config.yaml");
  EXPECT_EQ(resolve(flags_over_file(file, {{"gamma", "0.7"}})).extra.at("gamma"), 0.7);
}

TEST(Config, InfinityIsNoNumberOfAnOption) {
  EXPECT_THROW(resolve({{"clip", "inf"}}), InputError);
  EXPECT_THROW(resolve({{"lr", "nan"}}), InputError);
}

std::string keys_where(const std::function<bool(const OptionInfo&)>& holds) {
  std::string keys;
  for (const OptionInfo& option : config_options()) {
    if (holds(option)) keys += (keys.empty() ? "" : " ") + option.key;
  }
  return keys;
}

TEST(OptionTable, SaysWhatEveryOptionAffects) {
  const auto affecting = [](Affects part) {
    return keys_where([part](const OptionInfo& option) { return option.affects_any(part); });
  };
  EXPECT_EQ(affecting(Affects::kData),
            "preset splits seed data directed features split split_file");
  EXPECT_EQ(affecting(Affects::kTrials), "layers preset splits data");
  EXPECT_EQ(affecting(Affects::kGraph),
            "directional laplacian alpha gamma eigenvectors components rewire epsilon seed");
  EXPECT_EQ(affecting(Affects::kInput), "model self_loops cells memory_budget feature_scaling");
  EXPECT_EQ(affecting(Affects::kNetwork),
            "model recipe hidden heads dropout projection norm skip jk input_linear conv_bias init "
            "dropout_values extra directional eigenvectors seed");
  EXPECT_EQ(affecting(Affects::kProtocol),
            "optimizer lr weight_decay steps cells per_step warmup clip patience eval_every "
            "precision metric seed");
  EXPECT_EQ(keys_where([](const OptionInfo& o) { return o.affects == Affects::kNothing; }),
            "jobs spill checkpoint_every");
  EXPECT_EQ(keys_where(is_about_directions),
            "directional laplacian alpha gamma eigenvectors components rewire epsilon");
}

TEST(OptionTable, SaysWhatMayBeSearchedAndWhatChangesResults) {
  EXPECT_EQ(keys_where([](const OptionInfo& option) { return option.searchable; }),
            "layers hidden heads dropout projection norm skip jk input_linear self_loops "
            "conv_bias init dropout_values extra directional alpha gamma eigenvectors "
            "rewire epsilon optimizer lr weight_decay warmup clip patience feature_scaling");
  EXPECT_EQ(keys_where([](const OptionInfo& option) { return !option.changes_result; }),
            "jobs memory_budget spill checkpoint_every");
}

/// Ledgers, checkpoints and weight files hold these texts.
TEST(OptionTable, KeepsTheTextsOfEveryTypedValue) {
  const std::pair<const char*, std::vector<const char*>> texts[] = {
      {"optimizer", {"adamw", "adam"}},
      {"precision", {"f32", "bf16", "auto"}},
      {"metric", {"auto", "accuracy", "roc_auc", "macro_f1"}},
      {"components", {"each", "first", "largest"}},
      {"rewire", {"auto", "advised", "none", "prune-near", "prune-far+add", "hub"}},
      {"epsilon", {"auto", "1e-05", "q0.2"}},
      {"alpha", {"1", "auto", "0.5"}},
      {"gamma", {"0.3", "auto", "1"}},
      {"preset", {"auto", "quick", "paper", "thorough"}},
      {"features", {"auto", "degree", "phi", "onehot", "none"}},
      {"feature_scaling", {"raw", "row-sum", "standardise"}},
      {"split", {"auto", "60/20/20", "0.6/0.2/0.2", "48/32/20"}},
      {"laplacian", {"tuned", "default"}},
      {"recipe", {"residual", "classic", "deep"}},
      {"norm", {"batch", "layer", "none"}},
      {"skip", {"linear", "identity", "none"}},
      {"jk", {"none", "sum", "cat"}},
      {"init", {"uniform", "glorot"}},
      {"directional", {"on", "off"}}};
  for (const auto& [key, values] : texts) {
    const OptionInfo& option = find_option(key);
    EXPECT_EQ(option.get(Config{}), values.front()) << key;
    for (const char* value : values) {
      Config config;
      option.set(config, value);
      EXPECT_EQ(option.get(config), value) << key;
      option.set(config, values.front());
      EXPECT_EQ(option.get(config), values.front()) << key << " after " << value;
    }
  }
}

}  // namespace
}  // namespace dgat::train
