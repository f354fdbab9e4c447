#include "dgat/train/inputs.h"

#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
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
  data::LoadOptions options{.directed = config.directed};
  if (!config.split_file.empty()) options.splits.file = config.split_file;
  if (config.split) options.splits.fractions = config.split->shares;
  if (config.splits > 0) options.splits.count = static_cast<int>(config.splits);
  options.splits.seed = config.seed;
  options.splits.required = true;
  return data::load_dataset(config.data, options);
}

InputBuilder::InputBuilder(const data::Dataset& dataset, const Config& config,
                           spectral::SpectralCache& cache)
    : dataset_(dataset),
      config_(config),
      wants_phi_(nn::find_model(config.model).directional &&
                 (config.directional || config.rewire != rewire::Mode{})),
      graph_(std::shared_ptr<const graph::CsrGraph>(), &dataset.graph) {
  if (dataset.features.empty()) {
    throw_input("{}: there are no node features to learn from; add node_features to the data set",
                dataset.name);
  }
  if (dataset.graph.directed() && wants_phi_) {
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
  if (wants_phi_) solve(cache);
}

void InputBuilder::solve(spectral::SpectralCache& cache) {
  const double alpha = config_.laplacian_tuned ? config_.alpha : 1.0;
  const double gamma = config_.laplacian_tuned ? config_.gamma : 1.0;
  spectral::EigenOptions options;
  options.gamma = gamma;
  options.k = static_cast<int>(config_.eigenvectors);
  options.components = config_.components;
  options.seed = config_.seed;
  const auto result = cache.solve(dataset_.graph, options);
  phi_ = result->phi(alpha);
  const std::span<const double> first(phi_.data(), static_cast<size_t>(result->nodes));
  spectrum_ = std::make_unique<SpectrumReport>(SpectrumReport{
      alpha, gamma, result->eigenvalues, result->residuals, result->multiplicity,
      spectral::participation_ratio(first), result->solver, result->seconds, result->converged});
  if (!result->converged) {
    notice(
        fmt::format("train: the eigenvector did not converge (residual {:.1e}); directions are "
                    "approximate",
                    result->residuals.empty() ? 0.0 : result->residuals.front()));
  }
  if (result->repeated(0) > 1) {
    notice(fmt::format(
        "train: the first eigenvalue{} is {}-fold; one of its eigenvectors was chosen "
        "by a fixed rule",
        result->multiplicity.front() > 1 ? "" : " of a component", result->repeated(0)));
  }
  if (spectrum_->participation_ratio < spectral::kLocalised) {
    notice(fmt::format("train: the eigenvector lives on {:.2g}% of the nodes; try another --gamma",
                       100 * spectrum_->participation_ratio));
  }
}

const InputBuilder::Rewired& InputBuilder::rewired(const rewire::Mode& mode) {
  const std::string name = rewire::to_string(mode);
  if (const auto at = rewired_.find(name); at != rewired_.end()) return at->second;
  const spectral::NodeVectors phi(phi_, dataset_.graph.nodes(),
                                  static_cast<int>(config_.eigenvectors));
  Rewired built;
  const graph::CsrGraph* graph = &dataset_.graph;
  if (name != "none") {
    rewire::RewireOptions options;
    options.mode = mode;
    options.per_component = config_.components == spectral::ComponentPolicy::kEach;
    options.epsilon = config_.epsilon;
    const std::vector<int32_t> unlabelled(static_cast<size_t>(dataset_.graph.nodes()), -1);
    rewire::RewireResult result = rewire::rewire(dataset_.graph, phi, options, unlabelled);
    notice(fmt::format("train: rewiring {}: {} edges, {} dropped, {} added, {} left", name,
                       result.report.edges_before, result.report.dropped, result.report.added,
                       result.report.edges_after));
    built.report = result.report;
    built.graph = std::move(result.graph);
    graph = &built.graph;
  }
  const bool directional = config_.directional && wants_phi_;
  built.messages = std::make_shared<const nn::Messages<float>>(
      directional ? rewire::message_graph(*graph, phi) : rewire::message_graph(*graph));
  return rewired_[name] = std::move(built);
}

nn::GraphInput<float> InputBuilder::for_split(int64_t split) {
  const data::Split& parts = dataset_.splits.at(static_cast<size_t>(split));
  std::vector<int32_t> labels = rewire::training_labels(dataset_.labels, parts.train);
  rewire::Mode mode = wants_phi_ ? config_.rewire : rewire::Mode{};
  mode = rewire::resolve_mode(mode, dataset_.graph, labels);
  modes_[split] = rewire::to_string(mode);
  const Rewired& built = rewired(mode);
  if (mode != rewire::Mode{} && !reports_.contains(split)) {
    rewire::RewireReport& report = reports_[split] = built.report;
    report.homophily_before = rewire::edge_homophily(dataset_.graph, labels);
    report.homophily_after = rewire::edge_homophily(built.graph, labels);
  }
  return {features_, built.messages, graph_, std::move(labels), precomputed_};
}

nn::GraphInput<float> InputBuilder::for_prediction(const std::string& rewire_mode) {
  return {features_, rewired(rewire::parse_mode(rewire_mode)).messages, graph_, {}, precomputed_};
}

}  // namespace dgat::train
