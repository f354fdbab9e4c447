#include "dgat/train/run.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/data/fingerprint.h"
#include "dgat/train/option_table.h"
#include "dgat/train/weights.h"

namespace dgat::train {
namespace {

int64_t job_count(const Config& config, const data::Dataset& dataset, int64_t units) {
  if (config.jobs > 0) return std::min(config.jobs, units);
  return small_enough_for_jobs(config, dataset) ? std::min<int64_t>(thread_count(), units) : 1;
}

std::string percent(double value) {
  return std::isnan(value) ? "-" : fmt::format("{:.2f}", 100 * value);
}

/// One network on one split, in the order in which they are reported.
struct Unit {
  int64_t layers, split;
};

/// Trains units as workers ask for them.
class Crew {
 public:
  Crew(const data::Dataset& dataset, const Config& config, const RunDirectory* directory,
       const std::vector<nn::GraphInput<float>>& inputs, const std::vector<Unit>& units)
      : dataset_(dataset),
        config_(config),
        directory_(directory),
        inputs_(inputs),
        units_(units),
        results_(units.size()),
        errors_(units.size()),
        progress_(fmt::format("{} on {}", config.model, dataset.name),
                  static_cast<int64_t>(units.size()) * config.steps) {
    if (directory == nullptr) return;
    log_.emplace(*directory);
    content_ = data::fingerprint(dataset);
  }

  std::vector<SplitResult> run(int64_t jobs) {
    const int threads = thread_count();
    std::vector<std::thread> others;
    for (int64_t j = 1; j < jobs; ++j) {
      others.emplace_back([this, jobs, threads] { work(jobs, threads); });
    }
    work(jobs, threads);
    for (std::thread& thread : others) thread.join();
    if (log_) log_->flush();
    rethrow_first_error();
    return results_;
  }

 private:
  /// In the last round there may be fewer units than jobs: they share all threads.
  void work(int64_t jobs, int threads) {
    const auto count = static_cast<int64_t>(units_.size());
    for (int64_t u = next_++; u < count && !stop_; u = next_++) {
      const int64_t side_by_side = std::min(jobs, count - u / jobs * jobs);
      const ThreadScope scope(std::max(1, threads / static_cast<int>(side_by_side)));
      try {
        results_[static_cast<size_t>(u)] = train(units_[static_cast<size_t>(u)]);
      } catch (...) {
        errors_[static_cast<size_t>(u)] = std::current_exception();
        stop_ = true;
      }
    }
  }

  /// A failure says more than the interruptions it caused in the other jobs.
  void rethrow_first_error() const {
    std::exception_ptr interruption;
    for (const std::exception_ptr& error : errors_) {
      if (!error) continue;
      try {
        std::rethrow_exception(error);
      } catch (const Interrupted&) {
        if (!interruption) interruption = error;
      }
    }
    if (interruption) std::rethrow_exception(interruption);
  }

  SplitResult train(const Unit& unit) {
    const SplitTask task{config_, dataset_, inputs_[static_cast<size_t>(unit.split)], unit.split,
                         unit.layers};
    const auto model = make_task_model(task);
    TrainHooks hooks;
    hooks.stop = &stop_;
    int64_t reported = 0;
    hooks.on_evaluation = [&](const StepRecord& record) {
      if (log_) log_->write(unit.layers, unit.split, record);
      show(unit, record, record.step - reported);
      reported = record.step;
    };
    if (directory_ != nullptr) {
      hooks.checkpoint = directory_->checkpoint(unit.layers, unit.split);
      hooks.before_checkpoint = [this] { log_->flush(); };
      const data::Split& split = dataset_.splits[static_cast<size_t>(unit.split)];
      hooks.data = content_ + " " + data::fingerprint(split);
    }
    const SplitResult result = train_split(task, *model, hooks);
    show(unit, result.best, config_.steps - reported);
    return result;
  }

  void show(const Unit& unit, const StepRecord& record, int64_t steps) {
    const std::lock_guard lock(mutex_);
    done_ += steps;
    progress_.update(
        done_, fmt::format("layers {} split {} step {}: loss {:.4f}, train {} val {} test {}",
                           unit.layers, unit.split, record.step, record.loss, percent(record.train),
                           percent(record.val), percent(record.test)));
  }

  const data::Dataset& dataset_;
  const Config& config_;
  const RunDirectory* directory_;
  const std::vector<nn::GraphInput<float>>& inputs_;
  const std::vector<Unit>& units_;
  std::vector<SplitResult> results_;
  std::vector<std::exception_ptr> errors_;
  std::optional<RunLog> log_;
  std::string content_;  // of the data set, for the checkpoints
  std::mutex mutex_;
  Progress progress_;
  int64_t done_ = 0;
  std::atomic<int64_t> next_ = 0;
  std::atomic<bool> stop_ = false;
};

MeanStd over_splits(const std::vector<SplitResult>& splits, double StepRecord::*metric) {
  std::vector<double> values;
  values.reserve(splits.size());
  for (const SplitResult& s : splits) values.push_back(s.best.*metric);
  return mean_std(values);
}

/// Class c is the c-th name, on whatever graph the network predicts.
std::string names_as_json(const std::vector<std::string>& names) {
  using Json = nlohmann::json;
  return Json(names).dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Puts the best weights of the chosen depth in place, with all that is needed to use them.
void write_weights(const RunSummary& summary, const data::Dataset& dataset,
                   const InputBuilder& builder, const std::vector<nn::GraphInput<float>>& inputs,
                   const RunDirectory& directory) {
  for (const SplitResult& result : summary.best().splits) {
    const SplitTask task{summary.config, dataset, inputs[static_cast<size_t>(result.split)],
                         result.split, result.layers};
    const auto model = make_task_model(task);
    const std::filesystem::path checkpoint = directory.checkpoint(result.layers, result.split);
    load_weights(read_safetensors(checkpoint), *model, checkpoint.string(), "best/");
    std::map<std::string, std::string> metadata = {
        {"format", "pt"},
        {"dgat.dataset", summary.dataset},
        {"dgat.features", fmt::format("{}", dataset.features.cols())},
        {"dgat.classes", fmt::format("{}", dataset.classes)},
        {"dgat.nodes", fmt::format("{}", dataset.graph.nodes())},
        {"dgat.split", fmt::format("{}", result.split)},
        {"dgat.best_step", fmt::format("{}", result.best.step)},
        {"dgat.rewire", builder.mode_of(result.split)}};
    if (!dataset.class_names.empty()) {
      metadata["dgat.class_names"] = names_as_json(dataset.class_names);
    }
    for (const OptionInfo& option : config_options()) {
      metadata[option.key] = option.get(summary.config);
    }
    metadata["layers"] = fmt::format("{}", result.layers);
    save_weights(directory.weights(result.split), *model, metadata);
  }
}

int64_t peak_rss_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} * 1024;
}

}  // namespace

bool small_enough_for_jobs(const Config& config, const data::Dataset& dataset) {
  constexpr int64_t kSmallLayer = int64_t{1} << 20;
  return static_cast<int64_t>(dataset.graph.nodes()) * config.hidden <= kSmallLayer;
}

RunSummary run_training(const data::Dataset& dataset, const Config& config,
                        spectral::SpectralCache& cache, const RunDirectory* directory) {
  if (dataset.splits.empty()) throw_input("{}: there are no splits; use --split", dataset.name);
  InputBuilder builder(dataset, config, cache);
  std::vector<nn::GraphInput<float>> inputs;
  std::vector<Unit> units;
  const auto splits = static_cast<int64_t>(dataset.splits.size());
  for (int64_t s = 0; s < splits; ++s) inputs.push_back(builder.for_split(s));
  for (int64_t l = config.layers.first; l <= config.layers.last; ++l) {
    for (int64_t s = 0; s < splits; ++s) units.push_back({l, s});
  }
  for (int64_t s = 0; s < splits; ++s) check_measurable(config, dataset, s);
  // A resumed run has its file, and keeps it should the data turn out to be other data.
  bool resumed = false;
  const auto write_config = [&] {
    write_atomically(directory->config(), [&](std::ostream& out) { out << to_yaml(config); });
  };
  if (directory != nullptr) {
    directory->begin();
    resumed = std::filesystem::exists(directory->config());
    if (!resumed) write_config();
  }
  Crew crew(dataset, config, directory, inputs, units);
  const std::vector<SplitResult> results =
      crew.run(job_count(config, dataset, static_cast<int64_t>(units.size())));
  if (resumed) write_config();  // the data may have moved

  RunSummary summary;
  summary.config = config;
  summary.dataset = dataset.name;
  summary.metric = metric_for(config, dataset);
  for (size_t u = 0; u < results.size(); u += static_cast<size_t>(splits)) {
    DepthResult depth;
    depth.layers = units[u].layers;
    depth.splits.assign(results.begin() + static_cast<std::ptrdiff_t>(u),
                        results.begin() + static_cast<std::ptrdiff_t>(u) + splits);
    depth.train = over_splits(depth.splits, &StepRecord::train);
    depth.val = over_splits(depth.splits, &StepRecord::val);
    depth.test = over_splits(depth.splits, &StepRecord::test);
    summary.depths.push_back(std::move(depth));
    if (summary.depths.back().val.mean > summary.best().val.mean) {
      summary.chosen = summary.depths.size() - 1;
    }
  }
  double seconds = 0, steps = 0;
  for (const SplitResult& s : summary.best().splits) {
    seconds += s.seconds;
    steps += static_cast<double>(s.steps);
  }
  summary.parameters = summary.best().splits.front().parameters;
  summary.seconds_per_step = seconds / steps;
  summary.peak_rss_bytes = peak_rss_bytes();
  if (builder.spectrum() != nullptr) summary.spectrum.push_back(*builder.spectrum());
  summary.rewirings = builder.rewirings();
  if (directory != nullptr) {
    write_weights(summary, dataset, builder, inputs, *directory);
    write_atomically(directory->summary(), [&](std::ostream& out) { out << to_json(summary); });
    directory->remove_checkpoints();
  }
  return summary;
}

data::Dataset load_for(const Config& config) {
  data::LoadOptions options{.directed = config.directed};
  if (!config.split_file.empty()) options.splits.file = config.split_file;
  if (config.split) options.splits.fractions = config.split->shares;
  if (config.splits > 0) options.splits.count = static_cast<int>(config.splits);
  options.splits.seed = config.seed;
  options.splits.required = true;
  return data::load_dataset(config.data, options);
}

}  // namespace dgat::train
