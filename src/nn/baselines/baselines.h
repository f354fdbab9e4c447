#pragma once

#include <memory>

#include "dgat/nn/registry.h"

/// The published systems that dgat is compared with: one file each in this folder, one line each
/// below and in registry.cpp. A file opens with the equations, the paper they come from, and what
/// the paper leaves open.
namespace dgat::nn {

ModelInfo cpgnn_info();
ModelInfo dgn_info();
ModelInfo fagcn_info();
ModelInfo fsgnn_info();
ModelInfo gbkgnn_info();
ModelInfo glognn_info();
ModelInfo gprgnn_info();
ModelInfo h2gcn_info();
ModelInfo jacobiconv_info();
ModelInfo pgcn_info();

/// The part of an entry that all share: Net<T> is built from ModelOptions alone, has its own recipe
/// and trains by Adam with L2 in the gradient.
template <template <class> class Net>
ModelInfo baseline_info(const std::string& name, const std::string& description) {
  ModelInfo info;
  info.name = name;
  info.description = description;
  info.own_recipe = true;
  info.defaults["optimizer"] = "adam";
  info.make_float = [](const ModelInfo&, const ModelOptions& o) -> std::unique_ptr<Model<float>> {
    return std::make_unique<Net<float>>(o);
  };
  info.make_double = [](const ModelInfo&, const ModelOptions& o) -> std::unique_ptr<Model<double>> {
    return std::make_unique<Net<double>>(o);
  };
  return info;
}

}  // namespace dgat::nn
