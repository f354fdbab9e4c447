#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "dgat/study/advised_graph.h"
#include "dgat/study/trial.h"
#include "dgat/train/inputs.h"

namespace dgat::study {

/// What a model sees in a trial, and how its graph was rewired.
struct TrialInput {
  nn::GraphInput<float> graph;
  std::optional<TrialRewiring> rewiring;
};

/// The inputs of models, built once and shared between the trials of a model that need the same:
/// depths, rates and splits do not matter. Every eigenvector comes from the cache, once per (graph,
/// gamma). Every model has its own input, because what it precomputes counts against its memory
/// budget, which must not depend on the order of the rows. The few inputs used last are kept. The
/// advice for `--rewire advised` is computed here, once per split. Calls from several threads are
/// safe; they wait for each other.
class InputStore {
 public:
  explicit InputStore(spectral::SpectralCache& cache)
      : cache_(cache), adviser_(std::make_shared<GraphAdviser>(cache)) {}

  /// Without notices: the result of the trial says what was done to the graph.
  TrialInput input(const Trial& trial);

  /// The builder behind input(), made with notices when it is not there yet. Not safe while trials
  /// run.
  std::shared_ptr<train::InputBuilder> builder(const TrialData& data,
                                               const std::shared_ptr<const train::Config>& config);

  /// The advice behind the input of a split. Not safe while trials run.
  const AdvisedGraph& advice(const TrialData& data, int64_t split, const train::Config& config) {
    return adviser_->on(data, split, config);
  }

 private:
  struct Entry;
  Entry& find_or_make(const TrialData& data, const std::shared_ptr<const train::Config>& config);

  spectral::SpectralCache& cache_;
  std::shared_ptr<GraphAdviser> adviser_;  // shared with the builders
  std::mutex mutex_;
  std::list<std::shared_ptr<Entry>> entries_;  // the one used last first
};

}  // namespace dgat::study
