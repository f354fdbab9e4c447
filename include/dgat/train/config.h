#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "dgat/data/load.h"
#include "dgat/nn/options.h"
#include "dgat/rewire/options.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/spectral/laplacian.h"
#include "dgat/train/metrics.h"

/// The configuration of a training run, and how settings given as text become one. The options
/// themselves (names, ranges, what each affects) are in option_table.h.
namespace dgat::train {

/// Depths to try: "2" or "1..5".
struct LayerRange {
  int64_t first = 1, last = 5;
  friend bool operator==(const LayerRange&, const LayerRange&) = default;
};

/// Shares of random splits. The text is kept as it was written ("60/20/20", "0.6/0.2/0.2"), so that
/// a resumed run finds its option unchanged.
struct SplitShares {
  data::SplitFractions shares;
  std::string text;
};

enum class FeatureScaling { kRaw, kRowSum, kStandardise };

enum class Optimizer {
  kAdamW,  ///< decays weights directly
  kAdam    ///< adds L2 to the gradient
};

/// A resolved run. Defaults here are those of recipe `residual`.
struct Config {
  std::string data;                  ///< where the data set is
  bool directed = false;             ///< keep arcs as they are
  std::optional<SplitShares> split;  ///< make random splits; nothing: those of the data set
  std::string split_file;            ///< splits from a file instead
  FeatureScaling feature_scaling = FeatureScaling::kRaw;
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
  spectral::ComponentPolicy components = spectral::ComponentPolicy::kEach;
  rewire::Mode rewire = {.automatic = true};
  std::optional<rewire::Epsilon> epsilon;  ///< nothing: see rewire::RewireOptions
  // training
  Optimizer optimizer = Optimizer::kAdamW;
  double lr = 3e-5;
  double weight_decay = 0;
  int64_t steps = 1000;
  int64_t warmup = 0;
  double clip = 0;
  int64_t patience = 0;
  int64_t eval_every = 1;
  int64_t checkpoint_every = 100;
  std::optional<MetricKind> metric;  ///< nothing: metric_for() decides by the data set
  int64_t splits = 0;
  int64_t jobs = 0;
  double memory_budget = 0;  ///< GB for precomputed parts; 0: half of the memory
  uint64_t seed = 0;
};

/// What a user gave, as text by key; flags replace what a file says.
using Settings = std::map<std::string, std::string>;

/// The key extra.NAME sets one extra option of a model.
inline constexpr std::string_view kOneExtra = "extra.";

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
/// the settings on top; every extra option of the model has a value afterwards. A common option
/// sets the extra option of the same name where extra.NAME is not given. `dataset` is the data
/// set's name; empty when unknown.
Config resolve(const Settings& settings, const std::string& dataset = {});

/// Why a setting has no effect in a configuration: one about directions for a model without them,
/// gamma or alpha with the random-walk Laplacian. Empty: it has one, or it switches something off
/// (none, off, default).
std::string reason_ignored(const std::string& key, const std::string& value, const Config& config);

/// Every option of the table in order, as YAML that read_settings() takes back.
std::string to_yaml(const Config& config);

/// The Laplacian of the directions: L(alpha, gamma), or the random-walk one, which is L(1, 1).
spectral::LaplacianOptions laplacian_of(const Config& config);

/// How to read the data set: directions and splits. With needs_splits, one without splits gets
/// random ones (60/20/20).
data::LoadOptions load_options(const Config& config, bool needs_splits);

/// The options as the model's shape, at one depth. `nodes` is that of the graph to train on.
nn::ModelOptions model_options(const Config& config, int64_t layers, int64_t features,
                               int64_t classes, int64_t nodes);

}  // namespace dgat::train
