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

/// How much of the protocol a candidate has to go through: cheap at first, all of it for the few
/// that are left.
struct Rung {
  int64_t steps = 0, splits = 0;
  friend bool operator==(const Rung&, const Rung&) = default;
};
/// A quarter of the steps on a few splits, all steps on these, on three times as many, on all;
/// without repeats. A few: together about a thousand validation nodes, so that the accuracy a
/// candidate is first judged by has a standard error of 1.6 points at most.
std::vector<Rung> make_rungs(int64_t steps, int64_t splits, int64_t validation_nodes);

struct TuneOptions {
  train::Settings settings;  ///< what is fixed: these keys are not searched
  /// Values to search, by key, in place of the usual ones (ModelInfo::grid, then the recipe's).
  std::map<std::string, std::vector<std::string>> search;
  double budget_seconds = 1800;
  int64_t jobs = 0;              ///< trials side by side; same decisions
  bool advised = true;           ///< graphs in the order of the advice; otherwise random
  std::filesystem::path folder;  ///< where long trials keep their state; empty: nowhere
};

/// One configuration and how far it came.
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
};

/// Successive halving without waiting (ASHA, Li et al. 2020). A candidate enters at the first rung;
/// whenever a candidate is among the best third of its rung it may enter the next one, and that
/// goes before new candidates. New ones are, by turns, the next graph (gamma, alpha, rewiring,
/// epsilon), the graph as it is first and then in the order of the advice, with the rates of the
/// best candidate so far, and that candidate with one or two of its rates changed.
///
/// Test labels cannot choose anything: the search sees a copy of the data set whose splits have no
/// test part. Decisions are made four trials at a time whatever `jobs` is, from results alone, so a
/// search continued from its ledger decides as before; the budget only says where it ends.
///
/// Throws: InputError for a key that cannot be searched or values that do not fit, ComputeError
///         when every candidate fails. Ctrl-C ends the search with what is there.
TuneResult tune(const data::Dataset& dataset, const TuneOptions& options, Ledger& ledger,
                spectral::SpectralCache& cache);

/// What such a search asks the advice (advise.h); the rewirings are those of `dgat advise` where
/// the options say nothing of them. Throws: InputError as tune(), and for a model without
/// directions.
AdviceOptions search_question(const std::string& dataset, const TuneOptions& options);

std::string to_json(const TuneResult& result);      ///< DIR/tune.json
std::string to_markdown(const TuneResult& result);  ///< DIR/tune.md

}  // namespace dgat::study
