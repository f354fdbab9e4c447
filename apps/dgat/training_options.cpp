#include "training_options.h"

#include <algorithm>
#include <filesystem>

namespace dgat::app {

void add_training_options(CLI::App& verb, TrainingOptions& options, const CommonOptions& common,
                          const std::vector<std::string>& left_out) {
  for (const train::OptionInfo& option : train::config_options()) {
    const bool skipped = std::find(left_out.begin(), left_out.end(), option.key) != left_out.end();
    if (skipped || option.key == "data" || option.key == "seed") continue;
    add_option_flag(verb, option, options.flags);
  }
  verb.add_option("--config", options.config,
                  "YAML file with options, such as the config.yaml of a run; flags take precedence")
      ->type_name("FILE")
      ->group("Data");
  // --seed belongs to the common flags: it counts as given only when it was.
  verb.parse_complete_callback([&verb, &options, &common] {
    if (verb.count("--seed") > 0) options.flags["seed"] = std::to_string(common.seed);
  });
}

void add_resume(CLI::App& verb) {
  verb.add_flag_callback(
      "--resume", [] {}, "continue from the ledger; this is always on and may be left out");
}

void make_paths_absolute(train::Settings& settings) {
  for (const char* key : {"data", "split_file", "spill"}) {
    const auto at = settings.find(key);
    std::error_code ignored;
    if (at == settings.end() || !std::filesystem::exists(at->second, ignored)) continue;
    at->second = std::filesystem::absolute(at->second).lexically_normal().string();
  }
}

namespace {

train::Settings file_settings(const TrainingOptions& options, train::Grid* grid) {
  if (options.config.empty()) return {};
  if (grid == nullptr) return train::read_settings(options.config);
  train::Settings settings = train::read_settings(options.config, *grid);
  for (const auto& [key, value] : options.flags) grid->erase(key);
  return settings;
}

}  // namespace

train::Settings given_settings(const TrainingOptions& options, train::Grid* grid) {
  return train::flags_over_file(file_settings(options, grid), options.flags);
}

train::Settings settings_for_any_model(const TrainingOptions& options, train::Grid* grid) {
  return train::flags_over_file(train::for_any_model(file_settings(options, grid)), options.flags);
}

}  // namespace dgat::app
