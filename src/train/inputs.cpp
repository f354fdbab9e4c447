#include "dgat/train/inputs.h"

#include "dgat/core/error.h"
#include "dgat/data/load.h"
#include "dgat/nn/registry.h"
#include "feature_scaling.h"

namespace dgat::train {
namespace {

int64_t memory_budget(const Config& config) {
  constexpr double kGigabyte = 1e9;
  return config.memory_budget > 0 ? static_cast<int64_t>(config.memory_budget * kGigabyte)
                                  : nn::default_memory_budget();
}

}  // namespace

data::Dataset load_for(const Config& config) {
  return data::load_dataset(config.data, load_options(config, /*needs_splits=*/true));
}

InputBuilder::InputBuilder(const data::Dataset& dataset, const Config& config,
                           spectral::SpectralCache& cache)
    : dataset_(dataset), graph_(std::shared_ptr<const graph::CsrGraph>(), &dataset.graph) {
  if (dataset.features.empty()) {
    throw_input("{}: there are no node features to learn from; add node_features to the data set",
                dataset.name);
  }
  const bool directional = nn::find_model(config.model).directional;
  edge_features_ = directional && config.directional;
  const bool wants_phi = edge_features_ || (directional && config.rewire != rewire::Mode{});
  if (wants_phi && dataset.graph.directed()) {
    throw_input("{}: {} needs an undirected graph; leave out --directed", dataset.name,
                config.model);
  }
  if (config.feature_scaling == FeatureScaling::kRaw) {
    features_ = std::make_shared<nn::NodeFeatures<float>>(dataset.features);
  } else {
    features_ = std::make_shared<nn::NodeFeatures<float>>(
        scaled_features(dataset.features, config.feature_scaling, dataset.name));
  }
  precomputed_ = std::make_shared<nn::PrecomputedParts>(memory_budget(config));
  if (wants_phi) directions_ = std::make_shared<Directions>(dataset.graph, config, cache);
}

std::shared_ptr<const nn::Messages<float>> InputBuilder::messages(const rewire::Mode& mode) {
  const auto [at, fresh] = messages_.try_emplace(rewire::to_string(mode));
  if (fresh) {
    const graph::CsrGraph& graph = directions_ ? directions_->rewired(mode) : dataset_.graph;
    at->second = std::make_shared<const nn::Messages<float>>(
        edge_features_ ? rewire::message_graph(graph, directions_->phi())
                       : rewire::message_graph(graph));
  }
  return at->second;
}

nn::GraphInput<float> InputBuilder::for_split(int64_t split) {
  const data::Split& parts = dataset_.splits.at(static_cast<size_t>(split));
  std::vector<int32_t> labels = rewire::training_labels(dataset_.labels, parts.train);
  const rewire::Mode mode = directions_ ? directions_->mode_under(labels) : rewire::Mode{};
  modes_[split] = rewire::to_string(mode);
  if (mode != rewire::Mode{} && !reports_.contains(split)) {
    reports_[split] = directions_->report(mode, labels);
  }
  return {features_, messages(mode), graph_, std::move(labels), precomputed_};
}

nn::GraphInput<float> InputBuilder::for_prediction(const std::string& rewire_mode) {
  return {features_, messages(rewire::parse_mode(rewire_mode)), graph_, {}, precomputed_};
}

}  // namespace dgat::train
