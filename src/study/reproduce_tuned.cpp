#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "dgat/core/error.h"
#include "dgat/study/rows.h"
#include "reproduce_parts.h"

namespace dgat::study {
namespace {

constexpr const char* kDatasets[] = {"minesweeper", "tolokers", "squirrel-filtered",
                                     "chameleon-filtered"};
constexpr const char* kModels[] = {"resnet", "gcn", "sage", "gat", "dgat", "dgatv2"};
constexpr std::string_view kSearched = ", searched";

/// DATASET-MODEL.yaml or DATASET-MODEL/config.yaml; the name of the data set also as in files.
std::optional<std::filesystem::path> searched_file(const std::filesystem::path& folder,
                                                   std::string dataset, const std::string& model) {
  for (int spelling = 0; spelling < 2; ++spelling) {
    const std::string name = fmt::format("{}-{}", dataset, model);
    for (const auto& path : {folder / (name + ".yaml"), folder / name / "config.yaml"}) {
      if (std::filesystem::exists(path)) return path;
    }
    std::replace(dataset.begin(), dataset.end(), '-', '_');
  }
  return std::nullopt;
}

/// Options of the command line take precedence over those of the row.
Row row_with(const std::string& name, const std::string& model, train::Settings settings,
             const ReproduceOptions& options, const std::string& dataset) {
  settings.erase("model");
  for (const auto& [key, value] : options.settings) settings[key] = value;
  Row row = row_of(model, with_paper_defaults(std::move(settings), model), dataset);
  row.name = name;
  return row;
}

}  // namespace

std::span<const char* const> tuned_datasets() {
  return kDatasets;
}
std::span<const char* const> tuned_models() {
  return kModels;
}

train::Settings settings_from(const std::filesystem::path& file) {
  using train::Affects;
  train::Settings settings = train::read_settings(file);
  for (const train::OptionInfo& option : train::config_options()) {
    if (option.affects_any(Affects::kData) || option.affects == Affects::kNothing) {
      settings.erase(option.key);
    }
  }
  return settings;
}

std::vector<Row> tuned_rows(const ReproduceOptions& options, const std::string& dataset) {
  const auto wanted = [&](const char* model) {
    return options.models.empty() ||
           std::find(options.models.begin(), options.models.end(), model) != options.models.end();
  };
  std::vector<Row> rows;
  for (const TunedNetwork& network : tuned_networks()) {
    if (network.dataset != dataset || !wanted(network.model)) continue;
    train::Settings settings = parse_grid(network.options).front();
    settings["recipe"] = "deep";
    rows.push_back(row_with(network.model, network.model, std::move(settings), options, dataset));
  }
  for (const char* model : kModels) {
    if (options.tuned.empty() || !wanted(model)) continue;
    if (const auto file = searched_file(options.tuned, dataset, model)) {
      rows.push_back(row_with(fmt::format("{}{}", model, kSearched), model, settings_from(*file),
                              options, dataset));
    }
  }
  return rows;
}

std::optional<Published> tuned_published(const std::string& dataset, const std::string& row) {
  const std::string model = row.substr(0, row.find(kSearched));
  for (const TunedNetwork& network : tuned_networks()) {
    if (dataset == network.dataset && model == network.model) return network.published;
  }
  if (model == "dgat") return published_result(dataset, model);
  return std::nullopt;
}

}  // namespace dgat::study
