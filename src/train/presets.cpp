#include "presets.h"

#include <fmt/format.h>

#include "dgat/data/catalogue.h"
#include "dgat/train/option_table.h"

namespace dgat::train {
namespace {

struct PaperRow {
  const char *dataset, *lr, *weight_decay, *dropout, *epsilon, *gamma, *alpha, *hidden;
};

/// `hidden` is the printed width times 8: that of a head, as in the code base the paper built on.
constexpr PaperRow kPaper[] = {
    {"chameleon", "0.005", "0.0005", "0.4", "1e-07", "0.0", "0.9", "384"},
    {"squirrel", "0.05", "5e-05", "0.2", "1e-07", "0.2", "0.1", "384"},
    {"actor", "1e-05", "1e-07", "0.3", "1e-07", "0.2", "0.2", "256"},
    {"cornell", "0.005", "0.0005", "0.2", "5e-06", "0.3", "0.8", "256"},
    {"wisconsin", "0.005", "5e-06", "0.5", "1e-06", "0.3", "0.7", "256"},
    {"texas", "5e-05", "0.005", "0.4", "1e-05", "0.2", "0.8", "256"},
    {"cora", "0.005", "0.0005", "0.4", "5e-07", "0.9", "0.8", "128"},
    {"citeseer", "0.05", "5e-05", "0.6", "1e-05", "0.5", "0.2", "128"},
    {"pubmed", "0.01", "0.05", "0.6", "1e-06", "1.0", "0.3", "512"},
};

/// Nodes and edges above which a quick training has fewer splits and steps.
constexpr int64_t kMiddleGraph = 50'000, kLargeGraph = 500'000;

}  // namespace

Settings classic_defaults() {
  return {{"layers", "2"}, {"hidden", "64"},          {"heads", "8"},       {"dropout", "0.1"},
          {"lr", "0.01"},  {"weight_decay", "0.001"}, {"optimizer", "adam"}};
}

Settings deep_defaults() {
  return {{"layers", "3"}, {"hidden", "256"},          {"heads", "1"},        {"dropout", "0.5"},
          {"lr", "0.005"}, {"weight_decay", "0.0005"}, {"optimizer", "adam"}, {"steps", "500"}};
}

Settings paper_values(const std::string& dataset) {
  const data::CatalogueEntry* entry = data::find_in_catalogue(dataset);  // cornell_old is cornell
  for (const PaperRow& p : kPaper) {
    if (entry == nullptr || std::string_view(entry->name) != p.dataset) continue;
    return {{"lr", p.lr},           {"weight_decay", p.weight_decay},
            {"dropout", p.dropout}, {"epsilon", p.epsilon},
            {"gamma", p.gamma},     {"alpha", p.alpha},
            {"hidden", p.hidden},   {"rewire", "auto"}};
  }
  return {};
}

Preset preset_for(Preset asked, const DataFacts& data) {
  if (asked != Preset::kAuto) return asked;
  const bool known = data.nodes == 0 || data::find_in_catalogue(data.name) != nullptr;
  return known ? Preset::kPaper : Preset::kQuick;
}

Settings preset_shape(Preset preset, const DataFacts& data) {
  if (preset == Preset::kThorough) return {{"layers", "1..8"}};
  if (preset != Preset::kQuick) return {};
  // The work of a step grows with nodes x width^2 and arcs x width.
  const bool large = data.nodes + data.edges > kLargeGraph;
  return {{"layers", "2"}, {"hidden", large ? "32" : "64"}, {"lr", "0.003"}};
}

Settings preset_budget(Preset preset, const DataFacts& data) {
  if (preset == Preset::kThorough) return {{"steps", "3000"}};
  if (preset != Preset::kQuick) return {};
  if (data.nodes + data.edges > kLargeGraph) {
    return {{"steps", "150"}, {"patience", "50"}, {"splits", "1"}, {"eval_every", "2"}};
  }
  if (data.nodes + data.edges > kMiddleGraph) {
    return {{"steps", "200"}, {"patience", "100"}, {"splits", "3"}, {"eval_every", "2"}};
  }
  return {{"steps", "300"}, {"patience", "100"}};
}

std::string preset_summary(const Config& config, const DataFacts& data) {
  const auto value = [&config](const char* key) { return find_option(key).get(config); };
  std::string text = value("preset");
  if (data.nodes > 0) text += fmt::format(" for {} nodes, {} edges", data.nodes, data.edges);
  text += fmt::format(": layers {}, hidden {}, lr {}, dropout {}, {} steps", value("layers"),
                      value("hidden"), value("lr"), value("dropout"), value("steps"));
  if (config.patience > 0) text += fmt::format(", patience {}", config.patience);
  return text;
}

}  // namespace dgat::train
