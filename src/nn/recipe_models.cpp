#include "recipe_models.h"

#include <fmt/format.h>

#include "dgat/core/error.h"

namespace dgat::nn {
namespace {

struct AttentionText {
  const char *name, *title, *reference;
  const char* equations;  // {}: where the directional term stands
};

AttentionText text_of(ConvolutionKind kind) {
  switch (kind) {
    case ConvolutionKind::kAdditive:
      return {"gat", "graph attention", "Velickovic et al., Graph Attention Networks, ICLR 2018",
              "y = W x,  score_ij = LeakyReLU(a_dst.y_i + a_src.y_j{}),\n"
              "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij y_j"};
    case ConvolutionKind::kGatv2:
      return {"gatv2", "graph attention with dynamic scores",
              "Brody et al., How Attentive are Graph Attention Networks?, 2022",
              "score_ij = a.LeakyReLU(W_dst x_i + W_src x_j){},\n"
              "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij W_src x_j"};
    default:
      expects(kind == ConvolutionKind::kDotProduct, "attention_info: the kind is an attention");
      return {"gt", "graph transformer", "Shi et al., Masked Label Prediction, IJCAI 2021",
              "score_ij = q_i.k_j / sqrt(d){},\n"
              "alpha_i = softmax over j in N(i) + {{i}},  message_i = sum_j alpha_ij v_j"};
  }
}

}  // namespace

ModelInfo attention_info(const NetKind& kind) {
  const AttentionText text = text_of(kind.convolution);
  ModelInfo info;
  info.name =
      fmt::format("{}{}{}", kind.directional ? "d" : "", text.name, kind.separate ? "-sep" : "");
  info.description = fmt::format("{}{}{}", kind.directional ? "directional " : "", text.title,
                                 kind.separate ? ", own part kept apart" : "");
  info.equations =
      fmt::format(fmt::runtime(text.equations), kind.directional ? " + a_edge.(W_e f_ij)" : "");
  if (kind.directional) info.equations += "\non the rewired graph, f_ij = [B_av, B_dx] of phi";
  if (kind.separate) info.equations += "\nthe next linear map reads [own_i || message_i]";
  info.reference = fmt::format("{}{}", kind.directional ? "Directional graph attention over " : "",
                               text.reference);
  info.uses_heads = true;
  info.directional = kind.directional;
  info.in_cells = true;
  info.has_classic = info.has_deep = !kind.separate;
  // As in the code behind the published rows.
  if (info.name == "gat-sep" || info.name == "gt-sep") info.defaults = {{"self_loops", "off"}};
  if (kind.directional) {
    info.grid = {{"alpha", {"0", "0.5", "1"}},
                 {"gamma", {"0.1", "0.3", "0.5", "0.7", "0.9", "1"}},
                 {"rewire", {"none", "hub", "add", "prune-far+add", "prune-near"}}};
  }
  return info;
}

}  // namespace dgat::nn
