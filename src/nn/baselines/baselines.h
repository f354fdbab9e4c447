#pragma once

#include <memory>
#include <string>
#include <utility>

#include "../model_entry.h"

/// One function per file of this folder: what the registry knows about the model and how to build
/// it. Every file opens with the model's equations, the paper they come from, and what the paper
/// leaves open.
namespace dgat::nn {
using tensor::Matrix;
using tensor::SparseMatrix;
using tensor::Tape;
using tensor::Var;

template <class T>
ModelEntry<T> cpgnn_entry();
template <class T>
ModelEntry<T> dgn_entry();
template <class T>
ModelEntry<T> fagcn_entry();
template <class T>
ModelEntry<T> fsgnn_entry();
template <class T>
ModelEntry<T> gbkgnn_entry();
template <class T>
ModelEntry<T> glognn_entry();
template <class T>
ModelEntry<T> gprgnn_entry();
template <class T>
ModelEntry<T> h2gcn_entry();
template <class T>
ModelEntry<T> jacobiconv_entry();
template <class T>
ModelEntry<T> pgcn_entry();

/// The part of an entry that all share: Net is built from ModelOptions alone, has its own recipe
/// and trains by Adam with L2 in the gradient.
template <class T, template <class> class Net>
ModelEntry<T> baseline(const std::string& name, const std::string& description) {
  ModelEntry<T> entry;
  entry.info.name = name;
  entry.info.description = description;
  entry.info.own_recipe = true;
  entry.info.defaults["optimizer"] = "adam";
  entry.make = [](const ModelOptions& o) { return std::make_unique<Net<T>>(o); };
  return entry;
}

}  // namespace dgat::nn
