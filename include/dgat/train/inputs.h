#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/nn/graph_input.h"
#include "dgat/train/directions.h"

namespace dgat::train {

/// Reads the data set that settings name, with the splits that they and the preset ask for (a set
/// that has none gets random ones 60/20/20) and with features (node_features.h).
data::Dataset load_for(const Settings& settings);

/// The graph that `advised` chooses on a split.
using SplitAdvice = std::function<GraphChoice(int64_t split)>;

/// Turns a data set and a configuration into what a model sees: eigenvectors (once), the rewired
/// graph and its edge features (once per choice: `auto` and `advised` may differ between splits),
/// the features in the kernels' form (once), and the place where models keep what they precompute.
class InputBuilder {
 public:
  /// The data set must outlive this object. A cache serves several builders (depths, models).
  /// A configuration that rewires as advised needs `advice`; study::InputStore gives it.
  InputBuilder(const data::Dataset& dataset, const Config& config, spectral::SpectralCache& cache,
               SplitAdvice advice = {});

  /// The input of one split. Reads its training labels only. Where several ranks share the work of
  /// this thread (dist::current()), it is the part of this rank.
  /// Throws: InputError when the model cannot be trained by several ranks.
  nn::GraphInput<float> for_split(int64_t split);
  /// The input without labels, on a graph that was chosen in training.
  nn::GraphInput<float> for_prediction(const GraphChoice& choice);

  /// The graph of a split, neither automatic nor advised.
  const GraphChoice& choice_of(int64_t split);
  /// What the rewiring of each split did, its homophily by the training labels of that split;
  /// without splits whose graph stays as it is, unless that was advised.
  const std::map<int64_t, rewire::RewireReport>& rewirings() const { return reports_; }
  /// Those of a split; empty for a model that does not use eigenvectors.
  std::shared_ptr<Directions> directions(int64_t split);

 private:
  std::shared_ptr<Directions> directions_of(const GraphChoice& choice);
  std::shared_ptr<const nn::Messages<float>> messages(const GraphChoice& choice);
  std::vector<int32_t> training_labels(int64_t split) const;
  std::shared_ptr<const nn::NodeFeatures<float>> features();
  nn::GraphInput<float> part_of_rank(const std::shared_ptr<const nn::Messages<float>>& messages);

  const data::Dataset& dataset_;
  Config config_;
  spectral::SpectralCache& cache_;
  SplitAdvice advice_;
  bool edge_features_;  // whether the directions of edges enter the scores
  bool wants_phi_;      // for them, or to rewire
  std::shared_ptr<const nn::NodeFeatures<float>> features_;  // null: to be made
  std::shared_ptr<const graph::CsrGraph> graph_;
  std::shared_ptr<nn::PrecomputedParts> precomputed_;
  std::shared_ptr<const graph::Cells> cells_;  // of a training in cells
  std::map<std::string, std::shared_ptr<const nn::Messages<float>>> messages_;  // by choice
  std::map<std::string, std::shared_ptr<Directions>> directions_;               // by choice
  std::shared_ptr<const nn::NodeFeatures<float>> own_features_;  // of this rank among several
  std::map<const void*, nn::GraphInput<float>> parts_;           // of this rank, by the messages
  std::map<int64_t, rewire::RewireReport> reports_;
  std::map<int64_t, GraphChoice> choices_;
};

}  // namespace dgat::train
