#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/nn/graph_input.h"
#include "dgat/train/directions.h"

namespace dgat::train {

/// Reads the data set of a configuration with the splits it asks for; a set that has none gets
/// random ones 60/20/20.
data::Dataset load_for(const Config& config);

/// Turns a data set and a configuration into what a model sees: eigenvectors (once), the rewired
/// graph and its edge features (once per rewiring: `auto` may differ between splits), the features
/// in the kernels' form (once), and the place where models keep what they precompute.
class InputBuilder {
 public:
  /// The data set must outlive this object. A cache serves several builders (depths, models).
  InputBuilder(const data::Dataset& dataset, const Config& config, spectral::SpectralCache& cache);

  /// The input of one split; only its training labels are looked at.
  nn::GraphInput<float> for_split(int64_t split);
  /// The input without labels, under a rewiring that `auto` was resolved to.
  nn::GraphInput<float> for_prediction(const std::string& rewire_mode);

  /// The rewiring in use for a split ("none", "prune-far+add", ...). Needs: for_split() was called.
  const std::string& mode_of(int64_t split) const { return modes_.at(split); }
  /// What the rewiring of each split did, its homophily by the training labels of that split;
  /// without splits whose graph stays as it is.
  const std::map<int64_t, rewire::RewireReport>& rewirings() const { return reports_; }
  /// Empty for a model that has no use for eigenvectors.
  const std::shared_ptr<Directions>& directions() const { return directions_; }

 private:
  std::shared_ptr<const nn::Messages<float>> messages(const rewire::Mode& mode);

  const data::Dataset& dataset_;
  bool edge_features_;  // whether the directions of edges enter the scores
  std::shared_ptr<Directions> directions_;
  std::shared_ptr<const nn::NodeFeatures<float>> features_;
  std::shared_ptr<const graph::CsrGraph> graph_;
  std::shared_ptr<nn::PrecomputedParts> precomputed_;
  std::map<std::string, std::shared_ptr<const nn::Messages<float>>> messages_;  // by mode
  std::map<int64_t, rewire::RewireReport> reports_;
  std::map<int64_t, std::string> modes_;
};

}  // namespace dgat::train
