#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

#include "dgat/data/dataset.h"
#include "dgat/data/load.h"
#include "dgat/nn/options.h"
#include "dgat/rewire/options.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/spectral/laplacian.h"
#include "dgat/tensor/precision.h"
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

/// What the nodes of a graph start with (train/node_features.h).
enum class FeatureSource {
  kAuto,    ///< those of the data set; without any: degree, phi and clustering together
  kDegree,  ///< log(1 + degree)
  kPhi,     ///< the first eight eigenvectors of L(1, 0.3)
  kOneHot,  ///< a column per node
  kNone     ///< the same for all: a column of ones
};

/// The Laplacian of the directions.
enum class LaplacianKind {
  kDefault,  ///< the random-walk Laplacian, whatever alpha and gamma say
  kTuned,    ///< L(alpha, gamma)
  kAuthors   ///< the operator in the code of the paper's authors, for comparison
};

/// Where width, depth, rate and budget come from when they are not given (presets.h).
enum class Preset {
  kAuto,     ///< paper for data sets of the catalogue, quick for others
  kQuick,    ///< sized to the graph: seconds for 1,000 nodes, minutes for 100,000
  kPaper,    ///< the protocol of the paper
  kThorough  ///< that with more depths and three times the steps
};

enum class Optimizer {
  kAdamW,  ///< decays weights directly
  kAdam    ///< adds L2 to the gradient
};

/// How large dense products are computed; resolve() replaces kAuto.
enum class PrecisionChoice {
  kF32,
  kBf16,
  kAuto  ///< bf16 where the processor has AMX
};

/// A resolved run. Defaults here are those of recipe `residual`.
struct Config {
  std::string data;                  ///< where the data set is
  bool directed = false;             ///< keep arcs as they are
  std::optional<SplitShares> split;  ///< make random splits; nothing: those of the data set
  std::string split_file;            ///< splits from a file instead
  FeatureSource features = FeatureSource::kAuto;
  FeatureScaling feature_scaling = FeatureScaling::kRaw;
  // model
  std::string model = "dgat";
  nn::Recipe recipe = nn::Recipe::kResidual;
  LayerRange layers;
  int64_t hidden = 512;
  int64_t heads = 8;
  double dropout = 0.2;
  bool projection = false;
  nn::Norm norm = nn::Norm::kBatch;
  nn::Skip skip = nn::Skip::kLinear;
  nn::Jumps jumps = nn::Jumps::kNone;
  bool input_linear = false;
  bool self_loops = true;
  bool conv_bias = false;
  nn::Start init = nn::Start::kUniform;
  bool dropout_values = false;
  std::map<std::string, double> extra;
  // direction
  bool directional = true;
  LaplacianKind laplacian = LaplacianKind::kTuned;
  std::optional<double> alpha = 1.0;  ///< nothing: as advised
  std::optional<double> gamma = 0.3;  ///< nothing: as advised
  int64_t eigenvectors = 1;
  spectral::ComponentPolicy components = spectral::ComponentPolicy::kEach;
  rewire::Mode rewire = {.automatic = true};
  std::optional<rewire::Epsilon> epsilon;  ///< nothing: see rewire::RewireOptions
  // training
  Preset preset = Preset::kAuto;
  Optimizer optimizer = Optimizer::kAdamW;
  double lr = 3e-5;
  double weight_decay = 0;
  int64_t steps = 1000;
  int64_t cells = 0;  ///< 0: every step reads the whole graph
  int64_t per_step = 0;
  int64_t warmup = 0;
  double clip = 0;
  int64_t patience = 0;
  int64_t eval_every = 1;
  int64_t checkpoint_every = 100;
  PrecisionChoice precision = PrecisionChoice::kF32;
  std::optional<MetricKind> metric;  ///< nothing: metric_for() decides by the data set
  int64_t splits = 0;
  int64_t jobs = 0;
  double memory_budget = 0;  ///< GB; 0: see the option table
  std::string spill;         ///< folder for activations that do not fit into memory
  uint64_t seed = 0;
};

/// One way to make the graph that attention runs on.
struct GraphChoice {
  double gamma = 1, alpha = 1;
  rewire::Mode mode;
  std::optional<rewire::Epsilon> epsilon = std::nullopt;  ///< of a mode that prunes
  friend bool operator==(const GraphChoice&, const GraphChoice&) = default;
};
std::string to_string(const GraphChoice& choice);  ///< "gamma 0.3, prune-far q0.5"

/// What defaults depend on. Made from a name alone, the sizes are not known.
struct DataFacts {
  std::string name;
  int64_t nodes = 0, edges = 0;
  DataFacts() = default;
  DataFacts(std::string of) : name(std::move(of)) {}
  DataFacts(const char* of) : name(of) {}
  DataFacts(const data::Dataset& dataset)
      : name(dataset.name), nodes(dataset.graph.nodes()), edges(dataset.graph.edges()) {}
};

/// The options that a user gave, as text by key; flags replace those of a file.
using Settings = std::map<std::string, std::string>;

/// The key extra.NAME sets one extra option of a model.
inline constexpr std::string_view kOneExtra = "extra.";

/// Reads a YAML mapping of option keys. Throws: InputError with file and line.
Settings read_settings(const std::filesystem::path& path);
Settings parse_settings(const std::string& yaml, const std::string& source);

/// Options for rows of any model. The model is left out, and so are the options of the file that it
/// ignores (a gat has no directions).
Settings for_any_model(Settings settings);

/// Merges flags and a file; flags replace what the file says. If the flags name another model, the
/// file's extra options are dropped and the rest goes through for_any_model(). A flag with the name
/// of an extra option of the model (pgcn's gamma) sets that extra option.
Settings flags_over_file(Settings file, const Settings& flags);

/// "k=3,ppr=0.1" under the key `extra` as one key extra.NAME each; keys that are already there
/// stay.
Settings with_single_extras(Settings settings);

/// Defaults of the preset, of the recipe, of the model and (recipe classic) of the paper for that
/// data set, then the settings on top. Every extra option of the model has a value afterwards. A
/// common option sets the extra option of the same name where extra.NAME is not given. Without the
/// sizes of the data, the preset is `paper`. Directional models rewire as advised, with alpha,
/// gamma and epsilon as advised unless they are given.
Config resolve(const Settings& settings, const DataFacts& data = {});

/// Throws: InputError if this machine cannot train as configured (precision bf16 without AMX).
void check_machine(const Config& config);
/// The precision of a pass: as configured, and f32 where this machine has nothing else. So a
/// network trained in bf16 predicts anywhere.
tensor::Precision pass_precision(const Config& config);

/// Why a setting has no effect in a configuration. It may be about directions that the model lacks,
/// or it is gamma or alpha with the random-walk Laplacian. Empty if it has an effect, or if it
/// switches something off (none, off, default).
std::string reason_ignored(const std::string& key, const std::string& value, const Config& config);

/// Every option of the table in order, as YAML that read_settings() takes back.
std::string to_yaml(const Config& config);

/// The Laplacian of the directions: L(alpha, gamma), or the random-walk one, which is L(1, 1).
/// If alpha or gamma is to be advised, it is 1 or 0.3.
spectral::LaplacianOptions laplacian_of(const Config& config);
/// The graph of the configuration; its mode may be automatic or advised.
GraphChoice graph_of(const Config& config);

/// The values that the preset chose, on one line: "quick for 600 nodes: 2 layers, hidden 64, ...".
std::string preset_summary(const Config& config, const DataFacts& data);

/// How to read the data set: directions and splits. With needs_splits, one without splits gets
/// random ones (60/20/20).
data::LoadOptions load_options(const Config& config, bool needs_splits);

/// The options as the model's shape, at one depth. `nodes` is that of the graph to train on.
nn::ModelOptions model_options(const Config& config, int64_t layers, int64_t features,
                               int64_t classes, int64_t nodes);

}  // namespace dgat::train
