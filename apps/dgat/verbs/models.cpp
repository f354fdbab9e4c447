// dgat models: what can be trained, one model in detail, parameters on a data set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "../table_output.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "dgat/nn/registry.h"
#include "dgat/study/table.h"
#include "dgat/train/config.h"

namespace dgat::app {
namespace {

struct Models {
  CommonOptions common;
  std::string name, data;
};

constexpr int64_t kDeepest = 5;

train::Config defaults_of(const nn::ModelInfo& info) {
  return train::resolve({{"model", info.name}});
}

/// The default depth; 2 where a range of depths is tried.
int64_t usual_depth(const nn::ModelInfo& info) {
  const train::LayerRange layers = defaults_of(info).layers;
  return layers.first == layers.last ? layers.first : 2;
}

/// Parameters of a model with its default options on a data set, at one depth.
int64_t parameter_count(const nn::ModelInfo& info, int64_t layers, const data::Dataset& set) {
  const nn::ModelOptions options = train::model_options(
      defaults_of(info), layers, set.features.cols(), set.classes, set.graph.nodes());
  return nn::make_model(info.name, options)->parameters().count();
}

std::vector<std::string> recipes_of(const nn::ModelInfo& info) {
  if (info.own_recipe) return {"own"};
  std::vector<std::string> recipes = {"residual"};
  if (info.has_classic) recipes.emplace_back("classic");
  if (info.has_deep) recipes.emplace_back("deep");
  return recipes;
}

Json to_json(const nn::ModelInfo& info, const data::Dataset* set) {
  Json json = {{"name", info.name},
               {"description", info.description},
               {"equations", info.equations},
               {"reference", info.reference},
               {"directional", info.directional},
               {"recipes", recipes_of(info)},
               {"layers", usual_depth(info)},
               {"defaults", info.defaults},
               {"grid", info.grid},
               {"extras", Json::array()}};
  for (const nn::ExtraOption& extra : info.extras) {
    json["extras"].push_back({{"name", extra.name},
                              {"default", extra.value},
                              {"first", extra.first},
                              {"last", extra.last},
                              {"whole", extra.whole},
                              {"meaning", extra.meaning}});
  }
  if (set != nullptr) {
    for (int64_t layers = 1; layers <= kDeepest; ++layers) {
      json["parameters"][fmt::format("{}", layers)] = parameter_count(info, layers, *set);
    }
  }
  return json;
}

std::string indented(std::string text) {
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) {
    text.replace(at, 1, "\n  ");
  }
  return fmt::format("  {}", text);
}

void print_one(const nn::ModelInfo& info, const data::Dataset* set) {
  fmt::print("{}: {}\n\n{}\n\n{}\nrecipe: {}\n", info.name, info.description,
             indented(info.equations), info.reference, fmt::join(recipes_of(info), ", "));
  if (!info.defaults.empty()) {
    fmt::print("\ndefaults that differ from those of `dgat train --help`\n");
    for (const auto& [key, value] : info.defaults) fmt::print("  {}: {}\n", key, value);
  }
  if (!info.extras.empty()) {
    fmt::print("\noptions of this model, --extra NAME=VALUE,NAME=VALUE\n");
    for (const nn::ExtraOption& extra : info.extras) {
      fmt::print("  {}={}  {} ({} .. {}{})\n", extra.name, extra.value, extra.meaning, extra.first,
                 extra.last, extra.whole ? ", whole" : "");
    }
  }
  if (!info.grid.empty()) {
    fmt::print("\nvalues worth searching\n");
    for (const auto& [key, values] : info.grid) {
      fmt::print("  {}: {}\n", key, fmt::join(values, ", "));
    }
  }
  if (set == nullptr) return;
  study::Table table = study::Table::of({"layers", "parameters on " + set->name});
  for (int64_t layers = 1; layers <= kDeepest; ++layers) {
    table.row({fmt::format("{}", layers), fmt::format("{}", parameter_count(info, layers, *set))});
  }
  fmt::print("\n{}", on_screen(table));
}

void print_all(const data::Dataset* set) {
  std::vector<std::string> header = {"model", "recipe", "description"};
  if (set != nullptr) header.insert(header.begin() + 2, {"layers", "parameters"});
  study::Table table = study::Table::of(header);
  for (const nn::ModelInfo& info : nn::all_models()) {
    std::vector<std::string> row = {info.name, fmt::format("{}", fmt::join(recipes_of(info), ", ")),
                                    info.description};
    if (set != nullptr) {
      const int64_t depth = usual_depth(info);
      row.insert(row.begin() + 2, {info.uses_layers ? fmt::format("{}", depth) : "-",
                                   fmt::format("{}", parameter_count(info, depth, *set))});
    }
    table.row({row.begin(), row.end()});
  }
  constexpr size_t kColumns = 80;  // also in a pipe
  fmt::print("{}`dgat models NAME` shows equations, options and the reference\n",
             on_screen(table, kColumns));
  if (set == nullptr) return;
  fmt::print("parameters on {} with default options, at 2 layers where a range is tried\n",
             set->name);
}

void run(const Models& options) {
  data::Dataset set;
  const data::Dataset* on = nullptr;
  if (!options.data.empty()) {
    set = data::load_dataset(options.data);
    on = &set;
  }
  if (!options.name.empty()) {
    const nn::ModelInfo& info = nn::find_model(options.name);
    if (options.common.json) {
      print_json(to_json(info, on));
    } else {
      print_one(info, on);
    }
    return;
  }
  if (!options.common.json) {
    print_all(on);
    return;
  }
  Json all = Json::array();
  for (const nn::ModelInfo& info : nn::all_models()) all.push_back(to_json(info, on));
  print_json({{"models", all}});
}

}  // namespace

void add_models(CLI::App& app) {
  auto options = std::make_shared<Models>();
  CLI::App* verb = app.add_subcommand("models", "The models that can be trained");
  verb->add_option("NAME", options->name, "one model: equations, options, defaults, search grid");
  verb->add_option("--data", options->data, "count parameters on this data set");
  add_common_options(*verb, options->common);
  verb->footer(
      "  dgat models\n  dgat models --data chameleon_filtered.npz\n  dgat models h2gcn\n"
      "  dgat models dgat --data chameleon_filtered.npz --json");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
