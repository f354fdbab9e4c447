#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dgat/study/input_store.h"
#include "dgat/study/ledger.h"

/// The engine: every training is a trial of run_trials().
namespace dgat::study {

/// What is kept of a trial beside its result. The engine asks before each trial and reports after
/// it; calls come from several threads.
class TrialKeeper {
 public:
  virtual ~TrialKeeper() = default;
  /// Where the trial keeps its state, and what happens at its evaluations.
  virtual train::TrainHooks hooks(const Trial& trial, const std::string& key) = 0;
  /// The result is recorded; the state is no longer needed to find it.
  virtual void recorded(const Trial& trial, const std::string& key) = 0;
};

/// Keeps checkpoints of long trials in a folder until their results are recorded, so that Ctrl-C
/// loses nothing of them. A checkpoint that cannot be read or written causes a notice, not an
/// error.
std::shared_ptr<TrialKeeper> keep_long_trials(std::filesystem::path folder);

struct EngineOptions {
  std::string label = "study";  ///< in front of the progress bar
  int64_t jobs = 0;             ///< trials side by side; 0: by their size. Same results
  /// No trial is started after this moment; those that run are finished.
  std::optional<std::chrono::steady_clock::time_point> deadline = {};
  std::shared_ptr<TrialKeeper> keeper = {};  ///< empty: nothing but results is kept
  bool stop_at_failure = false;  ///< throw the failure of a trial; otherwise it is an outcome
};

/// The outcome of one trial: a result, a failure, or neither (there was no time).
struct TrialOutcome {
  std::optional<TrialResult> result;
  std::string failure;  ///< why it cannot be run: too little memory, not finite, no features
};

/// Runs the trials that the ledger does not hold and returns the outcome of each, in order. Equal
/// trials run once. After a failure the other trials with the same options and depth are not tried.
///
/// Throws: Interrupted on Ctrl-C; ComputeError when the ledger cannot be written; with
///         stop_at_failure what the first failing trial threw.
std::vector<TrialOutcome> run_trials(std::span<const Trial> trials, Ledger& ledger,
                                     InputStore& inputs, const EngineOptions& options = {});

/// Whether hidden layers are so small that two trials side by side use the cores better than two
/// threads on one trial.
bool is_small(const Trial& trial);

/// "2h", "90m", "45s", "1h30m" in seconds. Throws: InputError.
double parse_duration(const std::string& text);

/// "Intel Xeon ... , 2 cores": printed beside every table of times.
std::string machine_description();

}  // namespace dgat::study
