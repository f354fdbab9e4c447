#include "dgat/train/config.h"

#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/core/suggest.h"
#include "dgat/nn/registry.h"
#include "option_kinds.h"
#include "presets.h"

namespace dgat::train {
namespace {

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
          .set(config, one_extra ? fmt::format("{}={}", key.substr(kOneExtra.size()), text) : text);
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

std::string reason_ignored(const std::string& key, const std::string& value, const Config& config) {
  if (key.starts_with(kOneExtra) || config.extra.contains(key)) return {};
  const bool asks = value != "none" && value != "off" && value != "default";
  if (!asks || !is_about_directions(find_option(key))) return {};
  if (!nn::find_model(config.model).directional) return config.model + " has no directions";
  if (!config.laplacian_tuned && (key == "alpha" || key == "gamma")) {
    return fmt::format("the random-walk Laplacian (laplacian: default) has no {}", key);
  }
  return {};
}

spectral::LaplacianOptions laplacian_of(const Config& config) {
  if (!config.laplacian_tuned) return {.alpha = 1, .gamma = 1};
  return {.alpha = config.alpha, .gamma = config.gamma};
}

data::LoadOptions load_options(const Config& config, bool needs_splits) {
  data::LoadOptions options{.directed = config.directed};
  if (!config.split_file.empty()) options.splits.file = config.split_file;
  if (config.split) options.splits.fractions = config.split->shares;
  if (config.splits > 0) options.splits.count = static_cast<int>(config.splits);
  options.splits.seed = config.seed;
  options.splits.required = needs_splits;
  return options;
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
