#include "dgat/nn/registry.h"

#include <fmt/format.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/suggest.h"
#include "model_entry.h"

namespace dgat::nn {
namespace {

std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace

void check_options(const ModelInfo& info, const ModelOptions& o) {
  const std::string& name = info.name;
  if (o.features < 1) throw_input("{}: the data set has no node features", name);
  if (o.classes < 2) throw_input("{}: at least two classes are needed, got {}", name, o.classes);
  if (o.layers < 1 || o.hidden < 1) {
    throw_input("{}: layers and hidden must be positive, got {} and {}", name, o.layers, o.hidden);
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    throw_input("{}: dropout must lie in [0, 1), got {}", name, o.dropout);
  }
  if (info.uses_heads && (o.heads < 1 || o.hidden % o.heads != 0)) {
    throw_input("{}: {} heads do not divide hidden {}", name, o.heads, o.hidden);
  }
  if (o.recipe == Recipe::kClassic && !info.has_classic) {
    throw_input("{}: there is no classic form; use recipe residual", name);
  }
  if (o.recipe == Recipe::kDeep && !info.has_deep) {
    throw_input("{}: there is no deep form; use recipe residual", name);
  }
  if (info.per_node && o.nodes < 1)
    throw_input("{}: the number of nodes of the graph is missing; set ModelOptions::nodes", name);
  for (const ExtraOption& extra : info.extras) {
    const double value = o.extra.at(extra.name);
    if (!(value >= extra.first && value <= extra.last)) {
      throw_input("{}: {} must lie in [{}, {}], got {}", name, extra.name, extra.first, extra.last,
                  value);
    }
    if (extra.whole && value != std::floor(value)) {
      throw_input("{}: {} must be a whole number, got {}", name, extra.name, value);
    }
  }
}

Recipe parse_recipe(std::string_view text) {
  if (text == "residual") return Recipe::kResidual;
  if (text == "classic") return Recipe::kClassic;
  if (text == "deep") return Recipe::kDeep;
  throw_input("recipe: must be residual, classic or deep, got '{}'", text);
}

std::string to_string(Recipe recipe) {
  switch (recipe) {
    case Recipe::kClassic:
      return "classic";
    case Recipe::kDeep:
      return "deep";
    default:
      return "residual";
  }
}

std::span<const ModelInfo> all_models() {
  static const std::vector<ModelInfo> registry = [] {
    std::vector<ModelInfo> all;
    for (const auto& entry : model_entries<float>()) all.push_back(entry.info);
    return all;
  }();
  return registry;
}

const ModelInfo& find_model(const std::string& name) {
  std::vector<std::string> known;
  for (const ModelInfo& info : all_models()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw_input("model: '{}' is not known{} (`dgat models` lists all)", name,
              did_you_mean(name, known));
}

std::string summary(const std::string& name, const ModelOptions& o, int64_t parameters) {
  const ModelInfo& info = find_model(name);
  std::string how = info.own_recipe ? "own recipe" : to_string(o.recipe);
  if (info.uses_heads) how += fmt::format(", {} heads", o.heads);
  if (info.directional) how += o.directional ? ", directional" : ", not directional";
  std::string middle = info.uses_hidden ? fmt::format("{} ", o.hidden) : "";
  if (info.uses_layers) middle += fmt::format("x{} ", o.layers);
  return fmt::format("{}: {} -> {}({}) -> {}, {} parameters", name, o.features, middle, how,
                     o.outputs(), with_commas(parameters));
}

}  // namespace dgat::nn
