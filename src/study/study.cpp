#include "dgat/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace dgat::study {
namespace {

/// Where a trial stands in its study.
struct Place {
  size_t study, row, candidate, fold;
  int64_t layers;
};

void list_row(const Study& study, Place place, std::vector<Trial>& trials,
              std::vector<Place>& places) {
  const Fold& fold = study.folds[place.fold];
  const Row& row = study.rows[place.row];
  for (place.candidate = 0; place.candidate < row.candidates.size(); ++place.candidate) {
    const auto& config = row.candidates[place.candidate];
    for (place.layers = config->layers.first; place.layers <= config->layers.last; ++place.layers) {
      trials.push_back({fold.data, config, place.layers, fold.split});
      places.push_back(place);
    }
  }
}

void list_trials(std::span<const Study> studies, bool folds_first, std::vector<Trial>& trials,
                 std::vector<Place>& places) {
  if (folds_first) {
    size_t most = 0;
    for (const Study& study : studies) most = std::max(most, study.folds.size());
    for (size_t f = 0; f < most; ++f) {
      for (size_t s = 0; s < studies.size(); ++s) {
        if (f >= studies[s].folds.size()) continue;
        for (size_t r = 0; r < studies[s].rows.size(); ++r) {
          list_row(studies[s], {s, r, 0, f, 0}, trials, places);
        }
      }
    }
    return;
  }
  for (size_t s = 0; s < studies.size(); ++s) {
    for (size_t r = 0; r < studies[s].rows.size(); ++r) {
      for (size_t f = 0; f < studies[s].folds.size(); ++f) {
        list_row(studies[s], {s, r, 0, f, 0}, trials, places);
      }
    }
  }
}

/// The outcomes of one candidate at one depth, by fold.
struct ChoiceOutcomes {
  Choice choice;
  std::vector<const TrialOutcome*> folds;
};

train::MeanStd over(const std::vector<TrialResult>& trials, double TrialResult::*metric) {
  std::vector<double> values;
  values.reserve(trials.size());
  for (const TrialResult& trial : trials) values.push_back(trial.*metric);
  return train::mean_std(values);
}

std::vector<TrialResult> results_on(const ChoiceOutcomes& outcomes,
                                    const std::vector<size_t>& folds) {
  std::vector<TrialResult> results;
  results.reserve(folds.size());
  for (const size_t f : folds) results.push_back(*outcomes.folds[f]->result);
  return results;
}

/// Folds that every choice without a failure has finished.
std::vector<size_t> common_folds(const std::vector<ChoiceOutcomes>& all, size_t fold_count) {
  std::vector<size_t> folds;
  for (size_t f = 0; f < fold_count; ++f) {
    const bool finished = std::all_of(all.begin(), all.end(), [f](const ChoiceOutcomes& each) {
      return !each.choice.failure.empty() || each.folds[f]->result.has_value();
    });
    if (finished) folds.push_back(f);
  }
  return folds;
}

void count_trials(const std::vector<ChoiceOutcomes>& all, RowResult& row) {
  for (const ChoiceOutcomes& each : all) {
    for (const TrialOutcome* outcome : each.folds) {
      ++row.trials;
      if (outcome->result) {
        row.seconds += outcome->result->seconds;
      } else if (each.choice.failure.empty()) {
        ++row.trials_left;
      }
    }
  }
}

RowResult judge(const Row& row, std::vector<ChoiceOutcomes> all, size_t fold_count) {
  RowResult result;
  result.name = row.name;
  result.failure = row.failure;
  for (ChoiceOutcomes& each : all) {
    for (const TrialOutcome* outcome : each.folds) {
      if (each.choice.failure.empty()) each.choice.failure = outcome->failure;
    }
  }
  count_trials(all, result);
  const std::vector<size_t> folds = common_folds(all, fold_count);
  const ChoiceOutcomes* best = nullptr;
  for (ChoiceOutcomes& each : all) {
    if (each.choice.failure.empty() && !folds.empty()) {
      const std::vector<TrialResult> trials = results_on(each, folds);
      each.choice.val = over(trials, &TrialResult::val);
      each.choice.test = over(trials, &TrialResult::test);
      if (best == nullptr || each.choice.val.mean > best->choice.val.mean) {
        best = &each;
        result.chosen = result.choices.size();
      }
    }
    result.choices.push_back(each.choice);
  }
  const bool all_failed =
      !all.empty() && std::all_of(all.begin(), all.end(), [](const ChoiceOutcomes& each) {
        return !each.choice.failure.empty();
      });
  if (all_failed) result.failure = all.front().choice.failure;
  if (best == nullptr) return result;
  result.config = row.candidates[best->choice.candidate];
  result.folds = folds;
  result.splits = results_on(*best, folds);
  result.train = over(result.splits, &TrialResult::train);
  result.val = over(result.splits, &TrialResult::val);
  result.test = over(result.splits, &TrialResult::test);
  double seconds = 0, steps = 0;
  for (const TrialResult& trial : result.splits) {
    seconds += trial.seconds;
    steps += static_cast<double>(trial.steps);
    result.peak_rss_bytes = std::max(result.peak_rss_bytes, trial.peak_rss_bytes);
  }
  result.seconds_per_step = steps > 0 ? seconds / steps : 0;
  return result;
}

StudyResult frame_of(const Study& study) {
  StudyResult result;
  result.dataset = study.dataset;
  result.folds = study.folds.size();
  for (const Fold& fold : study.folds) {
    const data::Split& split = fold.data.dataset->splits.at(static_cast<size_t>(fold.split));
    result.test_to_train += static_cast<double>(split.test.size()) /
                            static_cast<double>(std::max<size_t>(1, split.train.size())) /
                            static_cast<double>(study.folds.size());
  }
  return result;
}

}  // namespace

Study study_on(const TrialData& data, std::vector<Row> rows) {
  Study study{data.dataset->name, {}, std::move(rows)};
  for (size_t s = 0; s < data.dataset->splits.size(); ++s) {
    study.folds.push_back({data, static_cast<int64_t>(s)});
  }
  return study;
}

std::vector<double> RowResult::test_by_fold(size_t fold_count) const {
  std::vector<double> values(fold_count, std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < folds.size(); ++i) values[folds[i]] = splits[i].test;
  return values;
}

double StudyResult::seconds() const {
  return std::accumulate(rows.begin(), rows.end(), 0.0,
                         [](double sum, const RowResult& row) { return sum + row.seconds; });
}

int64_t StudyResult::trials_left() const {
  return std::accumulate(rows.begin(), rows.end(), int64_t{0},
                         [](int64_t sum, const RowResult& row) { return sum + row.trials_left; });
}

std::string circumstances(const StudyResult& study) {
  std::string text = machine_description();
  if (study.threads > 0) {
    text += fmt::format("; {} thread{} a trial", study.threads, study.threads == 1 ? "" : "s");
  }
  if (study.side_by_side > 1) {
    text += fmt::format("; up to {} trials side by side share time and memory", study.side_by_side);
  }
  return text;
}

std::vector<StudyResult> run_studies(std::span<const Study> studies, Ledger& ledger,
                                     spectral::SpectralCache& cache, const StudyOptions& options) {
  std::vector<Trial> trials;
  std::vector<Place> places;
  list_trials(studies, options.folds_first, trials, places);
  const std::vector<TrialOutcome> outcomes = run_trials(trials, ledger, cache, options.runner);

  std::vector<StudyResult> results;
  for (size_t s = 0; s < studies.size(); ++s) {
    const size_t folds = studies[s].folds.size();
    StudyResult result = frame_of(studies[s]);
    std::vector<std::vector<ChoiceOutcomes>> rows(studies[s].rows.size());
    for (size_t t = 0; t < trials.size(); ++t) {
      const Place& place = places[t];
      if (place.study != s) continue;
      auto& choices = rows[place.row];
      auto at = std::find_if(choices.begin(), choices.end(), [&](const ChoiceOutcomes& each) {
        return each.choice.candidate == place.candidate && each.choice.layers == place.layers;
      });
      if (at == choices.end()) {
        ChoiceOutcomes& added = choices.emplace_back();
        added.choice.candidate = place.candidate;
        added.choice.layers = place.layers;
        added.folds.resize(folds);
        at = choices.end() - 1;
      }
      at->folds[place.fold] = &outcomes[t];
      if (outcomes[t].result) {
        result.side_by_side = std::max(result.side_by_side, outcomes[t].result->jobs);
        result.threads = std::max(result.threads, outcomes[t].result->threads);
      }
    }
    for (size_t r = 0; r < rows.size(); ++r) {
      result.rows.push_back(judge(studies[s].rows[r], std::move(rows[r]), folds));
      const RowResult& row = result.rows.back();
      if (result.metric.empty() && row.finished()) result.metric = row.splits.front().metric;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace dgat::study
