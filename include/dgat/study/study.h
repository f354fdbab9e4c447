#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dgat/study/engine.h"
#include "dgat/train/metrics.h"

namespace dgat::study {

/// One line of a study: options of which validation chooses one, together with the depth.
struct Row {
  std::string name;
  std::vector<std::shared_ptr<const train::Config>> candidates;  ///< most rows have one
  std::string failure;  ///< why there is no candidate; such a row stays in the table
};

/// A split on which the rows are measured: of the data set, or of one of several graphs.
struct Fold {
  TrialData data;
  int64_t split = 0;
};

/// Rows that are compared on the same folds.
struct Study {
  std::string dataset;
  std::vector<Fold> folds;
  std::vector<Row> rows;
};
/// All splits of one data set.
Study study_on(const TrialData& data, std::vector<Row> rows);

/// One candidate at one depth, over the choosing folds that all choices of the row have finished.
struct Choice {
  size_t candidate = 0;
  int64_t layers = 0;
  train::MeanStd val, test;
  std::string failure;  ///< why it was left out of the choice
};

struct RowResult {
  std::string name;
  std::string failure;          ///< no choice could be trained, and why
  std::vector<Choice> choices;  ///< candidates x depths
  size_t chosen = 0;            ///< the highest mean validation metric, the first on a tie
  std::shared_ptr<const train::Config> config;
  /// The chosen trials; folds[i] says where splits[i] was measured. Empty: not finished or failed.
  std::vector<TrialResult> splits;
  std::vector<size_t> folds;
  train::MeanStd train, val, test;
  double seconds = 0;           ///< of all finished trials of the row
  double seconds_per_step = 0;  ///< of the chosen ones
  int64_t peak_rss_bytes = 0;   ///< largest over the chosen trials
  int64_t trials = 0, trials_left = 0;

  bool finished() const { return !splits.empty(); }
  const Choice& choice() const { return choices.at(chosen); }
  /// Test metric by fold, NaN where there is none.
  std::vector<double> test_by_fold(size_t fold_count) const;
};

struct StudyResult {
  std::string dataset, metric;
  size_t folds = 0;
  size_t choosing = 0;       ///< how many folds, from the first, chose candidate and depth
  double test_to_train = 0;  ///< mean over the folds of test nodes / training nodes
  int64_t side_by_side = 1;  ///< the most trials that shared the machine
  int64_t threads = 0;       ///< the most of a trial; 0: the ledger does not say
  std::vector<RowResult> rows;

  /// The row with the highest mean test metric over the folds that all finished rows have; without
  /// such a fold, by the row's own mean. The first on a tie, none when nothing has finished.
  std::optional<size_t> best_row() const;
  double seconds() const;
  int64_t trials_left() const;
};

/// "AMD EPYC, 2 cores; 1 thread a trial; up to 2 trials side by side": beside every table of times.
std::string circumstances(const StudyResult& study);

/// How depth and candidate were chosen: "mean validation", and over which splits if not over all.
std::string chosen_by(const StudyResult& study);

struct StudyOptions {
  EngineOptions engine;
  /// Runs all rows on the first fold, then on the second. When a budget ends, the last folds of
  /// every row are missing, not the last rows.
  bool folds_first = false;
  /// How many folds, from the first, candidates and depths compete on. Only the winner runs on the
  /// others. 0: all folds.
  size_t choose_on = 0;
};

/// Runs every candidate of every row at every depth of its range on every fold (see choose_on).
/// Chooses by the mean validation metric, never by the test metric.
/// Throws: as run_trials().
std::vector<StudyResult> run_studies(std::span<const Study> studies, Ledger& ledger,
                                     InputStore& inputs, const StudyOptions& options = {});

}  // namespace dgat::study
