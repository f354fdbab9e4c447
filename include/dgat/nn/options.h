#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dgat::nn {

/// The two architectures that attention is built into.
enum class Recipe {
  kResidual,  ///< input linear, pre-norm residual blocks with an FFN, output norm and linear
  kClassic    ///< the original GAT: layers of concatenated heads, the last one averaged
};
/// "residual" or "classic". Throws: InputError that lists them.
Recipe parse_recipe(std::string_view text);
std::string to_string(Recipe recipe);

/// Everything that fixes the shape of a model.
struct ModelOptions {
  int64_t features = 0;  ///< columns of the input
  int64_t classes = 0;   ///< two classes share one logit
  int64_t nodes = 0;     ///< of the graph to train on; for models that learn a row per node
  Recipe recipe = Recipe::kResidual;
  int64_t hidden = 512;  ///< width of a hidden layer, all heads together
  int64_t heads = 8;
  int64_t layers = 2;
  double dropout = 0.2;
  bool directional = true;              ///< directional models only: edge features enter the scores
  int64_t eigenvectors = 1;             ///< k: an edge carries 2k features
  bool projection = false;              ///< classic: paper eq. 17's W^(l) behind every hidden layer
  uint64_t seed = 0;                    ///< of the initial weights
  std::map<std::string, double> extra;  ///< what only this model knows (ModelInfo::extras)

  /// Columns of the output: one logit for two classes.
  int64_t outputs() const { return classes == 2 ? 1 : classes; }
};

}  // namespace dgat::nn
