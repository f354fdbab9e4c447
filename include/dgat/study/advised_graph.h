#pragma once

#include <map>
#include <memory>
#include <string>

#include "dgat/study/advise.h"
#include "dgat/study/trial.h"

/// The graph that `--rewire advised` chooses, for every verb.
namespace dgat::study {

/// The options of advise() for a configuration. If it has alpha, gamma or epsilon, these are fixed
/// in the options.
AdviceOptions question_for(const train::Config& config);

/// Advice and explorer work with L(alpha, gamma) only.
/// Throws: InputError for laplacian authors.
void refuse_authors_laplacian(const char* where, const train::Config& config);

/// The graph of one split.
struct AdvisedGraph {
  train::GraphChoice graph;
  bool clear = false;  ///< whether the advice was clear; otherwise edges stay as they are
  std::string why;     ///< the reason, for a notice
};

/// What to say before the advice on a large graph, which takes long and is the default of training;
/// empty for a graph below 2^19 edges.
std::string long_advice_notice(const data::Dataset& dataset, const AdviceOptions& question);

/// The best candidate of the advice if it is clear. Otherwise, or if too few training nodes are
/// labelled for advice, the edges stay as they are, with gamma and alpha of the configuration
/// or 1.
/// Throws: Interrupted on Ctrl-C.
AdvisedGraph advised_graph(const data::Dataset& dataset, int64_t split, const train::Config& config,
                           spectral::SpectralCache& cache);

/// Computes the advice once per data, split and options. Not safe from several threads.
class GraphAdviser {
 public:
  explicit GraphAdviser(spectral::SpectralCache& cache) : cache_(cache) {}
  const AdvisedGraph& on(const TrialData& data, int64_t split, const train::Config& config);

 private:
  spectral::SpectralCache& cache_;
  std::map<std::string, AdvisedGraph> known_;
};

/// One line about the graphs of several splits, by split.
std::string describe(const std::map<int64_t, AdvisedGraph>& graphs);

}  // namespace dgat::study
