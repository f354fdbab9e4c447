#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "dgat/data/dataset.h"
#include "dgat/study/origin.h"
#include "dgat/train/option_table.h"
#include "dgat/train/results_version.h"
#include "dgat/train/trainer.h"

/// Studies: many trainings under one protocol, kept in a ledger and shown as tables.
///
///   trial.h       one network on one split, and the key that names it
///   ledger.h      finished trials in a file of JSON lines
///   engine.h      runs the trials that the ledger does not have yet
///   study.h       rows x depths x splits -> mean and deviation, choice by validation
///   run.h         a study of one row that keeps its weights: `dgat train`
///   statistics.h  paired tests, ranks
///   table.h       one table as text, Markdown, LaTeX, CSV, JSON
namespace dgat::study {

/// A data set that trials run on, with a fingerprint of its graph, features and labels.
struct TrialData {
  std::shared_ptr<const data::Dataset> dataset;
  std::string fingerprint;
};
/// Cost: one pass over the data (SHA-256).
TrialData trial_data(data::Dataset dataset);

/// One network on one split. The options are resolved; `layers` of the configuration is a range,
/// here it is one depth.
struct Trial {
  TrialData data;
  std::shared_ptr<const train::Config> config;
  int64_t layers = 1;
  int64_t split = 0;
};

/// Whether an option can differ between the trials of a study. Not those that say where the data is
/// and how much of it is run; depth is part of the trial itself.
bool belongs_to_trial(const train::OptionInfo& option);

/// 32 hexadecimal digits over everything that changes the result: the data set's fingerprint, the
/// nodes of the split, its number (it enters the random numbers), the depth, the results version,
/// and differing_options(): a new option with its default changes no key. Equal on every machine.
std::string trial_key(const Trial& trial, int64_t results_version = train::kResultsVersion);

/// What the graph of a trial was rewired to.
struct TrialRewiring {
  std::string mode;  ///< never automatic or advised
  int64_t edges_before = 0, edges_after = 0;
  double homophily_before = 0, homophily_after = 0;  ///< of training edges; NaN: there are none
  std::optional<train::GraphChoice> advised = {};    ///< what advice chose, where it did
};

/// A finished trial. Metrics are fractions in [0, 1]; NaN where a part has no value.
struct TrialResult {
  std::string key, dataset, model, metric;
  int64_t layers = 0, split = 0;
  int64_t best_step = 0;  ///< the first with the highest validation metric
  double train = 0, val = 0, test = 0;
  int64_t steps = 0;   ///< steps run
  double seconds = 0;  ///< of training and evaluation
  int64_t parameters = 0;
  int64_t peak_rss_bytes = 0;                  ///< of the process while the trial ran
  int64_t threads = 0;                         ///< of the trial; 0: an older ledger, not known
  int64_t jobs = 1;                            ///< trials side by side: they share time and memory
  std::map<std::string, std::string> options;  ///< what differs from train::Config{}, by key
  std::optional<TrialRewiring> rewiring;       ///< nothing where it was not asked for
  Origin origin;
};

/// The options of a configuration that differ from train::Config{}, without those that do not
/// change a trial's result and without its depth.
std::map<std::string, std::string> differing_options(const train::Config& config);

}  // namespace dgat::study
