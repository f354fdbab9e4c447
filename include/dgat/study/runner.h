#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dgat/spectral/cache.h"
#include "dgat/study/ledger.h"

namespace dgat::study {

struct RunnerOptions {
  std::string label = "study";  ///< in front of the progress bar
  int64_t jobs = 0;             ///< trials side by side; 0: by their size. Same results
  /// No trial is started after this moment; those that run are finished.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  /// Where long trials keep their state, so that Ctrl-C loses nothing of them; empty: nowhere.
  std::filesystem::path checkpoints = {};
};

/// What became of one trial: a result, a failure, or neither (there was no time).
struct TrialOutcome {
  std::optional<TrialResult> result;
  std::string failure;  ///< why it cannot be run: too little memory, not finite, no features
};

/// Runs the trials that the ledger does not hold and returns the outcome of each, in order. Equal
/// trials run once. After a failure the other trials with the same options and depth are not tried.
/// Every eigenvector comes from the cache, once per (graph, gamma); features and rewired graphs are
/// shared between trials.
///
/// Throws: Interrupted on Ctrl-C; ComputeError when the ledger cannot be written. Failures of a
///         trial itself are outcomes.
std::vector<TrialOutcome> run_trials(std::span<const Trial> trials, Ledger& ledger,
                                     spectral::SpectralCache& cache,
                                     const RunnerOptions& options = {});

/// "2h", "90m", "45s", "1h30m" in seconds. Throws: InputError.
double parse_duration(const std::string& text);

/// "Intel Xeon ... , 2 cores": printed beside every table of times.
std::string machine_description();

}  // namespace dgat::study
