// The list of models. To add one, see docs/add-a-baseline.md.
#include <algorithm>

#include "baselines/baselines.h"
#include "recipe_models.h"

namespace dgat::nn {
namespace {

/// gat, gatv2, gt and their -sep forms: the attentions without directions.
template <class T>
std::vector<ModelEntry<T>> attention_models() {
  using K = ConvolutionKind;
  std::vector<ModelEntry<T>> models;
  for (const K kind : {K::kAdditive, K::kGatv2, K::kDotProduct}) {
    for (const bool separate : {false, true}) {
      const NetKind net{kind, separate, /*directional=*/false};
      models.push_back(recipe_model<T>(attention_info(net), net));
    }
  }
  return models;
}

/// Models whose weights of neighbours are not learned.
template <class T>
std::vector<ModelEntry<T>> constant_models() {
  using K = ConvolutionKind;
  const auto model = [](const char* name, const char* description, const char* equations,
                        const char* reference, const NetKind& kind) {
    ModelInfo info;
    info.name = name;
    info.description = description;
    info.equations = equations;
    info.reference = reference;
    info.has_deep = true;
    info.in_cells = true;
    info.uses_edge_weights = kind.convolution != K::kNone;
    return recipe_model<T>(std::move(info), kind);
  };
  return {
      model("gcn", "graph convolution", "message = (D+I)^-1/2 (A+I) (D+I)^-1/2 x, then the FFN",
            "Kipf and Welling, Semi-Supervised Classification with GCNs, ICLR 2017",
            {K::kSymmetric}),
      model("sage", "mean of neighbours beside the node itself",
            "the FFN reads [x_i || mean of x_j over j in N(i)]",
            "Hamilton et al., Inductive Representation Learning, 2017",
            {K::kMean, /*separate=*/true}),
      model("resnet", "no graph: residual feed-forward blocks", "x <- x + FFN(LayerNorm(x))",
            "He et al., Deep Residual Learning, CVPR 2016", {K::kNone}),
  };
}

}  // namespace

template <class T>
const std::vector<ModelEntry<T>>& model_entries() {
  static const std::vector<ModelEntry<T>> all = [] {
    std::vector<ModelEntry<T>> list = directional_models<T>();
    for (auto& group : {attention_models<T>(), constant_models<T>(),
                        std::vector<ModelEntry<T>>{
                            pgcn_entry<T>(), dgn_entry<T>(), h2gcn_entry<T>(), cpgnn_entry<T>(),
                            gprgnn_entry<T>(), fsgnn_entry<T>(), glognn_entry<T>(),
                            fagcn_entry<T>(), gbkgnn_entry<T>(), jacobiconv_entry<T>()}}) {
      list.insert(list.end(), group.begin(), group.end());
    }
    return list;
  }();
  return all;
}

template <class T>
std::unique_ptr<Model<T>> make_model(const std::string& name, ModelOptions options) {
  const ModelInfo& info = find_model(name);
  for (const ExtraOption& extra : info.extras) options.extra.try_emplace(extra.name, extra.value);
  check_options(info, options);
  const auto& all = model_entries<T>();
  return std::ranges::find(all, name, [](const auto& entry) { return entry.info.name; })
      ->make(options);
}

template const std::vector<ModelEntry<DGAT_SCALAR>>& model_entries();
template std::unique_ptr<Model<DGAT_SCALAR>> make_model(const std::string&, ModelOptions);

}  // namespace dgat::nn
