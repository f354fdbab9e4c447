#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace dgat::nn {

/// The architectures that a convolution is built into.
enum class Recipe {
  kResidual,  ///< input linear, pre-norm residual blocks with an FFN, output norm and linear
  kClassic,   ///< the original GAT: layers of concatenated heads, the last one averaged
  kDeep       ///< dropout(ReLU(norm(conv(x) + skip(x)))) per layer, output linear
};
/// "residual", "classic" or "deep". Throws: InputError that lists them.
Recipe parse_recipe(std::string_view text);
std::string to_string(Recipe recipe);

/// How the weights of a convolution start.
enum class Start {
  kUniform,  ///< weights and biases uniform within 1/sqrt(in)
  kGlorot    ///< weights uniform within sqrt(6 / (in + out)), biases 0
};

/// Choices of recipe deep.
enum class Norm { kBatch, kLayer, kNone };
enum class Skip {
  kLinear,    ///< W x + b
  kIdentity,  ///< x; none where a layer reads the node features
  kNone
};
/// What the output map reads ("jumping knowledge").
enum class Jumps {
  kNone,  ///< the last layer
  kSum,   ///< the sum of all layers
  kCat    ///< all layers side by side
};

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
  Norm norm = Norm::kBatch;             ///< deep
  Skip skip = Skip::kLinear;            ///< deep
  Jumps jumps = Jumps::kNone;           ///< deep
  bool input_linear = false;            ///< deep: a linear map in front of the first layer
  bool conv_bias = false;               ///< classic: a bias behind the sum of an attention
  Start init = Start::kUniform;         ///< classic, deep: of the convolutions
  bool dropout_values = false;          ///< classic: dropout on W x where it is summed
  uint64_t seed = 0;                    ///< of the initial weights
  std::map<std::string, double> extra;  ///< what only this model knows (ModelInfo::extras)

  /// Columns of the output: one logit for two classes.
  int64_t outputs() const { return classes == 2 ? 1 : classes; }
};

}  // namespace dgat::nn
