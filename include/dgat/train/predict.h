#pragma once

#include <string>
#include <vector>

#include "dgat/spectral/cache.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trained_model.h"

namespace dgat::train {

/// The predictions for every node.
struct Prediction {
  std::vector<int64_t> classes;
  std::vector<float> probabilities;  ///< nodes x class_count, rows sum to one
  int64_t class_count = 0;
  std::vector<float> embeddings;  ///< nodes x embedding_width; what the last linear map reads
  int64_t embedding_width = 0;
  /// Attention weights: arc e goes from senders[e] to receivers[e]; self loops included. Empty for
  /// a model that has no attention.
  std::vector<int64_t> receivers, senders;
  struct Layer {
    int64_t heads = 0;
    std::vector<float> weights;  ///< arcs x heads
  };
  std::vector<Layer> attention;
};

struct PredictOptions {
  bool embeddings = false;
  bool attention = false;
};

/// Predicts on the graph of training or on another one with the same features: eigenvectors,
/// rewiring and edge features are computed there. Labels and splits are not looked at.
/// Throws: InputError when the number of features differs, or that of the nodes for a model that
///         learnt a row per node.
Prediction predict(TrainedModel& trained, const data::Dataset& dataset,
                   spectral::SpectralCache& cache, const PredictOptions& options = {});

/// The same on the graph of training, from the builder that trained there.
Prediction predict(TrainedModel& trained, InputBuilder& builder,
                   const PredictOptions& options = {});

}  // namespace dgat::train
