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
          {{"residual", nn::Recipe::kResidual},
           {"classic", nn::Recipe::kClassic},
           {"deep", nn::Recipe::kDeep}},
          "architecture around the convolution: residual blocks, the layers of the original GAT, "
          "or layers with norm and skip")),
      {"layers", group, "N or A..B", "depth; a range is tried and the best on validation kept",
       [](Config& c, const std::string& text) { c.layers = parse_layers(text); }, layers_text,
       kTrials},
      count("hidden", group, kNetwork, &Config::hidden, {1, 1 << 20},
            "width of a hidden layer, all heads together"),
      count("heads", group, kNetwork, &Config::heads, {1, 1024},
            "attention heads; --hidden must be a multiple"),
      number("dropout", group, kNetwork, &Config::dropout, {0, 0.999},
             "share of entries dropped, 0 .. 0.999"),
      on_off("projection", group, kNetwork, &Config::projection,
             "recipe classic: a linear map behind every hidden layer (paper eq. 17)"),
      choice<nn::Norm>(
          "norm", group, kNetwork, &Config::norm,
          {{"batch", nn::Norm::kBatch}, {"layer", nn::Norm::kLayer}, {"none", nn::Norm::kNone}},
          "recipe deep: normalise over all nodes (batch), over each row (layer), or not"),
      choice<nn::Skip>("skip", group, kNetwork, &Config::skip,
                       {{"linear", nn::Skip::kLinear},
                        {"identity", nn::Skip::kIdentity},
                        {"none", nn::Skip::kNone}},
                       "recipe deep: what a layer adds to its convolution: W x + b, x "
                       "(not in a layer that reads the node features), or nothing"),
      choice<nn::Jumps>(
          "jk", group, kNetwork, &Config::jumps,
          {{"none", nn::Jumps::kNone}, {"sum", nn::Jumps::kSum}, {"cat", nn::Jumps::kCat}},
          "recipe deep: the output reads the last layer (none), the sum of all layers, "
          "or all layers side by side (cat)"),
      on_off("input_linear", group, kNetwork, &Config::input_linear,
             "recipe deep: a linear map and dropout before the first layer"),

      on_off("self_loops", group, kInput, &Config::self_loops,
             "attention also reads the node itself; the default of gat-sep and gt-sep is off"),
      on_off("conv_bias", group, kNetwork, &Config::conv_bias,
             "recipe classic: add a bias to the output of an attention"),
      choice<nn::Start>(
          "init", group, kNetwork, &Config::init,
          {{"uniform", nn::Start::kUniform}, {"glorot", nn::Start::kGlorot}},
          "recipes classic and deep: initial weights of a convolution: uniform within 1/sqrt(in), "
          "or glorot, uniform within sqrt(6/(in+out)) with biases 0"),
      on_off("dropout_values", group, kNetwork, &Config::dropout_values,
             "recipe classic: dropout also on W x, the values that attention sums"),
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
      not_searched(choice<LaplacianKind>(
          "laplacian", group, kGraph, &Config::laplacian,
          {{"default", LaplacianKind::kDefault},
           {"tuned", LaplacianKind::kTuned},
           {"authors", LaplacianKind::kAuthors}},
          "default: the random-walk Laplacian; tuned: L(alpha, gamma); authors: for comparison, "
          "the operator in the code of the paper's authors; like that code it rewires with hub "
          "unless --rewire is given")),
      usually("auto", number_or_auto(
                          "alpha", group, kGraph, &Config::alpha, {0, 1},
                          "side balance of L(alpha, gamma): 0.5 symmetric, 1 random "
                          "walk; 0 .. 1; auto: the value that --rewire advised chooses, else 1")),
      usually("auto", number_or_auto("gamma", group, kGraph, &Config::gamma, {0, 1},
                                     "degree weight of L(alpha, gamma): 1 normalised, 0 the limit "
                                     "D - A; 0 .. 1; auto: the value that --rewire advised "
                                     "chooses (1 if the advice is not clear), else 0.3")),
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
      usually("advised",
              {"rewire", group, "MODE",
               "advised (by `dgat advise` on the training nodes of the split), none, auto (the "
               "paper's rule), prune-near, prune-far, add, hub, or a pair such as prune-far+add",
               [](Config& c, const std::string& text) { c.rewire = rewire::parse_mode(text); },
               [](const Config& c) { return rewire::to_string(c.rewire); }, kGraph}),
      {"epsilon", group, "E or qX",
       "pruning threshold: a distance, a quantile such as q0.2, or auto: the advised value; "
       "without advice, pruning drops a tenth of the edges",
       set_epsilon,
       [](const Config& c) { return c.epsilon ? rewire::to_string(*c.epsilon) : "auto"; }, kGraph},
  };
}

std::vector<OptionInfo> training_rows() {
  using enum Affects;
  const char* group = "Training";
  return {
      not_searched(choice<Preset>(
          "preset", group, kData | kTrials, &Config::preset,
          {{"auto", Preset::kAuto},
           {"quick", Preset::kQuick},
           {"paper", Preset::kPaper},
           {"thorough", Preset::kThorough}},
          "defaults of width, depth, rate, steps and patience: quick depends on the size of the "
          "graph, paper is the paper's protocol, thorough has more depths and steps; auto: paper "
          "for the data sets of `dgat datasets`, quick for others")),
      choice<Optimizer>("optimizer", group, kProtocol, &Config::optimizer,
                        {{"adamw", Optimizer::kAdamW}, {"adam", Optimizer::kAdam}},
                        "adamw decays weights directly, adam adds L2 to the gradient"),
      number("lr", group, kProtocol, &Config::lr, {0, 1e3}, "learning rate"),
      number("weight_decay", group, kProtocol, &Config::weight_decay, {0, 1e3},
             "weight decay; not applied to biases and norms"),
      not_searched(count("steps", group, kProtocol, &Config::steps, {1, kMany},
                         "training steps; each reads the whole graph unless --cells is given")),
      not_searched(count("cells", group, kInput | kProtocol, &Config::cells, {0, kMany},
                         "an approximation for graphs larger than memory: the graph is cut into N "
                         "cells (METIS), and a step reads --per-step of them with the edges among "
                         "them; 0: every step reads the whole graph")),
      not_searched(count("per_step", group, kProtocol, &Config::per_step, {0, kMany},
                         "with --cells: random cells that a step reads; 0: an eighth of them")),
      count("warmup", group, kProtocol, &Config::warmup, {0, kMany},
            "steps over which the learning rate rises linearly"),
      number("clip", group, kProtocol, &Config::clip, {0, kNoLimit},
             "largest norm of the whole gradient; 0 is off"),
      count("patience", group, kProtocol, &Config::patience, {0, kMany},
            "stop after this many steps without a better validation metric; 0 is off"),
      not_searched(
          count("eval_every", group, kProtocol, &Config::eval_every, {1, kMany},
                "steps between evaluations (the last step is always evaluated); with --cells "
                "the default is one pass through the cells")),
      not_searched(choice<PrecisionChoice>(
          "precision", group, kProtocol, &Config::precision,
          {{"f32", PrecisionChoice::kF32},
           {"bf16", PrecisionChoice::kBf16},
           {"auto", PrecisionChoice::kAuto}},
          "precision of large dense products: f32, bf16 (operands rounded to 8 bits, sums in "
          "float; "
          "needs a processor with AMX), or auto: bf16 on processors with AMX, else f32")),
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
                             "splits trained side by side, with the same results; 0: chosen by "
                             "size"))),
      without_effect_on_results(not_searched(
          number("memory_budget", group, kInput, &Config::memory_budget, {0, 1e6},
                 "limit in GB for the training and for the matrices that a model precomputes; 0: "
                 "the available memory, and for these matrices half of the machine's"))),
      without_effect_on_results(not_searched(text(
          "spill", group, kNothing, &Config::spill, "DIR",
          "a folder on a disk for activations that do not fit into memory; slower, with the same "
          "results"))),
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
      not_searched(choice<FeatureSource>(
          "features", group, kData, &Config::features,
          {{"auto", FeatureSource::kAuto},
           {"degree", FeatureSource::kDegree},
           {"phi", FeatureSource::kPhi},
           {"onehot", FeatureSource::kOneHot},
           {"none", FeatureSource::kNone}},
          "node features: auto takes those of the data set, or, if it has none, log-degree, "
          "phi_1..phi_8 and clustering; the others replace them: degree (log-degree), phi "
          "(phi_1..phi_8), onehot (a column per node), none (a column of ones)")),
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
