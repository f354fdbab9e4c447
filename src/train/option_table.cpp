#include "dgat/train/option_table.h"

#include <cmath>

#include "dgat/core/suggest.h"
#include "dgat/nn/registry.h"
#include "option_kinds.h"

namespace dgat::train {
namespace {

constexpr double kNoLimit = HUGE_VAL;
constexpr double kMany = static_cast<double>(int64_t{1} << 40);

LayerRange parse_layers(const std::string& text) {
  constexpr double kDeepest = 64;
  const size_t dots = text.find("..");
  LayerRange range;
  range.first = parse_number<int64_t>("layers", text.substr(0, dots));
  range.last = dots == std::string::npos ? range.first
                                         : parse_number<int64_t>("layers", text.substr(dots + 2));
  check_range("layers", range.first, 1, kDeepest);
  check_range("layers", range.last, 1, kDeepest);
  if (range.first > range.last) {
    throw_input("layers: {} is an empty range; write the smaller depth first", text);
  }
  return range;
}

std::string layers_text(const Config& c) {
  if (c.layers.first == c.layers.last) return fmt::format("{}", c.layers.first);
  return fmt::format("{}..{}", c.layers.first, c.layers.last);
}

/// The options that only one model knows.
void set_extra(Config& c, const std::string& text) {
  for (const auto& [name, value] : parse_pairs(text)) {
    c.extra[name] = parse_number<double>("extra " + name, value);
  }
}

std::string extra_text(const Config& c) {
  std::string text;
  for (const auto& [name, value] : c.extra) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, value);
  }
  return text;
}

void set_epsilon(Config& c, const std::string& text) {
  c.epsilon.reset();
  if (text != "auto") c.epsilon = rewire::parse_epsilon(text);
}

void set_split(Config& c, const std::string& text) {
  c.split.reset();
  if (text != "auto") c.split = {data::parse_split_fractions(text), text};
}

std::vector<OptionInfo> model_rows() {
  using enum Affects;
  const char* group = "Model";
  return {
      not_searched({"model", group, "NAME", "the network; `dgat models` lists them",
                    [](Config& c, const std::string& text) { c.model = nn::find_model(text).name; },
                    [](const Config& c) { return c.model; }, kInput | kNetwork}),
      not_searched(choice<nn::Recipe>(
          "recipe", group, kNetwork, &Config::recipe,
          {{"residual", nn::Recipe::kResidual}, {"classic", nn::Recipe::kClassic}},
          "architecture around the attention: residual blocks, or the layers of the original "
          "GAT")),
      {"layers", group, "N or A..B", "depth; a range is tried and the best on validation kept",
       [](Config& c, const std::string& text) { c.layers = parse_layers(text); }, layers_text,
       kTrials},
      count("hidden", group, kNetwork, &Config::hidden, {1, 1 << 20},
            "width of a hidden layer, all heads"),
      count("heads", group, kNetwork, &Config::heads, {1, 1024},
            "attention heads; they divide hidden"),
      number("dropout", group, kNetwork, &Config::dropout, {0, 0.999},
             "share of entries dropped, 0 .. 0.999"),
      on_off("projection", group, kNetwork, &Config::projection,
             "recipe classic: a linear map behind every hidden layer (paper eq. 17)"),
      {"extra", group, "K=V,...", "options of one model only, see `dgat models NAME`", set_extra,
       extra_text, kNetwork},
  };
}

std::vector<OptionInfo> direction_rows() {
  using enum Affects;
  using spectral::ComponentPolicy;
  const char* group = "Direction";
  return {
      on_off("directional", group, kGraph | kNetwork, &Config::directional,
             "let the directional edge features enter the attention scores"),
      // default is gamma 1 and alpha 1 of the tuned one, so searching those is enough
      not_searched(choice<bool>("laplacian", group, kGraph, &Config::laplacian_tuned,
                                {{"default", false}, {"tuned", true}},
                                "default: the random-walk Laplacian; tuned: L(alpha, gamma)")),
      number("alpha", group, kGraph, &Config::alpha, {0, 1},
             "side balance of L(alpha, gamma): 0.5 symmetric, 1 random walk; 0 .. 1"),
      number("gamma", group, kGraph, &Config::gamma, {0, 1},
             "degree weight of L(alpha, gamma): 1 normalised, 0 the limit D - A; 0 .. 1"),
      with_letter('k',
                  count("eigenvectors", group, kGraph | kNetwork, &Config::eigenvectors, {1, 1000},
                        "how many eigenvectors, smallest eigenvalue first, 1 .. 1000")),
      not_searched(choice<ComponentPolicy>(
          "components", group, kGraph, &Config::components,
          {{"each", ComponentPolicy::kEach},
           {"first", ComponentPolicy::kFirst},
           {"largest", ComponentPolicy::kLargest}},
          "eigenvectors of a disconnected graph: of each component, of the whole graph (first), or "
          "of the largest component")),
      {"rewire", group, "MODE",
       "none, auto, prune-near, prune-far, add, hub, or a pair such as prune-far+add",
       [](Config& c, const std::string& text) { c.rewire = rewire::parse_mode(text); },
       [](const Config& c) { return rewire::to_string(c.rewire); }, kGraph},
      {"epsilon", group, "E or qX",
       "pruning threshold: a distance, a quantile such as q0.2, or auto: a tenth of the edges goes",
       set_epsilon,
       [](const Config& c) { return c.epsilon ? rewire::to_string(*c.epsilon) : "auto"; }, kGraph},
  };
}

std::vector<OptionInfo> training_rows() {
  using enum Affects;
  const char* group = "Training";
  return {
      choice<Optimizer>("optimizer", group, kProtocol, &Config::optimizer,
                        {{"adamw", Optimizer::kAdamW}, {"adam", Optimizer::kAdam}},
                        "adamw decays weights directly, adam adds L2 to the gradient"),
      number("lr", group, kProtocol, &Config::lr, {0, 1e3}, "learning rate"),
      number("weight_decay", group, kProtocol, &Config::weight_decay, {0, 1e3},
             "weight decay; never on biases and norms"),
      not_searched(
          count("steps", group, kProtocol, &Config::steps, {1, kMany}, "full-batch steps")),
      count("warmup", group, kProtocol, &Config::warmup, {0, kMany},
            "steps over which the learning rate rises linearly"),
      number("clip", group, kProtocol, &Config::clip, {0, kNoLimit},
             "largest norm of the whole gradient; 0 is off"),
      count("patience", group, kProtocol, &Config::patience, {0, kMany},
            "stop after so many steps without a better validation metric; 0 is off"),
      not_searched(count("eval_every", group, kProtocol, &Config::eval_every, {1, kMany},
                         "steps between evaluations (the last step is always evaluated)")),
      not_searched(choice<std::optional<MetricKind>>("metric", group, kProtocol, &Config::metric,
                                                     {{"auto", std::nullopt},
                                                      {"accuracy", MetricKind::kAccuracy},
                                                      {"roc_auc", MetricKind::kRocAuc},
                                                      {"macro_f1", MetricKind::kMacroF1}},
                                                     "auto: ROC AUC for two classes, else "
                                                     "accuracy")),
      not_searched(
          count("splits", group, kData | kTrials, &Config::splits, {0, 1'000'000},
                "how many splits, from the first; 0: all of the data set, or 10 random ones")),
      not_searched({"seed", group, "INT", "seed of every random choice",
                    [](Config& c, const std::string& text) {
                      c.seed = parse_number<uint64_t>("seed", text);
                    },
                    [](const Config& c) { return fmt::format("{}", c.seed); },
                    kData | kGraph | kNetwork | kProtocol}),
      without_effect_on_results(
          not_searched(count("jobs", group, kNothing, &Config::jobs, {0, 4096},
                             "splits trained side by side; 0 decides by size; same results"))),
      without_effect_on_results(not_searched(
          number("memory_budget", group, kInput, &Config::memory_budget, {0, 1e6},
                 "GB that a model's precomputed parts may take; 0: half of the memory"))),
      without_effect_on_results(
          not_searched(count("checkpoint_every", group, kNothing, &Config::checkpoint_every,
                             {1, kMany}, "steps between checkpoints"))),
  };
}

std::vector<OptionInfo> data_rows() {
  using enum Affects;
  using Scaling = FeatureScaling;
  const char* group = "Data";
  return {
      not_searched(text("data", group, kData | kTrials, &Config::data, "DATA",
                        "the data set: a file or folder")),
      not_searched(as_switch(on_off("directed", group, kData, &Config::directed,
                                    "keep arcs as they are instead of adding the reverse of each; "
                                    "for models without directions"))),
      choice<Scaling>(
          "feature_scaling", group, kInput, &Config::feature_scaling,
          {{"raw", Scaling::kRaw},
           {"row-sum", Scaling::kRowSum},
           {"standardise", Scaling::kStandardise}},
          "node features as read, rows divided by their sums, or columns with mean 0 and "
          "variance 1 (dense features only)"),
      not_searched(
          {"split", group, "A/B/C",
           "random stratified splits with these shares, such as 60/20/20; auto: those of the data "
           "set",
           set_split, [](const Config& c) { return c.split ? c.split->text : "auto"; }, kData}),
      not_searched(text("split_file", group, kData, &Config::split_file, "FILE",
                        "splits from a CSV file: id,split0,split1,...")),
  };
}

std::vector<OptionInfo> make_options() {
  std::vector<OptionInfo> all;
  for (auto* rows : {model_rows, direction_rows, training_rows, data_rows}) {
    for (OptionInfo& row : rows()) all.push_back(std::move(row));
  }
  return all;
}

}  // namespace

std::span<const OptionInfo> config_options() {
  static const std::vector<OptionInfo> options = make_options();
  return options;
}

const OptionInfo& find_option(const std::string& key) {
  std::vector<std::string> known;
  for (const OptionInfo& option : config_options()) {
    if (option.key == key) return option;
    known.push_back(option.key);
  }
  throw_input("unknown option {}{}", key, did_you_mean(key, known));
}

bool is_about_directions(const OptionInfo& option) {
  return option.affects_any(Affects::kGraph) &&
         option.affects_only(Affects::kGraph | Affects::kNetwork);
}

}  // namespace dgat::train
