#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dgat/nn/model.h"

namespace dgat::nn {

/// An option that only one model has (ModelOptions::extra).
struct ExtraOption {
  std::string name;
  double value, first, last;  ///< default and range
  std::string meaning;
  bool whole = false;  ///< whole numbers only
};

/// Everything known about a model before it is built.
struct ModelInfo {
  std::string name;
  std::string description;  ///< one line
  std::string equations;    ///< a few lines of plain text: what one layer computes
  std::string reference;    ///< where it comes from
  bool uses_heads = false;
  bool uses_hidden = true;         ///< false: there is no hidden layer
  bool uses_layers = true;         ///< false: there is nothing to stack; layers count as 1
  bool own_recipe = false;         ///< the network of its paper, none of the recipes
  bool directional = false;        ///< sees the rewired graph and the directional edge features
  bool has_classic = false;        ///< can be built with recipe classic
  bool has_deep = false;           ///< can be built with recipe deep
  bool in_cells = false;           ///< a step can read a part of the graph (--cells)
  bool uses_edge_weights = false;  ///< its matrices contain the weights of a weighted graph
  bool per_node = false;  ///< learns a row per node (ModelOptions::nodes): tied to its graph
  std::map<std::string, std::string> defaults;  ///< training options that differ, by key
  /// Values worth searching, by key; that of an extra option is extra.NAME.
  std::map<std::string, std::vector<std::string>> grid;
  std::vector<ExtraOption> extras;
};

/// All models, in the order in which `dgat models` lists them.
std::span<const ModelInfo> all_models();
/// Throws: InputError for an unknown name; it suggests the nearest one.
const ModelInfo& find_model(const std::string& name);

/// Builds a model with initial weights; extras that are not given take their defaults.
///
///   auto net = nn::make_model("dgat", {.features = 2325, .classes = 5, .layers = 2});
///
/// T is float. (The tests have double, too, for gradients.)
/// Throws: InputError for an unknown name or options that do not fit.
template <class T = float>
std::unique_ptr<Model<T>> make_model(const std::string& name, ModelOptions options);

/// "dgat: 2325 -> 512 x2 (residual, 8 heads, directional) -> 5, 2,781,717 parameters"
std::string summary(const std::string& name, const ModelOptions& options, int64_t parameters);
template <class T>
std::string summary(const std::string& name, const Model<T>& model) {
  return summary(name, model.options(), model.parameters().count());
}

}  // namespace dgat::nn
