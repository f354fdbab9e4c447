#include "dgat/study/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/process_memory.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/data/fingerprint.h"
#include "dgat/train/trained_model.h"
#include "dgat/train/weights.h"

namespace dgat::study {
namespace {

/// The folder of a run has the state of every trial and one log.
class RunKeeper final : public TrialKeeper {
 public:
  explicit RunKeeper(const train::RunDirectory& directory)
      : directory_(directory), log_(directory) {}

  train::TrainHooks hooks(const Trial& trial, const std::string&) override {
    train::TrainHooks hooks;
    hooks.checkpoint = directory_.checkpoint(trial.layers, trial.split);
    const data::Split& split = trial.data.dataset->splits[static_cast<size_t>(trial.split)];
    hooks.data = trial.data.fingerprint + " " + data::fingerprint(split);
    hooks.on_evaluation = [this, layers = trial.layers,
                           number = trial.split](const train::StepRecord& record) {
      log_.write(layers, number, record);
    };
    hooks.before_checkpoint = [this] { log_.flush(); };
    return hooks;
  }

  void recorded(const Trial&, const std::string&) override {}

 private:
  const train::RunDirectory& directory_;
  train::RunLog log_;
};

/// Before a folder is touched: the graph is built and every split can be measured.
void prepare(const RunInputs& inputs) {
  const data::Dataset& dataset = *inputs.data.dataset;
  if (dataset.splits.empty()) throw_input("{}: there are no splits; use --split", dataset.name);
  for (int64_t s = 0; s < std::ssize(dataset.splits); ++s) inputs.builder->for_split(s);
  const train::MetricKind metric = train::metric_for(inputs.config->metric, dataset);
  for (int64_t s = 0; s < std::ssize(dataset.splits); ++s) {
    check_measurable(metric, dataset, s);
  }
}

/// Trains every trial of the row.
void train(Run& run, InputStore& store, const std::shared_ptr<TrialKeeper>& keeper) {
  const train::Config& config = *run.inputs.config;
  const Study study = study_on(run.inputs.data, {{config.model, {run.inputs.config}, ""}});
  StudyOptions options;
  options.engine = {.label = fmt::format("{} on {}", config.model, study.dataset),
                    .jobs = config.jobs,
                    .keeper = keeper,
                    .stop_at_failure = true};
  const int64_t peak_before = peak_rss_bytes();
  Ledger results;  // in memory: the checkpoints of the folder say what is finished
  run.row = run_studies({&study, 1}, results, store, options).front().rows.front();
  run.peak_rss_bytes = std::max(peak_before, peak_rss_bytes());
  for (const TrialResult& trial : results.results()) {
    run.peak_rss_bytes = std::max(run.peak_rss_bytes, trial.peak_rss_bytes);
  }
}

/// The best weights of the chosen depth, from the checkpoints.
void write_weights(const Run& run, const train::RunDirectory& directory) {
  const auto& [data, config, builder] = run.inputs;
  for (const TrialResult& trial : run.row.splits) {
    const nn::GraphInput<float> input = builder->for_split(trial.split);
    const auto model =
        train::make_task_model({*config, *data.dataset, input, trial.split, trial.layers});
    const std::filesystem::path checkpoint = directory.checkpoint(trial.layers, trial.split);
    load_weights(train::read_safetensors(checkpoint), *model, checkpoint.string(), "best/");
    train::save_trained(directory.weights(trial.split), *model, *config, *data.dataset,
                        {.split = trial.split,
                         .layers = trial.layers,
                         .best_step = trial.best_step,
                         .rewire_mode = builder->mode_of(trial.split)});
  }
}

}  // namespace

Run run_training(const TrialData& data, const train::Config& config, spectral::SpectralCache& cache,
                 const train::RunDirectory* directory) {
  InputStore store(cache);
  auto options = std::make_shared<const train::Config>(config);
  Run run{{data, options, store.builder(data, options)}, {}};
  prepare(run.inputs);
  if (directory == nullptr) {
    train(run, store, nullptr);
    return run;
  }
  directory->begin();
  // A resumed run has its file, and keeps it should the data turn out to be other data.
  const bool resumed = std::filesystem::exists(directory->config());
  const auto write_config = [&] {
    write_atomically(directory->config(), [&](std::ostream& out) { out << to_yaml(config); });
  };
  if (!resumed) write_config();
  train(run, store, std::make_shared<RunKeeper>(*directory));
  if (resumed) write_config();  // the data may have moved
  write_weights(run, *directory);
  write_atomically(directory->summary(), [&](std::ostream& out) { out << to_json(run); });
  directory->remove_checkpoints();
  return run;
}

RunInputs open_run(const std::filesystem::path& folder, spectral::SpectralCache& cache) {
  const QuietNotices quiet;  // training has given them
  const train::Settings settings = train::read_settings(folder / "config.yaml");
  const TrialData data = trial_data(train::load_for(train::resolve(settings)));
  auto config = std::make_shared<const train::Config>(train::resolve(settings, data.dataset->name));
  return {data, config, InputStore(cache).builder(data, config)};
}

}  // namespace dgat::study
