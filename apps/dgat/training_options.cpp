#include "training_options.h"

#include <algorithm>

namespace dgat::app {

std::string flag_of(const std::string& key) {
  std::string flag = "--" + key;
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

void add_training_options(CLI::App& verb, TrainingOptions& options, const CommonOptions& common,
                          const std::vector<std::string>& left_out) {
  const train::Config defaults;
  for (const train::OptionInfo& info : train::config_options()) {
    const bool skipped = std::find(left_out.begin(), left_out.end(), info.key) != left_out.end();
    if (skipped || info.key == "data" || info.key == "seed") continue;
    verb.add_option_function<std::string>(
            flag_of(info.key),
            [&options, &info](const std::string& text) {
              train::Config probe;
              info.set(probe, text);  // a wrong value is reported before anything is read
              options.flags[info.key] = text;
            },
            info.meaning)
        ->type_name(info.value)
        ->default_str(info.get(defaults))
        ->group(info.group);
  }
  verb.add_option("--config", options.config,
                  "YAML file with options, such as the config.yaml of a run; flags win over it")
      ->type_name("FILE")
      ->group("Data");
  // --seed belongs to the common flags: it counts as given only when it was.
  verb.parse_complete_callback([&verb, &options, &common] {
    if (verb.count("--seed") > 0) options.flags["seed"] = std::to_string(common.seed);
  });
}

train::Settings given_settings(const TrainingOptions& options) {
  train::Settings settings;
  if (!options.config.empty()) settings = train::read_settings(options.config);
  for (const auto& [key, text] : options.flags) settings[key] = text;
  return settings;
}

}  // namespace dgat::app
