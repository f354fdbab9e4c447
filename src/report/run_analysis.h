#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/report/run_record.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/train/inputs.h"

// What a page about a run is computed from, beyond the run's own record.
namespace dgat::report {

/// Attention of one layer: arcs x heads, row by row.
struct LayerAttention {
  int heads = 1;
  std::vector<float> weights;
};

/// What the network of one split says about every node.
struct SplitOutput {
  int64_t split = 0;
  std::vector<float> probabilities;  ///< nodes x classes
  std::vector<int32_t> predicted;    ///< per node
};

/// The two numbers per eigenvector and the bias that a head's directional score collapses to.
struct DirectionalTerm {
  int layer = 0, head = 0;
  std::vector<double> coefficients;  ///< av, dx per eigenvector
  double bias = 0;
};

/// A graph and what was computed on it. `phi` is of L(alpha, gamma) of the run's options.
struct GraphAnalysis {
  const data::Dataset& dataset;
  graph::CsrGraph graph;  ///< undirected
  std::shared_ptr<const spectral::EigenResult> spectrum = {};
  double alpha = 0;
  int vectors = 1;               ///< how many of the eigenvectors the model reads
  bool used_by_model = true;     ///< whether it reads any
  std::vector<double> phi = {};  ///< nodes x spectrum->k, column by column
  int64_t split = 0;             ///< the split that rewiring, drawing and attention are about
  std::vector<int32_t> training_labels = {};  ///< of that split, -1 elsewhere
  rewire::RewireResult rewired = {};          ///< under these labels
};

/// The graph as the model sees it, from the directions it was trained with (none: a model without
/// them), and more eigenvectors than the model reads, for the pictures, as far as `work_limit`
/// (EigenOptions) reaches; 0: no limit.
/// Cost: one eigensolve, unless the cache has it.
GraphAnalysis analyse_graph(const data::Dataset& dataset, const train::Config& config,
                            train::Directions* directions, const train::GraphChoice& choice,
                            int64_t split, int64_t work_limit, spectral::SpectralCache& cache);

/// What the networks of a run say.
struct ModelAnalysis {
  std::vector<SplitOutput> outputs;  ///< one per split that has weights
  rewire::MessageGraph messages;     ///< arcs of `attention`; offsets and senders only
  std::vector<LayerAttention> attention;
  std::vector<DirectionalTerm> terms;
};

/// One forward pass per split on the graph of training; attention of the shown split only.
ModelAnalysis analyse_model(const RunRecord& run, train::InputBuilder& builder,
                            int64_t shown_split);

}  // namespace dgat::report
