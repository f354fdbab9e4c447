#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/spectral/cache.h"
#include "dgat/study/advise.h"
#include "dgat/study/ledger.h"
#include "dgat/train/config.h"

/// Hyper-parameter search on the validation metric.
namespace dgat::study {

/// The steps and splits of one level of the search. The first rung is cheap; the last one is the
/// whole protocol, for the few candidates that are left.
struct Rung {
  int64_t steps = 0, splits = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};
/// A quarter of the steps on a few splits, all steps on these, on three times as many, on all;
/// without repeats. "A few" have about a thousand validation nodes together, so the first accuracy
/// of a candidate has a standard error of 1.6 points at most.
std::vector<Rung> make_rungs(int64_t steps, int64_t splits, int64_t validation_nodes);

struct TuneOptions {
  train::Settings settings;  ///< what is fixed: these keys are not searched
  /// Values to search, by key, in place of the usual ones (the common rates, ModelInfo::grid).
  std::map<std::string, std::vector<std::string>> search;
  double budget_seconds = 1800;  ///< infinite: no limit of time
  int64_t trials = 0;            ///< largest number of trials; 0: no limit
  int64_t jobs = 0;              ///< trials side by side; same decisions
  bool advised = true;           ///< graphs in the order of the advice; otherwise random
  std::filesystem::path folder;  ///< where long trials keep their state; empty: nowhere
};

/// One configuration and the rungs it reached.
struct Tried {
  train::Settings choices;     ///< the searched options
  std::vector<double> values;  ///< mean validation metric at every rung reached
  std::string failure;         ///< why it could not be trained
  int64_t advice_rank = 0;     ///< place of its graph in the advice, from 1; 0 without one
};

/// Validation metric at one gamma, on the first rung, where every candidate has been.
struct GammaSensitivity {
  double gamma = 0;
  int64_t candidates = 0;
  double best = 0, mean = 0;
};

struct TuneResult {
  std::string dataset, model, metric;
  std::vector<Rung> rungs;
  std::vector<Tried> tried;              ///< best first: rungs reached, then the value there
  std::vector<GammaSensitivity> gammas;  ///< increasing; empty for models without directions
  train::Config winner;  ///< resolved, one depth, all splits: what `dgat train --config` takes
  int64_t repeated = 0;  ///< graphs left out because they equal another one
  bool exhausted = false, interrupted = false;  ///< how it ended; neither: the budget did
  double seconds = 0;
  int64_t trials = 0;  ///< trainings, those of the ledger included
};

/// Successive halving without waiting (ASHA, Li et al. 2020). A candidate enters at the first rung;
/// a candidate among the best third of its rung enters the next one, before any new candidate
/// starts. The first candidate has the options of a training without a search: its preset, and the
/// graph as advised. The next ones have other learning rates, from the middle of the range
/// outwards. Then two kinds of candidates alternate. One is the next graph (gamma, alpha, rewiring,
/// epsilon) with the rates of the best candidate so far: first the unchanged graph, then the order
/// of the advice. The other is the best candidate with one or two of its rates changed.
///
/// No candidate enters a rung before the first one does, and candidates are compared at the highest
/// rung that the first one has finished: the winner is not below it on the validation metric there,
/// whatever the budget.
///
/// Test labels cannot choose anything: the search sees a copy of the data set whose splits have no
/// test part. Decisions follow every four trials, whatever `jobs` is, and use results alone. So a
/// search continued from its ledger decides as before. The budgets say only where it ends.
///
/// Throws: InputError for a key that cannot be searched or values that do not fit, ComputeError
///         when every candidate fails. Ctrl-C ends the search with what is there.
TuneResult tune(const data::Dataset& dataset, const TuneOptions& options, Ledger& ledger,
                spectral::SpectralCache& cache);

/// The options of advise() for such a search. If the options name no rewirings, they are those of
/// `dgat advise`.
/// Throws: InputError as tune(), and for a model without directions.
AdviceOptions search_question(const train::DataFacts& dataset, const TuneOptions& options);

std::string to_json(const TuneResult& result);      ///< DIR/tune.json
std::string to_markdown(const TuneResult& result);  ///< DIR/tune.md

}  // namespace dgat::study
