#include "dgat/study/study.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <utility>

namespace dgat::study {
namespace {

/// One candidate at one depth, and its outcome by fold; nothing where it was not asked for.
struct ChoiceOutcomes {
  Choice choice;
  std::vector<std::optional<TrialOutcome>> folds;
};
using RowOutcomes = std::vector<ChoiceOutcomes>;

/// Where a trial stands in its study.
struct Place {
  size_t study, row, choice, fold;
};
using Wanted = std::function<bool(const Place&)>;

/// The outcomes of several studies, by study and row.
class Board {
 public:
  explicit Board(std::span<const Study> studies) : studies_(studies) {
    for (const Study& study : studies) {
      std::vector<RowOutcomes>& rows = rows_.emplace_back();
      for (const Row& row : study.rows) rows.push_back(choices_of(row, study.folds.size()));
    }
  }

  const RowOutcomes& row(size_t study, size_t row) const { return rows_[study][row]; }

  /// Runs the wanted trials, or takes them from the ledger.
  void run(const Wanted& wanted, Ledger& ledger, InputStore& inputs, const StudyOptions& options) {
    std::vector<Place> places;
    const auto list = [&](size_t s, size_t r, size_t f) {
      for (size_t c = 0; c < rows_[s][r].size(); ++c) {
        if (wanted({s, r, c, f})) places.push_back({s, r, c, f});
      }
    };
    if (options.folds_first) {
      for (size_t f = 0; f < most_folds(); ++f) {
        for (size_t s = 0; s < studies_.size(); ++s) {
          if (f >= studies_[s].folds.size()) continue;
          for (size_t r = 0; r < rows_[s].size(); ++r) list(s, r, f);
        }
      }
    } else {
      for (size_t s = 0; s < studies_.size(); ++s) {
        for (size_t r = 0; r < rows_[s].size(); ++r) {
          for (size_t f = 0; f < studies_[s].folds.size(); ++f) list(s, r, f);
        }
      }
    }
    if (places.empty()) return;
    std::vector<Trial> trials;
    trials.reserve(places.size());
    for (const Place& place : places) trials.push_back(trial_at(place));
    std::vector<TrialOutcome> outcomes = run_trials(trials, ledger, inputs, options.engine);
    for (size_t t = 0; t < places.size(); ++t) {
      const Place& p = places[t];
      rows_[p.study][p.row][p.choice].folds[p.fold] = std::move(outcomes[t]);
    }
  }

 private:
  static RowOutcomes choices_of(const Row& row, size_t folds) {
    RowOutcomes choices;
    for (size_t c = 0; c < row.candidates.size(); ++c) {
      const train::LayerRange depths = row.candidates[c]->layers;
      for (int64_t layers = depths.first; layers <= depths.last; ++layers) {
        ChoiceOutcomes& added = choices.emplace_back();
        added.choice.candidate = c;
        added.choice.layers = layers;
        added.folds.resize(folds);
      }
    }
    return choices;
  }

  size_t most_folds() const {
    size_t most = 0;
    for (const Study& study : studies_) most = std::max(most, study.folds.size());
    return most;
  }

  Trial trial_at(const Place& place) const {
    const Study& study = studies_[place.study];
    const Fold& fold = study.folds[place.fold];
    const Choice& choice = rows_[place.study][place.row][place.choice].choice;
    return {fold.data, study.rows[place.row].candidates[choice.candidate], choice.layers,
            fold.split};
  }

  std::span<const Study> studies_;
  std::vector<std::vector<RowOutcomes>> rows_;
};

train::MeanStd over(const std::vector<TrialResult>& trials, double TrialResult::*metric) {
  std::vector<double> values;
  values.reserve(trials.size());
  for (const TrialResult& trial : trials) values.push_back(trial.*metric);
  return train::mean_std(values);
}

bool finished_on(const ChoiceOutcomes& each, size_t fold) {
  return each.folds[fold] && each.folds[fold]->result;
}

std::vector<TrialResult> results_on(const ChoiceOutcomes& outcomes,
                                    const std::vector<size_t>& folds) {
  std::vector<TrialResult> results;
  results.reserve(folds.size());
  for (const size_t f : folds) results.push_back(*outcomes.folds[f]->result);
  return results;
}

std::string first_failure(const ChoiceOutcomes& each, size_t begin, size_t end) {
  for (size_t f = begin; f < end; ++f) {
    if (each.folds[f] && !each.folds[f]->failure.empty()) return each.folds[f]->failure;
  }
  return "";
}

/// The first folds, those that choose, as far as every choice without a failure has finished them.
std::vector<size_t> common_folds(const RowOutcomes& all, size_t choosing) {
  std::vector<size_t> folds;
  for (size_t f = 0; f < choosing; ++f) {
    const bool finished = std::all_of(all.begin(), all.end(), [f](const ChoiceOutcomes& each) {
      return !each.choice.failure.empty() || finished_on(each, f);
    });
    if (finished) folds.push_back(f);
  }
  return folds;
}

void count_trials(const RowOutcomes& all, size_t choosing, size_t fold_count, RowResult& row) {
  bool later_asked = false;
  bool any_possible = false;
  for (const ChoiceOutcomes& each : all) {
    any_possible |= each.choice.failure.empty();
    for (size_t f = 0; f < fold_count; ++f) {
      if (f >= choosing && !each.folds[f]) continue;
      later_asked |= f >= choosing;
      ++row.trials;
      const bool failed = each.folds[f] && !each.folds[f]->failure.empty();
      if (finished_on(each, f)) {
        row.seconds += each.folds[f]->result->seconds;
      } else if (each.choice.failure.empty() && !failed) {
        ++row.trials_left;
      }
    }
  }
  if (!later_asked && any_possible) {  // the choice is not known yet
    row.trials += static_cast<int64_t>(fold_count - choosing);
    row.trials_left += static_cast<int64_t>(fold_count - choosing);
  }
}

RowResult judge(const Row& row, RowOutcomes all, size_t choosing, size_t fold_count) {
  RowResult result;
  result.name = row.name;
  result.failure = row.failure;
  // Out of the race by a failure on a fold that chooses; the others come after the choice.
  for (ChoiceOutcomes& each : all) {
    each.choice.failure = first_failure(each, 0, choosing);
  }
  count_trials(all, choosing, fold_count, result);
  std::vector<size_t> folds = common_folds(all, choosing);
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
  for (size_t f = choosing; f < fold_count; ++f) {
    if (finished_on(*best, f)) folds.push_back(f);
  }
  result.choices[result.chosen].failure = first_failure(*best, choosing, fold_count);
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

/// How many trials shared the machine and how many threads they had.
void note_circumstances(const RowOutcomes& row, StudyResult& study) {
  for (const ChoiceOutcomes& each : row) {
    for (size_t f = 0; f < each.folds.size(); ++f) {
      if (!finished_on(each, f)) continue;
      study.side_by_side = std::max(study.side_by_side, each.folds[f]->result->jobs);
      study.threads = std::max(study.threads, each.folds[f]->result->threads);
    }
  }
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

std::optional<size_t> StudyResult::best_row() const {
  std::vector<size_t> shared;
  for (size_t f = 0; f < folds; ++f) {
    const bool everywhere = std::all_of(rows.begin(), rows.end(), [f](const RowResult& row) {
      return !row.finished() || std::find(row.folds.begin(), row.folds.end(), f) != row.folds.end();
    });
    if (everywhere) shared.push_back(f);
  }
  const auto mean_of = [&](const RowResult& row) {
    if (shared.empty()) return row.test.mean;
    const std::vector<double> values = row.test_by_fold(folds);
    double sum = 0;
    for (const size_t f : shared) sum += values[f];
    return sum / static_cast<double>(shared.size());
  };
  std::optional<size_t> best;
  for (size_t r = 0; r < rows.size(); ++r) {
    if (rows[r].finished() && (!best || mean_of(rows[r]) > mean_of(rows[*best]))) best = r;
  }
  return best;
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

std::string chosen_by(const StudyResult& study) {
  if (study.choosing >= study.folds) return "mean validation";
  return fmt::format("mean validation over the first {}",
                     study.choosing == 1 ? "split" : fmt::format("{} splits", study.choosing));
}

std::vector<StudyResult> run_studies(std::span<const Study> studies, Ledger& ledger,
                                     InputStore& inputs, const StudyOptions& options) {
  const auto choosing = [&](size_t s) {
    const size_t folds = studies[s].folds.size();
    return options.choose_on > 0 ? std::min(options.choose_on, folds) : folds;
  };
  const auto judged = [&](const Board& board, size_t s, size_t r) {
    return judge(studies[s].rows[r], board.row(s, r), choosing(s), studies[s].folds.size());
  };
  Board board(studies);
  board.run([&](const Place& place) { return place.fold < choosing(place.study); }, ledger, inputs,
            options);
  // The other folds for the winners only, and only where the choice cannot change any more.
  std::map<std::pair<size_t, size_t>, size_t> winners;
  for (size_t s = 0; s < studies.size(); ++s) {
    const auto later = static_cast<int64_t>(studies[s].folds.size() - choosing(s));
    for (size_t r = 0; later > 0 && r < studies[s].rows.size(); ++r) {
      const RowResult row = judged(board, s, r);
      if (row.finished() && row.trials_left == later) winners[{s, r}] = row.chosen;
    }
  }
  board.run(
      [&](const Place& place) {
        const auto winner = winners.find({place.study, place.row});
        return place.fold >= choosing(place.study) && winner != winners.end() &&
               winner->second == place.choice;
      },
      ledger, inputs, options);

  std::vector<StudyResult> results;
  for (size_t s = 0; s < studies.size(); ++s) {
    StudyResult result = frame_of(studies[s]);
    result.choosing = choosing(s);
    for (size_t r = 0; r < studies[s].rows.size(); ++r) {
      note_circumstances(board.row(s, r), result);
      result.rows.push_back(judged(board, s, r));
      const RowResult& row = result.rows.back();
      if (result.metric.empty() && row.finished()) result.metric = row.splits.front().metric;
    }
    results.push_back(std::move(result));
  }
  return results;
}

}  // namespace dgat::study
