#include "dgat/train/config.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/suggest.h"
#include "dgat/data/splits.h"
#include "dgat/nn/registry.h"
#include "dgat/rewire/options.h"
#include "presets.h"

namespace dgat::train {
namespace {

template <class Number>
Number parse_number(const std::string& key, const std::string& text) {
  Number value{};
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) {
    throw_input("{}: a {} was expected, got '{}'", key,
                std::is_integral_v<Number> ? "whole number" : "number", text);
  }
  return value;
}

/// "key: must lie in [0, 1], got 2" unless first <= value <= last.
template <class Number>
void check_range(const std::string& key, Number value, double first, double last) {
  const auto v = static_cast<double>(value);
  if (v >= first && v <= last) return;
  if (std::isinf(last)) throw_input("{}: must be at least {}, got {}", key, first, value);
  throw_input("{}: must lie in [{}, {}], got {}", key, first, last, value);
}

constexpr double kNoLimit = HUGE_VAL;

OptionInfo number(const char* key, const char* group, double Config::*field, double first,
                  double last, const char* meaning) {
  return {key,
          group,
          "FLOAT",
          meaning,
          [=](Config& c, const std::string& text) {
            const auto value = parse_number<double>(key, text);
            check_range(key, value, first, last);
            if (std::isinf(value)) throw_input("{}: must be finite, got {}", key, text);
            c.*field = value;
          },
          [=](const Config& c) { return fmt::format("{}", c.*field); }};
}

OptionInfo count(const char* key, const char* group, int64_t Config::*field, int64_t first,
                 int64_t last, const char* meaning) {
  return {key,
          group,
          "INT",
          meaning,
          [=](Config& c, const std::string& text) {
            const auto value = parse_number<int64_t>(key, text);
            check_range(key, value, static_cast<double>(first), static_cast<double>(last));
            c.*field = value;
          },
          [=](const Config& c) { return fmt::format("{}", c.*field); }};
}

/// One of "a|b|c".
OptionInfo choice(const char* key, const char* group, const char* names, const char* meaning,
                  const std::function<void(Config&, const std::string&)>& assign,
                  std::function<std::string(const Config&)> get) {
  return {key,
          group,
          names,
          meaning,
          [=](Config& c, const std::string& text) {
            const std::string all = fmt::format("|{}|", names);
            if (text.empty() || text.find('|') != std::string::npos ||
                all.find("|" + text + "|") == std::string::npos) {
              throw_input("{}: must be one of {}, got '{}'", key, names, text);
            }
            assign(c, text);
          },
          std::move(get)};
}

OptionInfo choice(const char* key, const char* group, const char* names, std::string Config::*field,
                  const char* meaning) {
  return choice(
      key, group, names, meaning, [=](Config& c, const std::string& text) { c.*field = text; },
      [=](const Config& c) { return c.*field; });
}

OptionInfo on_off(const char* key, const char* group, bool Config::*field, const char* meaning) {
  return choice(
      key, group, "on|off", meaning,
      [=](Config& c, const std::string& text) { c.*field = text == "on"; },
      [=](const Config& c) { return c.*field ? "on" : "off"; });
}

LayerRange parse_layers(const std::string& text) {
  constexpr double kDeepest = 64;
  const size_t dots = text.find("..");
  LayerRange range;
  range.first = parse_number<int64_t>("layers", text.substr(0, dots));
  range.last = dots == std::string::npos ? range.first
                                         : parse_number<int64_t>("layers", text.substr(dots + 2));
  check_range("layers", range.first, 1, kDeepest);
  check_range("layers", range.last, 1, kDeepest);
  if (range.first > range.last) {
    throw_input("layers: {} is an empty range; write the smaller depth first", text);
  }
  return range;
}

std::string layers_text(const Config& c) {
  if (c.layers.first == c.layers.last) return fmt::format("{}", c.layers.first);
  return fmt::format("{}..{}", c.layers.first, c.layers.last);
}

constexpr const char* kOneExtra = "extra.";

/// "k=3,ppr=0.1" by name.
Settings parse_pairs(const std::string& text) {
  Settings pairs;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos) {
      throw_input("extra: write name=value,name=value; got '{}'", pair);
    }
    pairs[pair.substr(0, equals)] = pair.substr(equals + 1);
    begin = end + 1;
  }
  return pairs;
}

/// The options that only one model knows.
void set_extra(Config& c, const std::string& text) {
  for (const auto& [name, value] : parse_pairs(text)) {
    c.extra[name] = parse_number<double>("extra " + name, value);
  }
}

std::string extra_text(const Config& c) {
  std::string text;
  for (const auto& [name, value] : c.extra) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text;
}

OptionInfo free_of_result(OptionInfo option) {
  option.changes_result = false;
  return option;
}

OptionInfo as_switch(OptionInfo option) {
  option.is_switch = true;
  return option;
}

std::vector<OptionInfo> make_options() {
  const char *model = "Model", *direction = "Direction", *training = "Training";
  return {
      {"model", model, "NAME", "the network; `dgat models` lists them",
       [](Config& c, const std::string& text) { c.model = nn::find_model(text).name; },
       [](const Config& c) { return c.model; }},
      choice(
          "recipe", model, "residual|classic",
          "architecture around the attention: residual blocks, or the layers of the original GAT",
          [](Config& c, const std::string& text) { c.recipe = nn::parse_recipe(text); },
          [](const Config& c) { return nn::to_string(c.recipe); }),
      {"layers", model, "N or A..B", "depth; a range is tried and the best on validation kept",
       [](Config& c, const std::string& text) { c.layers = parse_layers(text); }, layers_text},
      count("hidden", model, &Config::hidden, 1, 1 << 20, "width of a hidden layer, all heads"),
      count("heads", model, &Config::heads, 1, 1024, "attention heads; they divide hidden"),
      number("dropout", model, &Config::dropout, 0, 0.999, "share of entries dropped, 0 .. 0.999"),
      on_off("projection", model, &Config::projection,
             "recipe classic: a linear map behind every hidden layer (paper eq. 17)"),
      {"extra", model, "K=V,...", "options of one model only, see `dgat models NAME`", set_extra,
       extra_text},

      on_off("directional", direction, &Config::directional,
             "let the directional edge features enter the attention scores"),
      choice(
          "laplacian", direction, "default|tuned",
          "default: the random-walk Laplacian; tuned: L(alpha, gamma)",
          [](Config& c, const std::string& text) { c.laplacian_tuned = text == "tuned"; },
          [](const Config& c) { return c.laplacian_tuned ? "tuned" : "default"; }),
      number("alpha", direction, &Config::alpha, 0, 1, "side balance of L(alpha, gamma), 0 .. 1"),
      number("gamma", direction, &Config::gamma, 0, 1, "degree weight of L(alpha, gamma), 0 .. 1"),
      count("eigenvectors", direction, &Config::eigenvectors, 1, 64,
            "eigenvectors behind the edge features, 1 .. 64"),
      choice("components", direction, "each|first|largest", &Config::components,
             "which connected components have an eigenvector"),
      {"rewire", direction, "MODE",
       "none, auto, prune-near, prune-far, add, hub, or a pair such as prune-far+add",
       [](Config& c, const std::string& text) {
         c.rewire = rewire::to_string(rewire::parse_mode(text));
       },
       [](const Config& c) { return c.rewire; }},
      {"epsilon", direction, "E or qX",
       "pruning threshold: a distance, a quantile such as q0.2, or auto",
       [](Config& c, const std::string& text) {
         c.epsilon = text == "auto" ? text : rewire::to_string(rewire::parse_epsilon(text));
       },
       [](const Config& c) { return c.epsilon; }},

      choice("optimizer", training, "adamw|adam", &Config::optimizer,
             "adamw decays weights directly, adam adds L2 to the gradient"),
      number("lr", training, &Config::lr, 0, 1e3, "learning rate"),
      number("weight_decay", training, &Config::weight_decay, 0, 1e3,
             "weight decay; never on biases and norms"),
      count("steps", training, &Config::steps, 1, int64_t{1} << 40, "full-batch steps"),
      count("warmup", training, &Config::warmup, 0, int64_t{1} << 40,
            "steps over which the learning rate rises linearly"),
      number("clip", training, &Config::clip, 0, kNoLimit,
             "largest norm of the whole gradient; 0 is off"),
      count("patience", training, &Config::patience, 0, int64_t{1} << 40,
            "stop after so many steps without a better validation metric; 0 is off"),
      count("eval_every", training, &Config::eval_every, 1, int64_t{1} << 40,
            "steps between evaluations (the last step is always evaluated)"),
      choice("metric", training, "auto|accuracy|roc_auc|macro_f1", &Config::metric,
             "auto: ROC AUC for two classes, else accuracy"),
      count("splits", training, &Config::splits, 0, 1'000'000,
            "how many splits to run, from the first; 0 means all"),
      {"seed", training, "INT", "seed of every random choice",
       [](Config& c, const std::string& text) { c.seed = parse_number<uint64_t>("seed", text); },
       [](const Config& c) { return fmt::format("{}", c.seed); }},
      free_of_result(count("jobs", training, &Config::jobs, 0, 4096,
                           "splits trained side by side; 0 decides by size; same results")),
      free_of_result(number("memory_budget", training, &Config::memory_budget, 0, 1e6,
                            "GB that a model's precomputed parts may take; 0: half of the memory")),
      free_of_result(count("checkpoint_every", training, &Config::checkpoint_every, 1,
                           int64_t{1} << 40, "steps between checkpoints")),
      {"data", "Data", "DATA", "the data set: a file or folder",
       [](Config& c, const std::string& text) { c.data = text; },
       [](const Config& c) { return c.data; }},
      as_switch(on_off("directed", "Data", &Config::directed,
                       "keep arcs as they are, for models without directions")),
      choice("feature_scaling", "Data", "raw|row-sum|standardise", &Config::feature_scaling,
             "node features as read, rows divided by their sums, or columns with mean 0 and "
             "variance 1 (dense features only)"),
      {"split", "Data", "A/B/C",
       "random stratified splits with these shares, such as 60/20/20; auto: those of the data set",
       [](Config& c, const std::string& text) {
         if (text != "auto") data::parse_split_fractions(text);
         c.split = text;
       },
       [](const Config& c) { return c.split; }},
      {"split_file", "Data", "FILE", "splits from a CSV file: id,split0,split1,...",
       [](Config& c, const std::string& text) { c.split_file = text; },
       [](const Config& c) { return c.split_file; }},
  };
}

/// What a model cannot choose.
Settings fixed_by(const nn::ModelInfo& info) {
  Settings fixed;
  if (!info.directional) fixed = {{"directional", "off"}, {"rewire", "none"}};
  if (!info.uses_layers) fixed.emplace("layers", "1");
  return fixed;
}

/// A common option of the same name (pgcn's gamma) stands for an extra one that is not given.
void fill_extras(Config& config, const nn::ModelInfo& info, const Settings& settings) {
  for (const nn::ExtraOption& extra : info.extras) {
    const auto same = settings.find(extra.name);
    config.extra.try_emplace(extra.name, same == settings.end()
                                             ? extra.value
                                             : parse_number<double>(extra.name, same->second));
  }
}

void check_together(const Config& c) {
  const nn::ModelInfo& info = nn::find_model(c.model);
  if (info.uses_heads && c.hidden % c.heads != 0) {
    throw_input("heads: {} heads do not divide hidden {}; choose a multiple", c.heads, c.hidden);
  }
  if (c.recipe == nn::Recipe::kClassic && !info.has_classic) {
    throw_input("recipe: {} has no classic form; use --recipe residual", c.model);
  }
  for (const auto& [name, value] : c.extra) {
    std::vector<std::string> known;
    const nn::ExtraOption* found = nullptr;
    for (const nn::ExtraOption& extra : info.extras) {
      known.push_back(extra.name);
      if (extra.name == name) found = &extra;
    }
    if (found == nullptr) {
      throw_input("extra: {} has no option {}{}", c.model, name, did_you_mean(name, known));
    }
    check_range("extra " + name, value, found->first, found->last);
  }
}

}  // namespace

std::span<const OptionInfo> config_options() {
  static const std::vector<OptionInfo> options = make_options();
  return options;
}

const OptionInfo& find_option(const std::string& key) {
  std::vector<std::string> known;
  for (const OptionInfo& option : config_options()) {
    if (option.key == key) return option;
    known.push_back(option.key);
  }
  throw_input("unknown option {}{}", key, did_you_mean(key, known));
}

Settings with_single_extras(Settings settings) {
  const auto all = settings.find("extra");
  if (all == settings.end()) return settings;
  const Settings pairs = parse_pairs(all->second);
  settings.erase(all);
  for (const auto& [name, value] : pairs)
    settings.try_emplace(fmt::format("{}{}", kOneExtra, name), value);
  return settings;
}

Settings for_any_model(Settings settings) {
  const auto model = settings.find("model");
  if (model == settings.end()) return settings;
  for (const auto& [key, value] : fixed_by(nn::find_model(model->second))) {
    const auto at = settings.find(key);
    if (at != settings.end() && at->second == value) settings.erase(at);
  }
  settings.erase("model");
  return settings;
}

Settings flags_over_file(Settings file, const Settings& flags) {
  Settings merged = with_single_extras(std::move(file));
  const auto model = flags.find("model");
  if (model != flags.end() && merged.contains("model") && merged["model"] != model->second) {
    merged = for_any_model(std::move(merged));
    std::erase_if(merged, [](const auto& entry) { return entry.first.starts_with(kOneExtra); });
  }
  const Settings given = with_single_extras(flags);
  for (const auto& [key, text] : given) merged[key] = text;
  if (!merged.contains("model")) return merged;
  for (const nn::ExtraOption& extra : nn::find_model(merged["model"]).extras) {
    const auto same = given.find(extra.name);
    const std::string key = fmt::format("{}{}", kOneExtra, extra.name);
    if (same != given.end() && !given.contains(key)) merged[key] = same->second;
  }
  return merged;
}

Config resolve(const Settings& settings, const std::string& dataset) {
  Config config;
  const auto apply = [&config](const Settings& values) {
    for (const auto& [key, text] : values) {
      const bool one_extra = key.starts_with(kOneExtra);
      find_option(one_extra ? "extra" : key)
          .set(config, one_extra ? fmt::format("{}={}", key.substr(6), text) : text);
    }
  };
  const auto given = [&settings](const char* key) {
    const auto at = settings.find(key);
    return at == settings.end() ? Settings{} : Settings{{at->first, at->second}};
  };
  apply(given("model"));
  const nn::ModelInfo& info = nn::find_model(config.model);
  apply(info.defaults);
  apply(given("recipe"));
  if (config.recipe == nn::Recipe::kClassic) {
    apply(classic_defaults());
    apply(paper_preset(dataset));
  }
  apply(settings);
  apply(fixed_by(info));
  fill_extras(config, info, settings);
  check_together(config);
  return config;
}

std::string why_unheeded(const std::string& key, const std::string& value, const Config& config) {
  if (key.starts_with(kOneExtra) || config.extra.contains(key)) return {};
  const bool asks = value != "none" && value != "off" && value != "default";
  if (find_option(key).group != "Direction" || !asks) return {};
  if (!nn::find_model(config.model).directional) return config.model + " has no directions";
  if (!config.laplacian_tuned && (key == "alpha" || key == "gamma")) {
    return fmt::format("the random-walk Laplacian (laplacian: default) has no {}", key);
  }
  return {};
}

nn::ModelOptions model_options(const Config& config, int64_t layers, int64_t features,
                               int64_t classes, int64_t nodes) {
  nn::ModelOptions options;
  options.features = features;
  options.classes = classes;
  options.nodes = nodes;
  options.recipe = config.recipe;
  options.hidden = config.hidden;
  options.heads = config.heads;
  options.layers = layers;
  options.dropout = config.dropout;
  options.directional = config.directional;
  options.eigenvectors = config.eigenvectors;
  options.projection = config.projection;
  options.seed = config.seed;
  options.extra = config.extra;
  return options;
}

}  // namespace dgat::train
