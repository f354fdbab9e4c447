#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "dgat/nn/registry.h"

/// How models enter the registry (model_list.cpp).
namespace dgat::nn {

template <class T>
struct ModelEntry {
  ModelInfo info;
  std::function<std::unique_ptr<Model<T>>(const ModelOptions&)> make;
};

/// Throws: InputError when the options do not fit the model.
void check_options(const ModelInfo& info, const ModelOptions& options);

/// All models, in the order in which `dgat models` lists them.
template <class T>
const std::vector<ModelEntry<T>>& model_entries();

}  // namespace dgat::nn
