// dgat models: what can be trained, one model in detail, parameters on a data set.
#include <fmt/format.h>

#include <memory>

#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "dgat/nn/registry.h"
#include "dgat/train/config.h"

namespace dgat::app {
namespace {

struct Models {
  CommonOptions common;
  std::string name, data;
};

/// Parameters of a model with its default options on a data set, at one depth.
int64_t parameter_count(const std::string& name, int64_t layers, const data::Dataset& set) {
  const train::Config config = train::resolve({{"model", name}});
  return nn::make_model(name, train::model_options(config, layers, set.features.cols(), set.classes,
                                                   set.graph.nodes()))
      ->parameters()
      .count();
}

Json to_json(const nn::ModelInfo& info, const data::Dataset* set) {
  Json json = {{"name", info.name},
               {"description", info.description},
               {"equations", info.equations},
               {"reference", info.reference},
               {"directional", info.directional},
               {"recipes", info.has_classic ? Json{"residual", "classic"} : Json{"residual"}},
               {"defaults", info.defaults},
               {"grid", info.grid},
               {"extras", Json::array()}};
  for (const nn::ExtraOption& extra : info.extras) {
    json["extras"].push_back({{"name", extra.name},
                              {"default", extra.value},
                              {"first", extra.first},
                              {"last", extra.last},
                              {"meaning", extra.meaning}});
  }
  if (set != nullptr) {
    for (int64_t layers = 1; layers <= 5; ++layers) {
      json["parameters"][fmt::format("{}", layers)] = parameter_count(info.name, layers, *set);
    }
  }
  return json;
}

void print_one(const nn::ModelInfo& info, const data::Dataset* set) {
  fmt::print("{}: {}\n\n", info.name, info.description);
  std::string text = info.equations;
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 3)) {
    text.replace(at, 1, "\n  ");
  }
  fmt::print("  {}\n\n{}\nrecipes: residual{}\n", text, info.reference,
             info.has_classic ? ", classic" : "");
  for (const auto& [key, value] : info.defaults) fmt::print("default {}: {}\n", key, value);
  for (const nn::ExtraOption& extra : info.extras) {
    fmt::print("--extra {}={}  {} ({} .. {})\n", extra.name, extra.value, extra.meaning,
               extra.first, extra.last);
  }
  if (set == nullptr) return;
  Table table({"layers", "parameters on " + set->name});
  for (int64_t layers = 1; layers <= 5; ++layers) {
    table.row(
        {fmt::format("{}", layers), fmt::format("{}", parameter_count(info.name, layers, *set))});
  }
  fmt::print("\n{}", table.text());
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
  if (options.common.json) {
    Json all = Json::array();
    for (const nn::ModelInfo& info : nn::all_models()) all.push_back(to_json(info, on));
    print_json({{"models", all}});
    return;
  }
  std::vector<std::string> header = {"model", "description"};
  if (on != nullptr) header.push_back("parameters, 2 layers");
  Table table(header);
  for (const nn::ModelInfo& info : nn::all_models()) {
    std::vector<std::string> row = {info.name, info.description};
    if (on != nullptr) row.push_back(fmt::format("{}", parameter_count(info.name, 2, *on)));
    table.row(row);
  }
  fmt::print("{}", table.text());
}

}  // namespace

void add_models(CLI::App& app) {
  auto options = std::make_shared<Models>();
  CLI::App* verb = app.add_subcommand("models", "The models that can be trained");
  verb->add_option("NAME", options->name, "one model in detail");
  verb->add_option("--data", options->data, "count parameters on this data set");
  add_common_options(*verb, options->common);
  verb->footer("  dgat models\n  dgat models dgat --data chameleon_filtered.npz");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
