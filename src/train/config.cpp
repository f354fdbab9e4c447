#include "dgat/train/config.h"

#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
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

spectral::LaplacianOptions unadvised(const Config& config) {
  const Config usual;
  return {.alpha = config.alpha.value_or(*usual.alpha),
          .gamma = config.gamma.value_or(*usual.gamma)};
}

/// A common option of the same name (pgcn's gamma) stands for an extra one that is not given.
void fill_extras(Config& config, const nn::ModelInfo& info, const Settings& settings) {
  for (const nn::ExtraOption& extra : info.extras) {
    const auto same = settings.find(extra.name);
    const bool given = same != settings.end() && same->second != "auto";
    config.extra.try_emplace(extra.name,
                             !given ? extra.value : parse_number<double>(extra.name, same->second));
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
  if (c.recipe == nn::Recipe::kDeep && !info.has_deep) {
    throw_input("recipe: {} has no deep form; use --recipe residual", c.model);
  }
  if (c.cells > 0 && !info.in_cells) {
    throw_input("cells: {} needs the whole graph in every step; leave out --cells", c.model);
  }
  if (c.per_step > c.cells) {
    throw_input("per_step: must be at most --cells {}, got {}", c.cells, c.per_step);
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

/// What is advised is advised as a whole, but for what was given; anything else has a value.
void settle_graph(Config& config, const Settings& settings) {
  if (config.laplacian == LaplacianKind::kAuthors && config.rewire.advised) {
    if (settings.contains("rewire")) {
      throw_input(
          "rewire: the advice scores L(alpha, gamma); with laplacian authors name a rewiring such "
          "as hub or none");
    }
    config.rewire = rewire::parse_mode("hub");
  }
  if (config.rewire.advised) {
    if (!settings.contains("alpha")) config.alpha.reset();
    if (!settings.contains("gamma")) config.gamma.reset();
    if (!settings.contains("epsilon")) config.epsilon.reset();
    return;
  }
  const spectral::LaplacianOptions usual = unadvised(config);
  config.alpha = usual.alpha;
  config.gamma = usual.gamma;
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
  const nn::ModelInfo& info = nn::find_model(model->second);
  for (const auto& [key, value] : fixed_by(info)) {
    const auto at = settings.find(key);
    if (at != settings.end() && at->second == value) settings.erase(at);
  }
  if (!info.directional) {  // a resolved file also has values that were not given
    const Config usual = resolve({{"model", info.name}});
    std::erase_if(settings, [&](const auto& entry) {
      if (entry.first.starts_with(kOneExtra)) return false;
      const OptionInfo& option = find_option(entry.first);
      return is_about_directions(option) && entry.second == option.get(usual);
    });
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

Config resolve(const Settings& settings, const DataFacts& data) {
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
  apply(given("preset"));
  const nn::ModelInfo& info = nn::find_model(config.model);
  const Preset preset = preset_for(config.preset, data);
  if (info.directional) config.rewire = {.advised = true};
  apply(preset_shape(preset, data));
  apply(info.defaults);
  apply(given("recipe"));
  if (config.recipe == nn::Recipe::kClassic) {
    apply(classic_defaults());
    apply(paper_values(data.name));
  }
  if (config.recipe == nn::Recipe::kDeep) apply(deep_defaults());
  apply(preset_budget(preset, data));
  apply(given("cells"));
  apply(given("per_step"));
  const int64_t per_step =
      config.per_step > 0 ? config.per_step : std::max<int64_t>(1, config.cells / 8);
  if (config.cells > 0) config.eval_every = block_count(config.cells, per_step);
  apply(settings);
  if (config.cells > 0 && config.per_step == 0) config.per_step = per_step;
  apply(fixed_by(info));
  config.preset = preset;
  if (config.precision == PrecisionChoice::kAuto) {
    config.precision = tensor::has_bf16() ? PrecisionChoice::kBf16 : PrecisionChoice::kF32;
  }
  settle_graph(config, settings);
  fill_extras(config, info, settings);
  check_together(config);
  return config;
}

void check_machine(const Config& config) {
  if (config.precision != PrecisionChoice::kBf16 || tensor::has_bf16()) return;
  throw_input(
      "precision: bf16 needs a processor with AMX, which this machine lacks; use auto (bf16 where "
      "AMX is, else f32) or f32");
}

tensor::Precision pass_precision(const Config& config) {
  const bool bf16 = config.precision == PrecisionChoice::kBf16 && tensor::has_bf16();
  return bf16 ? tensor::Precision::kBf16 : tensor::Precision::kF32;
}

std::string reason_ignored(const std::string& key, const std::string& value, const Config& config) {
  if (key.starts_with(kOneExtra) || config.extra.contains(key)) return {};
  const bool asks = value != "none" && value != "off" && value != "default";
  if (!asks || !is_about_directions(find_option(key))) return {};
  if (!nn::find_model(config.model).directional) return config.model + " has no directions";
  if (config.laplacian == LaplacianKind::kDefault && (key == "alpha" || key == "gamma")) {
    return fmt::format("the random-walk Laplacian (laplacian: default) has no {}", key);
  }
  return {};
}

spectral::LaplacianOptions laplacian_of(const Config& config) {
  if (config.laplacian == LaplacianKind::kDefault) return {.alpha = 1, .gamma = 1};
  return unadvised(config);
}

GraphChoice graph_of(const Config& config) {
  const spectral::LaplacianOptions laplacian = laplacian_of(config);
  return {laplacian.gamma, laplacian.alpha, config.rewire, config.epsilon};
}

std::string to_string(const GraphChoice& choice) {
  std::string text = fmt::format("gamma {:g}", choice.gamma);
  if (choice.alpha != 1) text += fmt::format(", alpha {:g}", choice.alpha);
  text += fmt::format(", {}", rewire::to_string(choice.mode));
  if (choice.epsilon) text += fmt::format(" {}", rewire::to_string(*choice.epsilon));
  return text;
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
  options.norm = config.norm;
  options.skip = config.skip;
  options.jumps = config.jumps;
  options.input_linear = config.input_linear;
  options.conv_bias = config.conv_bias;
  options.init = config.init;
  options.dropout_values = config.dropout_values;
  options.seed = config.seed;
  options.extra = config.extra;
  return options;
}

}  // namespace dgat::train
