#include "dgat/study/race.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/study/engine.h"
#include "dgat/train/option_table.h"
#include "search_space.h"
#include "without_test.h"

namespace dgat::study {
namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int64_t kDeciders = 2000;   // validation nodes that should decide
constexpr int64_t kMostSplits = 10;   // and the most splits for it
constexpr size_t kMostEntrants = 64;  // of further ones, one would win by chance
constexpr size_t kFewest = 2;         // that make a race
/// Seconds of a step per arc or node and unit of width and depth, on one slow core: decides only
/// whether the first training is begun.
constexpr double kSlowStep = 2e-9;

/// The graph as it is, the best hub, the best add, the best of every other rewiring, the rest.
std::vector<Candidate> entrants(const Advice& advice) {
  const Candidate unchanged = advice.reference.candidate;
  const auto hub = rewire::parse_mode("hub"), add = rewire::parse_mode("add");
  std::vector<Candidate> hubs, adds, others, rest, seen = {unchanged};
  for (const CandidateScore& c : advice.candidates) {
    const Candidate& one = c.candidate;
    if (c.repeated || one == unchanged) continue;
    const bool known = std::ranges::any_of(seen, [&](const Candidate& other) {
      return other.mode == one.mode && other.epsilon == one.epsilon;
    });
    seen.push_back(one);
    auto& kind = known ? rest : one.mode == hub ? hubs : one.mode == add ? adds : others;
    kind.push_back(one);
  }
  std::vector<Candidate> order = {unchanged};
  for (const auto* kind : {&hubs, &adds, &others, &rest}) {
    order.insert(order.end(), kind->begin(), kind->end());
  }
  order.resize(std::min(order.size(), kMostEntrants));
  return order;
}

/// A quarter of the steps on one split, all of them there, on three splits, on all; no repeats.
std::vector<Rung> make_levels(int64_t steps, int64_t splits) {
  constexpr int64_t kFewSplits = 3;
  std::vector<Rung> levels;
  for (const Rung& level : {Rung{std::max<int64_t>(1, steps / 4), 1}, Rung{steps, 1},
                            Rung{steps, std::min(kFewSplits, splits)}, Rung{steps, splits}}) {
    if (levels.empty() || !(levels.back() == level)) levels.push_back(level);
  }
  return levels;
}

std::vector<int64_t> splits_of(const data::Dataset& dataset, int64_t split) {
  const auto count = std::ssize(dataset.splits);
  if (split >= count || count == 0) throw_input("race: split {} is outside [0, {})", split, count);
  if (split >= 0) return {split};
  const int64_t nodes = std::max<int64_t>(1, std::ssize(dataset.splits.front().val));
  const int64_t wanted = std::clamp<int64_t>((kDeciders + nodes - 1) / nodes, 2, kMostSplits);
  std::vector<int64_t> splits(static_cast<size_t>(std::min(wanted, count)));
  std::iota(splits.begin(), splits.end(), 0);
  return splits;
}

class Racing {
 public:
  Racing(const data::Dataset& dataset, const Advice& advice, const RaceOptions& options,
         spectral::SpectralCache& cache)
      : options_(options),
        inputs_(cache),
        data_(trial_data(without_test(dataset))),
        base_(train::resolve(race_settings(options.settings))),
        splits_(splits_of(dataset, options.split)) {
    for (const Candidate& candidate : entrants(advice)) field_.emplace_back().candidate = candidate;
    race_.levels = make_levels(base_.steps, std::ssize(splits_));
    engine_.label = fmt::format("race on {}", dataset.name);
    engine_.jobs = options.jobs;
    if (options.trainings > 0 || options.clock || !std::isfinite(options.seconds)) return;
    engine_.deadline = SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(
                                                std::chrono::duration<double>(options.seconds));
  }

  Race run() {
    compete();
    const auto count = std::ssize(field_);
    std::erase_if(field_, [](const Raced& r) { return r.level < 0 && r.failure.empty(); });
    race_.left_out = count - std::ssize(field_);
    if (field_.size() >= kFewest && field_.front().level >= 0) judge();
    race_.seconds = now() - start_;
    race_.reason = explain();
    return std::move(race_);
  }

 private:
  // The unchanged graph stays at the front of the field; the others follow, best first.

  void compete() {
    if (!affordable()) return;
    // Two short trainings say what one costs.
    if (options_.trainings == 0 && !climb(kFewest, 0)) return;
    int64_t level = first_level();
    size_t going = field_.size();
    while (true) {
      going = fitting(going, level);
      if (going < kFewest || !climb(going, level) || last(level)) return;
      ++level;
      going = std::max(kFewest, (going + 1) / 2);
    }
  }

  bool last(int64_t level) const { return level + 1 == std::ssize(race_.levels); }
  const Rung& rung(int64_t level) const { return race_.levels[static_cast<size_t>(level)]; }

  double now() const {
    if (options_.clock) return options_.clock();
    return std::chrono::duration<double>(SteadyClock::now().time_since_epoch()).count();
  }

  // ---- the budget, in trainings or seconds ----

  /// Whether the first short trainings can be expected to end within half of the time.
  bool affordable() const {
    if (options_.trainings > 0) return true;
    const graph::CsrGraph& graph = data_.dataset->graph;
    const double step = kSlowStep * static_cast<double>(graph.arcs() + graph.nodes()) *
                        static_cast<double>(base_.hidden * base_.layers.first);
    return 2 * step * static_cast<double>(rung(0).steps) < options_.seconds / 2;
  }

  double left() const {
    if (options_.trainings > 0) return static_cast<double>(options_.trainings - race_.trainings);
    return options_.seconds - (now() - start_);
  }

  /// Splits that a candidate must be trained on to enter a level: not those that it has had.
  int64_t missing(const Raced& raced, int64_t level) const {
    const bool more = raced.level >= 0 && rung(raced.level).steps == rung(level).steps;
    return std::max<int64_t>(0, rung(level).splits - (more ? rung(raced.level).splits : 0));
  }

  /// How many of the first `most` may enter the level: half of what is left is for further levels.
  size_t fitting(size_t most, int64_t level) const {
    double room = (last(level) ? 1 : 0.5) * left();
    size_t going = 0;
    for (; going < most; ++going) {
      const auto trainings = static_cast<double>(missing(field_[going], level));
      room -= options_.trainings > 0
                  ? trainings
                  : trainings * static_cast<double>(rung(level).steps) * seconds_per_step_;
      if (room < 0) break;
    }
    return going;
  }

  /// The highest level that all can enter, or the lowest.
  int64_t first_level() const {
    int64_t level = std::ssize(race_.levels) - 1;
    while (level > 0 && fitting(field_.size(), level) < field_.size()) --level;
    return level;
  }

  // ---- training ----

  /// Trains the first `count` of the field at a level and sorts the field. False when the time was
  /// up before all had run, or when the unchanged graph cannot be trained.
  bool climb(size_t count, int64_t level) {
    const double begin = now();
    count = std::min(count, field_.size());
    std::vector<Trial> trials;
    int64_t steps = 0;
    for (size_t c = 0; c < count; ++c) {
      const auto config = configuration(field_[c].candidate, rung(level).steps);
      const int64_t added = missing(field_[c], level);
      race_.trainings += added;
      steps += added * config->steps;
      for (int64_t s = 0; s < rung(level).splits; ++s) {
        trials.push_back({data_, config, config->layers.first, splits_[static_cast<size_t>(s)]});
      }
    }
    const std::vector<TrialOutcome> outcomes = run_trials(trials, ledger_, inputs_, engine_);
    const bool complete = record(count, level, outcomes);
    if (steps > 0) seconds_per_step_ = (now() - begin) / static_cast<double>(steps);
    std::stable_sort(field_.begin() + 1, field_.end(), better);
    return complete && field_.front().failure.empty();
  }

  std::shared_ptr<const train::Config> configuration(const Candidate& candidate,
                                                     int64_t steps) const {
    train::Settings settings = race_settings(options_.settings);
    for (const auto& [key, value] : graph_settings(candidate, base_)) settings[key] = value;
    settings["steps"] = fmt::format("{}", steps);
    return std::make_shared<const train::Config>(train::resolve(settings));
  }

  /// A level counts when at least two have finished it, the unchanged graph among them.
  bool record(size_t count, int64_t level, const std::vector<TrialOutcome>& outcomes) {
    const auto splits = static_cast<size_t>(rung(level).splits);
    std::vector<std::pair<size_t, double>> finished;
    bool complete = true;
    for (size_t c = 0; c < count; ++c) {
      double sum = 0;
      size_t results = 0;
      for (size_t s = 0; s < splits; ++s) {
        const TrialOutcome& outcome = outcomes[c * splits + s];
        if (!outcome.failure.empty()) field_[c].failure = outcome.failure;
        if (!outcome.result || !std::isfinite(outcome.result->val)) continue;
        race_.metric = outcome.result->metric;
        sum += outcome.result->val;
        ++results;
      }
      if (results == splits) finished.emplace_back(c, sum / static_cast<double>(splits));
      complete = complete && (results == splits || !field_[c].failure.empty());
    }
    if (finished.size() < std::min(kFewest, count) || finished.front().first != 0) return false;
    for (const auto& [c, val] : finished) {
      field_[c].level = level;
      field_[c].val = val;
    }
    return complete;
  }

  static bool better(const Raced& a, const Raced& b) {
    if (a.failure.empty() != b.failure.empty()) return a.failure.empty();
    return a.level != b.level ? a.level > b.level : a.val > b.val;
  }

  // ---- the result ----

  void judge() {
    const Raced unchanged = field_.front();
    std::stable_sort(field_.begin(), field_.end(), better);  // the unchanged graph wins a tie
    const Raced& best = field_.front();
    for (int64_t s = 0; s < rung(best.level).splits; ++s) {
      const auto split = static_cast<size_t>(splits_[static_cast<size_t>(s)]);
      race_.validation_nodes += std::ssize(data_.dataset->splits[split].val);
    }
    const double nodes = static_cast<double>(std::max<int64_t>(1, race_.validation_nodes));
    race_.gain = best.val - unchanged.val;
    race_.error = std::sqrt(std::max(0.0, best.val * (1 - best.val)) / nodes);
    const double chance = std::sqrt(2 * std::log(static_cast<double>(field_.size())));
    race_.clear = race_.gain > std::max(1.0, chance) * race_.error;
    race_.candidates = std::move(field_);
  }

  std::string explain() const {
    if (!race_.run()) {
      return "There was no race: short trainings of two candidates do not fit into its budget. "
             "A larger --race, or `dgat tune`, compares them.";
    }
    const Raced& best = race_.candidates.front();
    const char* metric = race_.metric == "roc_auc" ? "ROC AUC" : race_.metric.c_str();
    std::string text = fmt::format(
        "In a race of {} candidates ({} short trainings of a network of width {} and depth {}), {} "
        "came first: {} {:.1f}% on {} validation nodes after {} steps",
        race_.candidates.size(), race_.trainings, base_.hidden, base_.layers.first,
        to_string(best.candidate), metric, 100 * best.val, race_.validation_nodes,
        rung(best.level).steps);
    const bool unchanged = race_.gain == 0;
    text += unchanged ? ", no less than any rewiring."
                      : fmt::format(
                            ", {:.1f} points more than the graph as it is (gamma 1, no rewiring).",
                            100 * race_.gain);
    if (!unchanged && !race_.clear) {
      text += fmt::format(
          " With a standard error of {:.1f} points, the best of {} equal candidates can lead by as "
          "much.",
          100 * race_.error, race_.candidates.size());
    }
    if (race_.left_out > 0) {
      text += fmt::format(" The budget had no training for {} further candidates.", race_.left_out);
    }
    return text;
  }

  const RaceOptions& options_;
  InputStore inputs_;
  Ledger ledger_;
  double start_ = now();
  TrialData data_;
  train::Config base_;
  std::vector<int64_t> splits_;
  std::vector<Raced> field_;
  EngineOptions engine_;
  Race race_;
  double seconds_per_step_ = 0;
};

}  // namespace

RaceOptions race_of(const train::Config& config) {
  RaceOptions race;
  for (const char* key : {"model", "recipe", "components", "seed"}) {
    race.settings[key] = train::find_option(key).get(config);
  }
  race.settings["laplacian"] = "tuned";  // the advice is about gamma and alpha
  return race;
}

train::Settings race_settings(const train::Settings& settings) {
  const auto at = settings.find("recipe");
  const std::string recipe = at == settings.end() ? "residual" : at->second;
  train::Settings all = settings;
  all.insert({{"hidden", "64"},
              {"layers", "2"},
              {"lr", recipe == "residual" ? "0.002" : "0.01"},
              {"steps", recipe == "residual" ? "60" : "100"},
              {"eval_every", "3"}});
  return all;
}

std::vector<double> race_gammas() {
  return {0.03, 0.1, 0.3, 1};
}

Race race(const data::Dataset& dataset, const Advice& advice, const RaceOptions& options,
          spectral::SpectralCache& cache) {
  return Racing(dataset, advice, options, cache).run();
}

}  // namespace dgat::study
