#include "data_options.h"

namespace dgat::app {

void add_data_options(CLI::App& verb, DataOptions& options, const std::string& split_use) {
  verb.add_option("DATA", options.data, "data set: a file, a folder, or a name of `dgat datasets`")
      ->required();
  add_option_flags(verb, options.settings, {"directed"});
  if (split_use.empty()) {
    add_option_flags(verb, options.settings, {"split"});
  } else {
    add_split_number(verb, options.split, split_use, &options.settings);
  }
  add_option_flags(verb, options.settings, {"splits", "split_file"});
  verb.get_option("--splits")->group("Data");
}

train::Config config_of(const DataOptions& options, const CommonOptions& common) {
  train::Settings settings = options.settings;
  settings["data"] = options.data;
  settings["seed"] = std::to_string(common.seed);
  return train::resolve(settings);
}

data::Dataset load(const train::Config& config, bool needs_splits) {
  return data::load_dataset(config.data, train::load_options(config, needs_splits));
}

}  // namespace dgat::app
