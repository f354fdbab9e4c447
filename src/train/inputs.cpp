#include "dgat/train/inputs.h"

#include <fmt/format.h>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/data/load.h"
#include "dgat/nn/registry.h"
#include "dgat/partition/metis.h"
#include "dgat/train/node_features.h"
#include "feature_scaling.h"
#include "over_ranks.h"

namespace dgat::train {
namespace {

int64_t memory_budget(const Config& config) {
  constexpr double kGigabyte = 1e9;
  return config.memory_budget > 0 ? static_cast<int64_t>(config.memory_budget * kGigabyte)
                                  : nn::default_memory_budget();
}

/// Exact, unlike to_string() for people.
std::string key_of(const GraphChoice& c) {
  return fmt::format("{} {} {} {}", c.gamma, c.alpha, rewire::to_string(c.mode),
                     c.epsilon ? rewire::to_string(*c.epsilon) : "auto");
}

void check_in_cells(const Config& config, const data::Dataset& dataset) {
  if (config.cells > dataset.graph.nodes()) {
    throw_input("train: --cells must be at most {}, the number of nodes of {}, got {}",
                dataset.graph.nodes(), dataset.name, config.cells);
  }
  if (dist::current().size() > 1) {
    throw_input("train: several ranks train the whole graph; leave out --cells, or use one rank");
  }
}

/// What all ranks together fetch from each other for one sum over neighbours.
void say_what_moves(const nn::GraphInput<float>& part) {
  const auto& receive = part.messages->graph.share()->from_senders.receive;
  int64_t own = 0, all = 0;
  for (int r = 0; r < part.ranks->size(); ++r) {
    if (r != part.ranks->rank()) own += receive[static_cast<size_t>(r)];
  }
  for (const std::string& text : part.ranks->all_texts(fmt::format("{}", own))) {
    all += std::stoll(text);
  }
  if (!dist::leads()) return;
  notice(fmt::format(
      "train: {} ranks fetch {} rows of each other ({:.2f} per node) for a sum over "
      "neighbours",
      part.ranks->size(), all, static_cast<double>(all) / static_cast<double>(part.nodes())));
}

}  // namespace

data::Dataset load_for(const Settings& settings) {
  const Config asked = resolve(settings);
  data::Dataset dataset =
      data::load_dataset(asked.data, load_options(asked, /*needs_splits=*/true));
  if (dataset.classes_present() < 2) {
    throw_input(
        "{}: training needs labelled nodes of at least two classes, and this data set has {}; "
        "inspect, spectrum, rewire, explore and convert work without labels",
        dataset.name, dataset.classes_present() == 0 ? "no labels" : "labels of one class only");
  }
  const auto splits = static_cast<size_t>(resolve(settings, dataset).splits);
  if (splits > 0 && dataset.splits.size() > splits) dataset.splits.resize(splits);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  make_node_features(dataset, asked.features, cache);
  return dataset;
}

InputBuilder::InputBuilder(const data::Dataset& dataset, const Config& config,
                           spectral::SpectralCache& cache, SplitAdvice advice)
    : dataset_(dataset),
      config_(config),
      cache_(cache),
      advice_(std::move(advice)),
      graph_(std::shared_ptr<const graph::CsrGraph>(), &dataset.graph) {
  if (dataset.features.empty()) {
    throw_input(
        "{}: there are no node features to learn from; add some to the data set, or use "
        "--features",
        dataset.name);
  }
  const nn::ModelInfo& model = nn::find_model(config.model);
  const bool directional = model.directional;
  edge_features_ = directional && config.directional;
  wants_phi_ = edge_features_ || (directional && config.rewire != rewire::Mode{});
  if (wants_phi_ && dataset.graph.directed()) {
    throw_input("{}: {} needs an undirected graph; leave out --directed", dataset.name,
                config.model);
  }
  if (dataset.graph.weighted() && !model.uses_edge_weights) {
    notice(fmt::format("{}: {} {}", dataset.name, config.model,
                       wants_phi_ ? "uses the edge weights for its directions only; its messages "
                                    "treat all edges equally"
                                  : "does not use the edge weights; it treats all edges equally"));
  }
  features();
  if (config.cells > 0) {
    check_in_cells(config, dataset);
    cells_ =
        std::make_shared<const graph::Cells>(partition::metis_cells(dataset.graph, config.cells));
  }
  precomputed_ = std::make_shared<nn::PrecomputedParts>(memory_budget(config));
}

std::shared_ptr<const nn::NodeFeatures<float>> InputBuilder::features() {
  if (features_) return features_;
  if (config_.feature_scaling == FeatureScaling::kRaw) {
    features_ = std::make_shared<nn::NodeFeatures<float>>(dataset_.features);
  } else {
    features_ = std::make_shared<nn::NodeFeatures<float>>(
        scaled_features(dataset_.features, config_.feature_scaling, dataset_.name));
  }
  return features_;
}

std::shared_ptr<Directions> InputBuilder::directions_of(const GraphChoice& choice) {
  if (!wants_phi_) return nullptr;
  GraphChoice any_mode = choice;  // one object serves every mode
  any_mode.mode = {};
  std::shared_ptr<Directions>& found = directions_[key_of(any_mode)];
  if (!found) found = std::make_shared<Directions>(dataset_.graph, config_, choice, cache_);
  return found;
}

std::shared_ptr<Directions> InputBuilder::directions(int64_t split) {
  return directions_of(choice_of(split));
}

std::shared_ptr<const nn::Messages<float>> InputBuilder::messages(const GraphChoice& choice) {
  const auto [at, fresh] = messages_.try_emplace(key_of(choice));
  if (fresh) {
    const auto directions = directions_of(choice);
    const graph::CsrGraph& graph = directions ? directions->rewired(choice.mode) : dataset_.graph;
    const rewire::MessageGraph arcs = edge_features_
                                          ? rewire::message_graph(graph, directions->phi())
                                          : rewire::message_graph(graph);
    at->second = std::make_shared<const nn::Messages<float>>(
        config_.self_loops ? arcs : rewire::without_self_loops(arcs));
  }
  return at->second;
}

nn::GraphInput<float> InputBuilder::part_of_rank(
    const std::shared_ptr<const nn::Messages<float>>& messages) {
  const auto [at, fresh] = parts_.try_emplace(messages.get());
  if (!fresh) return at->second;
  check_over_ranks(config_);
  if (!own_features_) {
    own_features_ =
        std::make_shared<const nn::NodeFeatures<float>>(features()->part(dist::current()));
    features_.reset();  // the report reads all rows, after the training
  }
  at->second =
      nn::part_of<float>({own_features_, messages, graph_, {}, precomputed_}, dist::current());
  say_what_moves(at->second);
  return at->second;
}

std::vector<int32_t> InputBuilder::training_labels(int64_t split) const {
  return rewire::training_labels(dataset_.labels,
                                 dataset_.splits.at(static_cast<size_t>(split)).train);
}

const GraphChoice& InputBuilder::choice_of(int64_t split) {
  const auto known = choices_.find(split);
  if (known != choices_.end()) return known->second;
  GraphChoice choice = graph_of(config_);
  if (!wants_phi_) {
    choice.mode = {};
  } else if (config_.rewire.advised) {
    if (!advice_) {
      throw_input("{}: rewire advised needs advice on its splits; name a mode", dataset_.name);
    }
    choice = advice_(split);
  } else {
    choice.mode = directions_of(choice)->mode_under(training_labels(split));
  }
  return choices_[split] = choice;
}

nn::GraphInput<float> InputBuilder::for_split(int64_t split) {
  std::vector<int32_t> labels = training_labels(split);
  const GraphChoice& choice = choice_of(split);
  const bool reported = choice.mode != rewire::Mode{} || (wants_phi_ && config_.rewire.advised);
  if (reported && !reports_.contains(split)) {
    reports_[split] = directions_of(choice)->report(choice.mode, labels);
  }
  nn::GraphInput<float> input;
  if (dist::current().size() > 1) {
    input = part_of_rank(messages(choice));
  } else {
    input = {features(), messages(choice), graph_, {}, precomputed_};
    input.cells = cells_;
  }
  input.training_labels = std::move(labels);
  return input;
}

nn::GraphInput<float> InputBuilder::for_prediction(const GraphChoice& choice) {
  nn::GraphInput<float> input{features(), messages(choice), graph_, {}, precomputed_};
  input.cells = cells_;
  return input;
}

}  // namespace dgat::train
