#include "dgat/study/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <set>
#include <thread>
#include <unordered_map>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/memory_limits.h"
#include "dgat/core/parallel.h"
#include "dgat/core/process_memory.h"
#include "dgat/core/progress.h"
#include "dgat/dist/communicator.h"
#include "dgat/tensor/blas.h"
#include "dgat/tensor/pool.h"

namespace dgat::study {
namespace fs = std::filesystem;

namespace {

/// A trial to run, and its key.
struct Task {
  const Trial* trial;
  std::string key;
};

class LongTrials final : public TrialKeeper {
 public:
  explicit LongTrials(fs::path folder) : folder_(std::move(folder)) {}

  train::TrainHooks hooks(const Trial& trial, const std::string& key) override {
    train::TrainHooks hooks;
    if (is_small(trial)) return hooks;
    fs::create_directories(folder_);
    hooks.checkpoint = checkpoint(key);
    hooks.checkpoint_is_optional = true;  // it saves time; the ledger is what counts
    return hooks;
  }

  void recorded(const Trial&, const std::string& key) override {
    std::error_code ignored;
    fs::remove(checkpoint(key), ignored);
  }

 private:
  fs::path checkpoint(const std::string& key) const { return folder_ / (key + ".safetensors"); }
  fs::path folder_;
};

/// Runs tasks as workers ask for them.
class Crew {
 public:
  Crew(Ledger& ledger, InputStore& inputs, const EngineOptions& options, int64_t trials,
       int64_t steps)
      : ledger_(ledger),
        inputs_(inputs),
        options_(options),
        trials_(trials),
        progress_(options.label, steps) {}

  void run(const std::vector<Task>& tasks, int64_t jobs) {
    next_ = 0;
    tensor::prepare_blas();  // before there are other threads
    reset_peak_rss();
    const int threads = thread_count();
    std::vector<std::jthread> others;  // joined also when an exception leaves
    const int64_t wanted = jobs;
    // With room for them, jobs leave room for the threads of their loops.
    jobs = std::min(jobs, 1 + threads_with_room() / 2);
    if (jobs < wanted) {
      notice(
          fmt::format("{}: the address space (ulimit -v) has room for {} of {} trials side by side",
                      options_.label, jobs, wanted));
    }
    try {
      others.reserve(static_cast<size_t>(std::max<int64_t>(jobs, 1)));
      for (int64_t j = 1; j < jobs; ++j) {
        others.emplace_back(
            [this, &tasks, jobs, threads] { work_to_the_end(tasks, jobs, threads); });
      }
    } catch (const std::exception& error) {  // the threads that run take over the trials
      notice(fmt::format(
          "{}: the system started {} of {} threads for trials ({}); continuing with these",
          options_.label, others.size() + 1, jobs, error.what()));
    }
    work_to_the_end(tasks, jobs, threads);
    others.clear();  // waits for them
    if (error_) std::rethrow_exception(error_);
  }

  /// Why trials failed, by key.
  const std::unordered_map<std::string, std::string>& failures() const { return failures_; }

 private:
  using Group = std::pair<const train::Config*, int64_t>;

  /// Lack of memory may throw anywhere: no exception leaves a thread, and all are joined.
  void work_to_the_end(const std::vector<Task>& tasks, int64_t jobs, int threads) noexcept {
    try {
      work(tasks, jobs, threads);
    } catch (...) {
      fail(std::current_exception());
    }
  }

  void work(const std::vector<Task>& tasks, int64_t jobs, int threads) {
    const auto count = static_cast<int64_t>(tasks.size());
    for (int64_t t = next_++; t < count && !stop_; t = next_++) {
      if (time_is_up()) return;
      const int64_t side_by_side = std::min(jobs, count - t / jobs * jobs);
      const ThreadScope scope(std::max(1, threads / static_cast<int>(side_by_side)));
      const Task& task = tasks[static_cast<size_t>(t)];
      if (const std::optional<Claim> claim = ledger_.claim(task.key)) {
        attempt(task, jobs);
      } else {
        const std::lock_guard lock(mutex_);
        elsewhere_.push_back(task);
      }
    }
    const ThreadScope scope(std::max(1, threads / static_cast<int>(jobs)));
    wait_for_others(jobs);
  }

  /// Other processes finish what they had claimed, or end without it: then it is ours.
  void wait_for_others(int64_t jobs) {
    constexpr std::chrono::milliseconds kPause(100);
    while (!stop_ && !time_is_up()) {
      std::optional<Claim> claim;
      Task task{};
      {
        const std::lock_guard lock(mutex_);
        if (elsewhere_.empty()) return;
        const auto free = std::ranges::find_if(elsewhere_, [&](const Task& other) {
          claim = ledger_.claim(other.key);
          return claim.has_value();
        });
        if (free != elsewhere_.end()) {
          task = std::move(*free);
          elsewhere_.erase(free);
        } else if (!std::exchange(waits_, true)) {
          notice(fmt::format("{}: waiting for another process that runs the last {} trials",
                             options_.label, elsewhere_.size()));
        }
      }
      if (claim) {
        attempt(task, jobs);
      } else if (interrupt_requested()) {
        fail(std::make_exception_ptr(Interrupted(options_.label + ": stopped by the user")));
      } else {
        std::this_thread::sleep_for(kPause);
      }
    }
  }

  bool time_is_up() const {
    return options_.deadline && std::chrono::steady_clock::now() >= *options_.deadline;
  }

  /// Needs: the claim.
  void attempt(const Task& task, int64_t jobs) {
    const Group group{task.trial->config.get(), task.trial->layers};
    {
      const std::lock_guard lock(mutex_);
      if (failed_groups_.contains(group)) return finish(task, failed_groups_.at(group));
    }
    std::string failure;
    try {
      ledger_.refresh();
      if (!ledger_.find(task.key)) failure = run_and_record(task, jobs);
    } catch (...) {  // stopped by the user, or the ledger cannot be written
      return fail(std::current_exception());
    }
    const std::lock_guard lock(mutex_);
    if (!failure.empty()) {
      failed_groups_.emplace(group, failure);
      notice(fmt::format("{}: {} with {} layers cannot be trained: {}", options_.label,
                         task.trial->config->model, task.trial->layers, failure));
    }
    finish(task, failure);
  }

  /// Returns why the trial itself is impossible, or nothing.
  std::string run_and_record(const Task& task, int64_t jobs) {
    TrialResult result;
    try {
      result = train(task, jobs);
    } catch (const Interrupted&) {
      throw;
    } catch (const std::bad_alloc&) {
      if (options_.stop_at_failure) throw;
      return "out of memory";
    } catch (const Error& error) {
      if (options_.stop_at_failure) throw;
      return error.what();
    }
    ledger_.add(result);
    if (options_.keeper) options_.keeper->recorded(*task.trial, task.key);
    return "";
  }

  /// Needs: the lock.
  void finish(const Task& task, const std::string& failure) {
    if (!failure.empty()) failures_[task.key] = failure;
    ++done_;
    steps_done_ += task.trial->config->steps - steps_shown_[task.key];
    steps_shown_.erase(task.key);
    progress_.update(steps_done_);
  }

  /// The first reason counts; the other jobs stop after their step.
  void fail(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    stop_ = true;
  }

  TrialResult train(const Task& task, int64_t jobs) {
    const Trial& trial = *task.trial;
    if (jobs == 1) {
      tensor::trim_pool();  // so that the memory of a trial is its own
      reset_peak_rss();
    }
    const TrialInput input = inputs_.input(trial);
    const train::SplitTask split{*trial.config, *trial.data.dataset, input.graph, trial.split,
                                 trial.layers};
    const auto model = train::make_task_model(split);
    train::TrainHooks hooks;
    if (options_.keeper) hooks = options_.keeper->hooks(trial, task.key);
    hooks.stop = &stop_;
    hooks.on_evaluation = [this, &task, keep = hooks.on_evaluation](const train::StepRecord& r) {
      if (keep) keep(r);
      show(task, r);
    };
    const train::SplitResult r = train_split(split, *model, hooks);
    TrialResult result;
    result.key = task.key;
    result.dataset = trial.data.dataset->name;
    result.model = trial.config->model;
    result.metric = train::to_string(metric_for(trial.config->metric, *trial.data.dataset));
    result.layers = trial.layers;
    result.split = trial.split;
    result.best_step = r.best.step;
    result.train = r.best.train;
    result.val = r.best.val;
    result.test = r.best.test;
    result.steps = r.steps;
    result.seconds = r.seconds;
    result.parameters = r.parameters;
    result.peak_rss_bytes = peak_rss_bytes();
    result.threads = thread_count();
    result.jobs = jobs;
    result.options = differing_options(*trial.config);
    result.rewiring = input.rewiring;
    result.origin = present_origin();
    return result;
  }

  void show(const Task& task, const train::StepRecord& record) {
    const std::lock_guard lock(mutex_);
    const Trial& trial = *task.trial;
    steps_done_ += record.step - std::exchange(steps_shown_[task.key], record.step);
    progress_.update(
        steps_done_,
        fmt::format(
            "trial {}/{}: {} on {}, layers {} split {} step {}: loss {:.4f}, val {} test {}",
            done_ + 1, trials_, trial.config->model, trial.data.dataset->name, trial.layers,
            trial.split, record.step, record.loss, train::percent(record.val),
            train::percent(record.test)));
  }

  Ledger& ledger_;
  InputStore& inputs_;
  const EngineOptions& options_;
  std::mutex mutex_;
  int64_t trials_;
  Progress progress_;  // counts steps
  int64_t done_ = 0, steps_done_ = 0;
  std::unordered_map<std::string, int64_t> steps_shown_;  // of the running trials, by key
  std::vector<Task> elsewhere_;                           // claimed by other processes
  bool waits_ = false;
  std::map<Group, std::string> failed_groups_;
  std::unordered_map<std::string, std::string> failures_;
  std::exception_ptr error_;
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
};

}  // namespace

std::shared_ptr<TrialKeeper> keep_long_trials(fs::path folder) {
  return std::make_shared<LongTrials>(std::move(folder));
}

bool is_small(const Trial& trial) {
  constexpr int64_t kSmallLayer = int64_t{1} << 20;
  return int64_t{trial.data.dataset->graph.nodes()} * trial.config->hidden <= kSmallLayer;
}

std::vector<TrialOutcome> run_trials(std::span<const Trial> trials, Ledger& ledger,
                                     InputStore& inputs, const EngineOptions& options) {
  std::vector<std::string> keys;
  std::vector<Task> small, large;
  std::set<std::string> seen;
  int64_t steps = 0;
  ledger.refresh();
  for (const Trial& trial : trials) {
    keys.push_back(ledger.key_of(trial));
    if (ledger.find(keys.back()) || !seen.insert(keys.back()).second) continue;
    train::check_machine(*trial.config);
    steps += trial.config->steps;
    (options.jobs == 0 && !is_small(trial) ? large : small).push_back({&trial, keys.back()});
  }
  if (seen.size() < trials.size() && !trials.empty()) {
    notice(
        fmt::format("{}: {} trials, {} of them to run", options.label, trials.size(), seen.size()));
  }
  Crew crew(ledger, inputs, options, static_cast<int64_t>(seen.size()), steps);
  // Ranks that share a trial run one after another, in the same order.
  const bool shared = dist::current().size() > 1;
  const int64_t jobs = shared ? 1 : options.jobs > 0 ? options.jobs : thread_count();
  if (!small.empty()) crew.run(small, std::min(jobs, static_cast<int64_t>(small.size())));
  if (!large.empty()) crew.run(large, 1);
  std::vector<TrialOutcome> outcomes;
  for (const std::string& key : keys) {
    TrialOutcome& outcome = outcomes.emplace_back();
    outcome.result = ledger.find(key);
    const auto failure = crew.failures().find(key);
    if (failure != crew.failures().end()) outcome.failure = failure->second;
  }
  return outcomes;
}

}  // namespace dgat::study
