#pragma once

#include "model_entry.h"
#include "recipes.h"

/// The entries of models that are a convolution in a recipe.
namespace dgat::nn {

/// What is known about the model of an attention.
ModelInfo attention_info(const NetKind& kind);

template <class T>
ModelEntry<T> recipe_model(ModelInfo info, const NetKind& kind) {
  return {std::move(info),
          [kind](const ModelOptions& options) { return make_recipe_net<T>(options, kind); }};
}

/// dgat, dgatv2, dgt and their -sep forms (dgat.cpp).
template <class T>
std::vector<ModelEntry<T>> directional_models();

}  // namespace dgat::nn
