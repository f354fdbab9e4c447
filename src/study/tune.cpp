#include "dgat/study/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/core/random.h"
#include "dgat/study/engine.h"
#include "search_space.h"
#include "without_test.h"

namespace dgat::study {
namespace {

constexpr int64_t kThird = 3;  // one of this many advances to the next rung
constexpr size_t kBatch = 4;   // trials decided on at a time, whatever the number of jobs
constexpr int kDraws = 50;     // attempts to change rates into something new

/// A candidate about to enter a rung.
struct Entry {
  size_t candidate;
  size_t rung;
};

class Search {
 public:
  Search(const data::Dataset& dataset, const TuneOptions& options, Ledger& ledger,
         spectral::SpectralCache& cache)
      : options_(options),
        ledger_(ledger),
        inputs_(cache),
        start_(std::chrono::steady_clock::now()),
        data_(trial_data(without_test(dataset))),
        space_(make_space(*data_.dataset, options, cache)),
        rungs_(make_rungs(space_.base.steps, std::ssize(dataset.splits),
                          std::ssize(dataset.splits.front().val))) {
    engine_.label = fmt::format("tune {} on {}", space_.base.model, dataset.name);
    engine_.jobs = options.jobs;
    if (!options.folder.empty()) engine_.keeper = keep_long_trials(options.folder);
    if (!std::isfinite(options.budget_seconds)) return;
    engine_.deadline = start_ + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                    std::chrono::duration<double>(options.budget_seconds));
  }

  TuneResult run() {
    TuneResult result;
    try {
      while (true) {
        std::vector<Entry> batch = next_batch();
        if (batch.empty()) {
          result.exhausted = true;
          break;
        }
        const bool last = cut_to_budget(batch);
        if (!try_batch(batch) || last) break;
      }
    } catch (const Interrupted&) {
      result.interrupted = true;
    }
    describe(result);
    return result;
  }

 private:
  // ---- which trials come next ----

  std::vector<Entry> next_batch() {
    std::vector<Entry> batch;
    std::set<size_t> busy;
    while (batch.size() < kBatch) {
      const Entry entry = promotion(busy);
      if (entry.rung == 0 && !fresh()) break;
      const Entry chosen =
          entry.rung > 0 ? after_reference(entry, busy) : Entry{tried_.size() - 1, 0};
      busy.insert(chosen.candidate);
      batch.push_back(chosen);
    }
    if (batch.empty()) last_climb(batch);
    return batch;
  }

  /// Trainings that a candidate needs to enter a rung: not those that the rung before has had.
  int64_t cost(size_t rung) const {
    const bool more_splits = rung > 0 && rungs_[rung - 1].steps == rungs_[rung].steps;
    return rungs_[rung].splits - (more_splits ? rungs_[rung - 1].splits : 0);
  }

  /// Leaves out what the budget of trials does not cover; true when that is something.
  bool cut_to_budget(std::vector<Entry>& batch) {
    if (options_.trials == 0) return false;
    for (size_t e = 0; e < batch.size(); ++e) {
      if (trials_ + cost(batch[e].rung) > options_.trials) {
        batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(e), batch.end());
        return true;
      }
      trials_ += cost(batch[e].rung);
    }
    return trials_ == options_.trials;
  }

  /// Candidates that finished a rung, best first; the older one on a tie.
  std::vector<size_t> finished(size_t rung) const {
    std::vector<size_t> there;
    for (size_t c = 0; c < tried_.size(); ++c) {
      if (tried_[c].values.size() > rung) there.push_back(c);
    }
    std::stable_sort(there.begin(), there.end(), [&](size_t a, size_t b) {
      return tried_[a].values[rung] > tried_[b].values[rung];
    });
    return there;
  }

  /// A candidate of the best third of the highest rung that has one to spare; rung 0: none.
  Entry promotion(const std::set<size_t>& busy) const {
    for (size_t rung = rungs_.size() - 1; rung-- > 0;) {
      const std::vector<size_t> there = finished(rung);
      for (size_t place = 0; place < there.size() / size_t{kThird}; ++place) {
        const Tried& t = tried_[there[place]];
        if (t.values.size() == rung + 1 && t.failure.empty() && !busy.contains(there[place])) {
          return {there[place], rung + 1};
        }
      }
    }
    return {0, 0};
  }

  /// The first candidate is what the others have to beat, so it enters every rung before them.
  Entry after_reference(const Entry& entry, const std::set<size_t>& busy) const {
    const Tried& reference = tried_.front();
    const bool missing = reference.failure.empty() && reference.values.size() <= entry.rung;
    return missing && !busy.contains(0) ? Entry{0, reference.values.size()} : entry;
  }

  /// Nothing is left to try: the best one goes all the way.
  void last_climb(std::vector<Entry>& batch) const {
    const std::vector<size_t> order = ranking();
    if (order.empty()) return;
    const Tried& best = tried_[order.front()];
    if (best.values.size() < rungs_.size()) {
      batch.push_back(after_reference({order.front(), best.values.size()}, {}));
    }
  }

  /// Appends a new candidate; false when there is none left.
  bool fresh() {
    while (!tried_.empty() && next_rate_ < space_.learning_rates.size()) {
      train::Settings choices = tried_.front().choices;
      choices["lr"] = space_.learning_rates[next_rate_++];
      if (seen_.contains(spelled(choices))) continue;
      append(choices, tried_.front().advice_rank);
      return true;
    }
    const bool other_rates = tried_.size() % 2 == 1 || next_graph_ == space_.graphs.size();
    if (other_rates && changed_rates()) return true;
    if (next_graph_ < space_.graphs.size()) {
      append(with_best_rates(space_.graphs[next_graph_]), space_.advice_rank[next_graph_]);
      ++next_graph_;
      return true;
    }
    return changed_rates();
  }

  /// A graph is to be compared with others, not its rates with better ones found meanwhile.
  train::Settings with_best_rates(const train::Settings& graph) const {
    const std::vector<size_t> order = ranking();
    train::Settings choices = graph;
    const train::Settings& rates = order.empty() ? space_.start : tried_[order.front()].choices;
    for (const auto& [key, value] : rates) {
      if (space_.rates.contains(key)) choices.emplace(key, value);
    }
    return choices;
  }

  /// The best candidate so far with one or two rates changed.
  bool changed_rates() {
    const std::vector<size_t> order = ranking();
    if (order.empty() || space_.rates.empty()) return false;
    const Tried& best = tried_[order.front()];
    Random random(space_.base.seed, 0x70BE + draws_++);
    for (int attempt = 0; attempt < kDraws; ++attempt) {
      train::Settings choices = best.choices;
      for (uint64_t change = 0; change <= random.below(2); ++change) {
        const auto& [key, values] = *std::next(
            space_.rates.begin(), static_cast<std::ptrdiff_t>(random.below(space_.rates.size())));
        choices[key] = values[random.below(values.size())];
      }
      if (seen_.contains(spelled(choices))) continue;
      append(choices, best.advice_rank);
      return true;
    }
    return any_neighbour(order);
  }

  /// Chance found nothing new around the best: in the order of the candidates, the first change of
  /// a single rate that was not tried. Without one, every combination has been.
  bool any_neighbour(const std::vector<size_t>& order) {
    for (const size_t c : order) {
      if (surrounded_.contains(c)) continue;
      for (const auto& [key, values] : space_.rates) {
        for (const std::string& value : values) {
          train::Settings choices = tried_[c].choices;
          choices[key] = value;
          if (seen_.contains(spelled(choices))) continue;
          append(choices, tried_[c].advice_rank);
          return true;
        }
      }
      surrounded_.insert(c);
    }
    return false;
  }

  void append(const train::Settings& choices, int64_t rank) {
    Tried candidate;
    candidate.choices = choices;
    candidate.advice_rank = rank;
    seen_.insert(spelled(choices));
    tried_.push_back(std::move(candidate));
  }

  /// The resolved options: a rate set to its default is no change.
  std::string spelled(const train::Settings& choices) const {
    return train::to_yaml(configuration(choices, rungs_.front().steps));
  }

  // ---- running them ----

  train::Config configuration(const train::Settings& choices, int64_t steps) const {
    train::Settings settings = options_.settings;
    settings["layers"] = fmt::format("{}", space_.base.layers.first);
    settings["steps"] = fmt::format("{}", steps);
    for (const auto& [key, value] : choices) settings[key] = value;
    return train::resolve(settings, *data_.dataset);
  }

  /// False when the time was up before all of them had run.
  bool try_batch(const std::vector<Entry>& batch) {
    std::vector<Trial> trials;
    for (const Entry& entry : batch) {
      const Rung& rung = rungs_[entry.rung];
      const auto config = std::make_shared<const train::Config>(
          configuration(tried_[entry.candidate].choices, rung.steps));
      for (int64_t split = 0; split < rung.splits; ++split) {
        trials.push_back({data_, config, config->layers.first, split});
      }
    }
    const std::vector<TrialOutcome> outcomes = run_trials(trials, ledger_, inputs_, engine_);
    bool complete = true;
    size_t next = 0;
    for (const Entry& entry : batch) {
      Tried& t = tried_[entry.candidate];
      double sum = 0;
      bool all = true;
      const int64_t splits = rungs_[entry.rung].splits;
      for (int64_t split = 0; split < splits; ++split) {
        const TrialOutcome& outcome = outcomes[next++];
        if (outcome.result) {
          metric_ = outcome.result->metric;
          sum += outcome.result->val;
        } else {
          all = false;
          if (!outcome.failure.empty()) t.failure = outcome.failure;
        }
      }
      if (all) t.values.push_back(sum / static_cast<double>(splits));
      complete = complete && (all || !t.failure.empty());
    }
    return complete;
  }

  // ---- the result ----

  /// Best first: rungs reached, then the value at the highest of them; rungs that the first
  /// candidate has not finished do not count.
  std::vector<size_t> ranking() const {
    std::vector<size_t> order;
    size_t counted = rungs_.size();
    if (!tried_.empty() && tried_.front().failure.empty()) counted = tried_.front().values.size();
    if (counted == 0) counted = 1;  // interrupted in the first batch
    for (size_t c = 0; c < tried_.size(); ++c) {
      if (!tried_[c].values.empty() && tried_[c].failure.empty()) order.push_back(c);
    }
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      const auto &x = tried_[a].values, &y = tried_[b].values;
      const size_t m = std::min(x.size(), counted), n = std::min(y.size(), counted);
      return m != n ? m > n : x[m - 1] > y[n - 1];
    });
    return order;
  }

  void describe(TuneResult& result) const {
    const std::vector<size_t> order = ranking();
    if (order.empty()) {
      for (const Tried& t : tried_) {
        if (!t.failure.empty()) throw_compute("tune: no candidate could be trained: {}", t.failure);
      }
      if (result.interrupted)
        throw Interrupted("tune: stopped before the first trial was finished");
      if (options_.trials > 0 && options_.trials < rungs_.front().splits) {
        throw_input("tune: --trials {} is less than the first candidate needs, {}; raise it",
                    options_.trials, rungs_.front().splits);
      }
      throw_compute(
          "tune: the budget of {} ended before the first candidate had its {} trials; the same "
          "command continues with those that are kept, or raise --budget",
          format_duration(options_.budget_seconds), rungs_.front().splits);
    }
    for (const size_t c : order) result.tried.push_back(tried_[c]);
    for (const Tried& t : tried_) {
      if (!t.failure.empty()) result.tried.push_back(t);
    }
    result.dataset = data_.dataset->name;
    result.model = space_.base.model;
    result.metric = metric_;
    result.rungs = rungs_;
    result.repeated = space_.repeated;
    result.winner = configuration(result.tried.front().choices, space_.base.steps);
    result.gammas = sensitivity();
    for (const Tried& t : tried_) {
      for (size_t r = 0; r < t.values.size(); ++r) result.trials += cost(r);
    }
    result.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

  std::vector<GammaSensitivity> sensitivity() const {
    std::map<double, GammaSensitivity> by_gamma;
    for (const Tried& t : tried_) {
      const auto gamma = t.choices.find("gamma");
      if (gamma == t.choices.end() || t.values.empty()) continue;
      GammaSensitivity& s =
          by_gamma.try_emplace(std::stod(gamma->second), GammaSensitivity{}).first->second;
      s.gamma = std::stod(gamma->second);
      s.best = s.candidates == 0 ? t.values.front() : std::max(s.best, t.values.front());
      ++s.candidates;
      s.mean += (t.values.front() - s.mean) / static_cast<double>(s.candidates);
    }
    std::vector<GammaSensitivity> list;
    list.reserve(by_gamma.size());
    for (const auto& [gamma, s] : by_gamma) list.push_back(s);
    return list;
  }

  const TuneOptions& options_;
  Ledger& ledger_;
  InputStore inputs_;
  std::chrono::steady_clock::time_point start_;
  TrialData data_;
  SearchSpace space_;
  std::vector<Rung> rungs_;
  EngineOptions engine_;
  std::vector<Tried> tried_;
  std::set<std::string> seen_;
  std::set<size_t> surrounded_;  // candidates of which every single change of a rate was tried
  std::string metric_;
  size_t next_graph_ = 0, next_rate_ = 0;
  int64_t trials_ = 0;  // begun, where their number is limited
  uint64_t draws_ = 0;
};

}  // namespace

std::vector<Rung> make_rungs(int64_t steps, int64_t splits, int64_t validation_nodes) {
  constexpr int64_t kFewestSteps = 50, kJudges = 1000;
  const int64_t nodes = std::max<int64_t>(1, validation_nodes);
  const int64_t few = std::clamp<int64_t>((kJudges + nodes - 1) / nodes, 1, splits);
  std::vector<Rung> rungs;
  for (const Rung& rung :
       {Rung{std::clamp(steps / 4, std::min(kFewestSteps, steps), steps), few}, Rung{steps, few},
        Rung{steps, std::min(kThird * few, splits)}, Rung{steps, splits}}) {
    if (rungs.empty() || !(rungs.back() == rung)) rungs.push_back(rung);
  }
  return rungs;
}

TuneResult tune(const data::Dataset& dataset, const TuneOptions& options, Ledger& ledger,
                spectral::SpectralCache& cache) {
  if (dataset.splits.empty()) throw_input("tune: {} has no splits; use --split", dataset.name);
  return Search(dataset, options, ledger, cache).run();
}

}  // namespace dgat::study
