#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "dgat/nn/options.h"

/// Every option of a training run, once: the table below feeds the flags of the command line, the
/// YAML files and the documentation.
namespace dgat::train {

/// Depths to try: "2" or "1..5".
struct LayerRange {
  int64_t first = 1, last = 5;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

/// A resolved run. Defaults here are those of recipe `residual`.
struct Config {
  std::string data;            ///< where the data set is
  bool directed = false;       ///< keep arcs as they are
  std::string split = "auto";  ///< shares of random splits; auto: those of the data set
  std::string split_file;      ///< splits from a file instead
  std::string feature_scaling = "raw";
  // model
  std::string model = "dgat";
  nn::Recipe recipe = nn::Recipe::kResidual;
  LayerRange layers;
  int64_t hidden = 512;
  int64_t heads = 8;
  double dropout = 0.2;
  bool projection = false;
  std::map<std::string, double> extra;
  // direction
  bool directional = true;
  bool laplacian_tuned = true;  ///< false: the random-walk Laplacian, whatever alpha and gamma say
  double alpha = 1.0;
  double gamma = 0.3;
  int64_t eigenvectors = 1;
  std::string components = "each";
  std::string rewire = "auto";
  std::string epsilon = "auto";
  // training
  std::string optimizer = "adamw";
  double lr = 3e-5;
  double weight_decay = 0;
  int64_t steps = 1000;
  int64_t warmup = 0;
  double clip = 0;
  int64_t patience = 0;
  int64_t eval_every = 1;
  int64_t checkpoint_every = 100;
  std::string metric = "auto";
  int64_t splits = 0;
  int64_t jobs = 0;
  double memory_budget = 0;  ///< GB for precomputed parts; 0: half of the memory
  uint64_t seed = 0;
};

/// One row of the table.
struct OptionInfo {
  std::string key;      ///< YAML key and, with dashes, the flag: weight_decay, --weight-decay
  std::string group;    ///< heading in --help
  std::string value;    ///< what a value looks like: FLOAT, on|off
  std::string meaning;  ///< one line, with the range
  /// Parses and checks. Throws: InputError "key: what is wrong".
  std::function<void(Config&, const std::string&)> set;
  std::function<std::string(const Config&)> get;
  bool is_switch = false;      ///< the flag alone means on: --directed
  bool changes_result = true;  ///< false for jobs and checkpoint_every: --resume may change them
};
std::span<const OptionInfo> config_options();

/// What a user gave, as text by key; flags replace what a file says.
using Settings = std::map<std::string, std::string>;

/// Throws: InputError for a key that is not in the table; it suggests the nearest one.
const OptionInfo& find_option(const std::string& key);

/// Reads a YAML mapping of option keys. Throws: InputError with file and line.
Settings read_settings(const std::filesystem::path& path);
Settings parse_settings(const std::string& yaml, const std::string& source);

/// Options for rows of any model: without the model, and without what it could not choose (a gat
/// has no directions and no rewiring), which a resolved file says nevertheless.
Settings for_any_model(Settings settings);

/// Flags over a file. A file says nothing about the extra options of another model than its own,
/// and no more than for_any_model() about the rest. A flag that is also an extra option of the
/// model (pgcn's gamma) is meant for that.
Settings flags_over_file(Settings file, const Settings& flags);

/// "k=3,ppr=0.1" under the key `extra` as one key extra.NAME each; they win over it.
Settings with_single_extras(Settings settings);

/// Defaults of the recipe, of the model and (recipe classic) of the paper for that data set, then
/// the settings on top; every extra option of the model has a value afterwards. The key extra.NAME
/// sets one extra option; a common option of the same name does where there is none. `dataset` is
/// the data set's name; empty when unknown.
Config resolve(const Settings& settings, const std::string& dataset = {});

/// Why the configuration does not hear of a setting: one about directions for a model without them,
/// gamma or alpha beside the random-walk Laplacian. Empty: it does, or nothing was asked for (none,
/// off, default).
std::string why_unheeded(const std::string& key, const std::string& value, const Config& config);

/// Every option of the table in order, as YAML that read_settings() takes back.
std::string to_yaml(const Config& config);

/// The options as the model's shape, at one depth. `nodes` is that of the graph to train on.
nn::ModelOptions model_options(const Config& config, int64_t layers, int64_t features,
                               int64_t classes, int64_t nodes);

}  // namespace dgat::train
