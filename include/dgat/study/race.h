#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "dgat/study/advise.h"
#include "dgat/study/tune.h"
#include "dgat/train/config.h"

/// Advice by short trainings: candidates of the ranking compete on validation nodes.
namespace dgat::study {

struct RaceOptions {
  /// Model, recipe and other options that replace those of race_settings(). Not the graph.
  train::Settings settings;
  double seconds = 60;    ///< no training begins later; infinite: no limit
  int64_t trainings = 0;  ///< largest number of trials, instead of seconds; 0: no such limit
  /// The split to train on. Below 0: the first splits, as many as have about two thousand
  /// validation nodes together, at least two.
  int64_t split = -1;
  int64_t jobs = 0;  ///< trainings side by side; same results
  /// The clock of `seconds`; empty: elapsed time.
  std::function<double()> clock = {};
};

/// A race of the model, recipe, components and seed of a configuration.
RaceOptions race_of(const train::Config& config);

/// A small network for races: width 64, two layers, rates and steps by recipe; then `settings`.
train::Settings race_settings(const train::Settings& settings);

/// Values of gamma for a ranking that a race follows: fewer than without one, because gamma changes
/// trained networks little.
std::vector<double> race_gammas();

/// A candidate and the levels it reached.
struct Raced {
  Candidate candidate;
  int64_t level = -1;   ///< the highest level it was trained at; -1: none
  double val = 0;       ///< mean validation metric there
  std::string failure;  ///< why it could not be trained further
};

struct Race {
  std::vector<Rung> levels;       ///< steps and splits, increasing
  std::vector<Raced> candidates;  ///< best first: level, then the value there; empty: no race
  int64_t left_out = 0;           ///< candidates for which the budget had no training
  int64_t trainings = 0;
  int64_t validation_nodes = 0;  ///< of the splits that decided, counted once per split
  std::string metric;
  double gain = 0;     ///< validation metric of the best minus that of the graph as it is
  double error = 0;    ///< standard error of one of the two metrics
  bool clear = false;  ///< the gain is larger than that of the best of as many equal candidates
  std::string reason;  ///< a paragraph for a person; also why there was no race
  double seconds = 0;

  bool run() const { return !candidates.empty(); }
  const Candidate& best() const { return candidates.front().candidate; }
};

/// Successive halving over the candidates of the advice. The graph as it is (gamma 1, no rewiring)
/// starts first and reaches every level; then come the best hub, the best add and the best of every
/// other rewiring, then the rest, each in the order of the advice. The first level is the highest
/// that all can afford with half of the budget. At every further level the better half continues,
/// as far as the budget allows. The validation metric decides; the race sees a copy of the data set
/// without test parts. The best is never worse than the graph as it is, on the validation nodes and
/// at the level that decided.
///
/// With a budget of trainings the result is a function of data, options and seed. With one of
/// seconds the number of candidates and levels depends on the speed of the machine.
///
/// Throws: InputError for settings that do not fit, ComputeError when the graph as it is cannot be
///         trained, Interrupted.
Race race(const data::Dataset& dataset, const Advice& advice, const RaceOptions& options,
          spectral::SpectralCache& cache);

}  // namespace dgat::study
