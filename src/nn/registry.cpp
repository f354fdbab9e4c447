#include "dgat/nn/registry.h"

#include <fmt/format.h>

#include <cmath>

#include "attention_kind.h"
#include "baselines/baselines.h"
#include "dgat/core/error.h"
#include "dgat/core/suggest.h"

namespace dgat::nn {
namespace {

template <class T, Aggregation aggregation, bool separate>
std::unique_ptr<Model<T>> make_net(const ModelInfo& info, const ModelOptions& options) {
  const bool directional = info.directional && options.directional;
  if (options.recipe == Recipe::kClassic) {
    return make_classic_net<T>(options, aggregation, directional);
  }
  return make_residual_net<T>(options, aggregation, separate, directional);
}

constexpr const char* kAdditive =
    "y = W x,  score_ij = LeakyReLU(a_dst.y_i + a_src.y_j{}),\n"
    "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij y_j";
constexpr const char* kGatv2 =
    "score_ij = a.LeakyReLU(W_dst x_i + W_src x_j){},\n"
    "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij W_src x_j";
constexpr const char* kDot =
    "score_ij = q_i.k_j / sqrt(d){},\n"
    "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij v_j";

const std::map<std::string, std::vector<std::string>> kDirectionGrid = {
    {"alpha", {"0", "0.5", "1"}},
    {"gamma", {"0.1", "0.3", "0.5", "0.7", "0.9", "1"}},
    {"rewire", {"none", "add", "prune-far+add", "prune-near"}}};

template <Aggregation aggregation, bool separate>
ModelInfo attention_model(const std::string& name, bool directional, const char* equations,
                          const std::string& title, const std::string& reference) {
  ModelInfo info;
  info.name = name;
  info.description =
      (directional ? "directional " : "") + title + (separate ? ", own part kept apart" : "");
  info.equations = fmt::format(fmt::runtime(equations), directional ? " + a_edge.(W_e f_ij)" : "");
  if (directional) info.equations += "\non the rewired graph, f_ij = [B_av, B_dx] of phi";
  if (separate) info.equations += "\nthe next linear map reads [own_i || message_i]";
  info.reference = directional ? "Directional graph attention over " + reference : reference;
  info.uses_heads = true;
  info.directional = directional;
  info.has_classic = !separate;
  if (directional) info.grid = kDirectionGrid;
  info.make_float = make_net<float, aggregation, separate>;
  info.make_double = make_net<double, aggregation, separate>;
  return info;
}

template <Aggregation aggregation, bool separate>
ModelInfo plain_model(const std::string& name, const std::string& description,
                      const std::string& equations, const std::string& reference) {
  ModelInfo info;
  info.name = name;
  info.description = description;
  info.equations = equations;
  info.reference = reference;
  info.make_float = make_net<float, aggregation, separate>;
  info.make_double = make_net<double, aggregation, separate>;
  return info;
}

std::vector<ModelInfo> make_registry() {
  using A = Aggregation;
  const std::string gat = "graph attention", gatv2 = "graph attention with dynamic scores",
                    gt = "graph transformer";
  const std::string gat_paper = "Velickovic et al., Graph Attention Networks, ICLR 2018",
                    gatv2_paper = "Brody et al., How Attentive are Graph Attention Networks?, 2022",
                    gt_paper = "Shi et al., Masked Label Prediction, IJCAI 2021";
  return {
      attention_model<A::kAdditive, false>("dgat", true, kAdditive, gat, gat_paper),
      attention_model<A::kAdditive, true>("dgat-sep", true, kAdditive, gat, gat_paper),
      attention_model<A::kGatv2, false>("dgatv2", true, kGatv2, gatv2, gatv2_paper),
      attention_model<A::kGatv2, true>("dgatv2-sep", true, kGatv2, gatv2, gatv2_paper),
      attention_model<A::kDotProduct, false>("dgt", true, kDot, gt, gt_paper),
      attention_model<A::kDotProduct, true>("dgt-sep", true, kDot, gt, gt_paper),
      attention_model<A::kAdditive, false>("gat", false, kAdditive, gat, gat_paper),
      attention_model<A::kAdditive, true>("gat-sep", false, kAdditive, gat, gat_paper),
      attention_model<A::kGatv2, false>("gatv2", false, kGatv2, gatv2, gatv2_paper),
      attention_model<A::kGatv2, true>("gatv2-sep", false, kGatv2, gatv2, gatv2_paper),
      attention_model<A::kDotProduct, false>("gt", false, kDot, gt, gt_paper),
      attention_model<A::kDotProduct, true>("gt-sep", false, kDot, gt, gt_paper),
      plain_model<A::kSymmetric, false>(
          "gcn", "graph convolution", "message = (D+I)^-1/2 (A+I) (D+I)^-1/2 x, then the FFN",
          "Kipf and Welling, Semi-Supervised Classification with GCNs, ICLR 2017"),
      plain_model<A::kMean, true>("sage", "mean of neighbours beside the node itself",
                                  "the FFN reads [x_i || mean of x_j over j in N(i)]",
                                  "Hamilton et al., Inductive Representation Learning, 2017"),
      plain_model<A::kNone, false>("resnet", "no graph: residual feed-forward blocks",
                                   "x <- x + FFN(LayerNorm(x))",
                                   "He et al., Deep Residual Learning, CVPR 2016"),
      pgcn_info(),
      dgn_info(),
      h2gcn_info(),
      cpgnn_info(),
      gprgnn_info(),
      fsgnn_info(),
      glognn_info(),
      fagcn_info(),
      gbkgnn_info(),
      jacobiconv_info(),
  };
}

void check(const std::string& name, const ModelInfo& info, const ModelOptions& o) {
  if (o.features < 1) throw_input("{}: the data set has no node features", name);
  if (o.classes < 2) throw_input("{}: at least two classes are needed, got {}", name, o.classes);
  if (o.layers < 1 || o.hidden < 1) {
    throw_input("{}: layers and hidden must be positive, got {} and {}", name, o.layers, o.hidden);
  }
  if (!(o.dropout >= 0 && o.dropout < 1)) {
    throw_input("{}: dropout must lie in [0, 1), got {}", name, o.dropout);
  }
  if (info.uses_heads && (o.heads < 1 || o.hidden % o.heads != 0)) {
    throw_input("{}: {} heads do not divide hidden {}", name, o.heads, o.hidden);
  }
  if (o.recipe == Recipe::kClassic && !info.has_classic) {
    throw_input("{}: there is no classic form; use recipe residual", name);
  }
  if (info.per_node && o.nodes < 1) throw_input("{}: how many nodes has the graph?", name);
  for (const ExtraOption& extra : info.extras) {
    const double value = o.extra.at(extra.name);
    if (!(value >= extra.first && value <= extra.last)) {
      throw_input("{}: {} must lie in [{}, {}], got {}", name, extra.name, extra.first, extra.last,
                  value);
    }
    if (extra.whole && value != std::floor(value)) {
      throw_input("{}: {} must be a whole number, got {}", name, extra.name, value);
    }
  }
}

std::string with_commas(int64_t number) {
  std::string text = fmt::format("{}", number);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(static_cast<size_t>(at), 1, ',');
  }
  return text;
}

}  // namespace

Recipe parse_recipe(std::string_view text) {
  if (text == "residual") return Recipe::kResidual;
  if (text == "classic") return Recipe::kClassic;
  throw_input("recipe: must be residual or classic, got '{}'", text);
}

std::string to_string(Recipe recipe) {
  return recipe == Recipe::kResidual ? "residual" : "classic";
}

std::span<const ModelInfo> all_models() {
  static const std::vector<ModelInfo> registry = make_registry();
  return registry;
}

const ModelInfo& find_model(const std::string& name) {
  std::vector<std::string> known;
  for (const ModelInfo& info : all_models()) {
    if (info.name == name) return info;
    known.push_back(info.name);
  }
  throw_input("model: '{}' is not known{} (`dgat models` lists all)", name,
              did_you_mean(name, known));
}

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, ModelOptions options) {
  const ModelInfo& info = find_model(name);
  for (const ExtraOption& extra : info.extras) options.extra.try_emplace(extra.name, extra.value);
  check(name, info, options);
  if constexpr (std::is_same_v<T, float>) {
    return info.make_float(info, options);
  } else {
    return info.make_double(info, options);
  }
}

template <class T>
std::string summary(const std::string& name, const Model<T>& model) {
  const ModelInfo& info = find_model(name);
  const ModelOptions& o = model.options();
  std::string how = info.own_recipe ? "own recipe" : to_string(o.recipe);
  if (info.uses_heads) how += fmt::format(", {} heads", o.heads);
  if (info.directional) how += o.directional ? ", directional" : ", not directional";
  std::string middle = info.uses_hidden ? fmt::format("{} ", o.hidden) : "";
  if (info.uses_layers) middle += fmt::format("x{} ", o.layers);
  return fmt::format("{}: {} -> {}({}) -> {}, {} parameters", name, o.features, middle, how,
                     o.outputs(), with_commas(model.parameters().count()));
}

template std::unique_ptr<Model<float>> make_model(const std::string&, ModelOptions);
template std::unique_ptr<Model<double>> make_model(const std::string&, ModelOptions);
template std::string summary(const std::string&, const Model<float>&);
template std::string summary(const std::string&, const Model<double>&);

}  // namespace dgat::nn
