#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <string>

#include "dgat/study/trial.h"
#include "dgat/train/inputs.h"

namespace dgat::study {

/// What a model sees in a trial, and how its graph was rewired.
struct TrialInput {
  nn::GraphInput<float> graph;
  std::optional<TrialRewiring> rewiring;
};

/// What models see, built once and shared between the trials of a model that need the same: depths,
/// rates and splits do not matter. Every model has its own, because what it precomputes counts
/// against its memory budget: whether it fits must not hang on the order of the rows. The few used
/// last are kept.
/// Calls from several threads are safe; they wait for each other.
class InputStore {
 public:
  explicit InputStore(spectral::SpectralCache& cache) : cache_(cache) {}
  TrialInput input(const Trial& trial);

 private:
  struct Entry {
    std::string key;
    TrialData data;
    std::shared_ptr<const train::Config> config;  // the builder refers to both
    std::unique_ptr<train::InputBuilder> builder;
  };
  spectral::SpectralCache& cache_;
  std::mutex mutex_;
  std::list<Entry> entries_;  // the one used last first
};

}  // namespace dgat::study
