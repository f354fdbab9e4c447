#include "dgat/study/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/fingerprint.h"
#include "dgat/train/trained_model.h"
#include "dgat/train/weights.h"
#include "process.h"

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

/// Before the folder is touched: the graph is built and every split can be measured.
void prepare(const Run& run) {
  const data::Dataset& dataset = *run.data.dataset;
  for (int64_t s = 0; s < std::ssize(dataset.splits); ++s) run.inputs->for_split(s);
  for (int64_t s = 0; s < std::ssize(dataset.splits); ++s) {
    check_measurable(*run.config, dataset, s);
  }
}

/// Trains, and puts the best weights of the chosen depth and the summary in place.
void train_into(const train::RunDirectory& directory, Run& run,
                const std::function<void()>& train) {
  directory.begin();
  // A resumed run has its file, and keeps it should the data turn out to be other data.
  const bool resumed = std::filesystem::exists(directory.config());
  const auto write_config = [&] {
    write_atomically(directory.config(), [&](std::ostream& out) { out << to_yaml(*run.config); });
  };
  if (!resumed) write_config();
  train();
  if (resumed) write_config();  // the data may have moved
  for (const TrialResult& trial : run.row.splits) {
    const nn::GraphInput<float> input = run.inputs->for_split(trial.split);
    const auto model =
        train::make_task_model({*run.config, *run.data.dataset, input, trial.split, trial.layers});
    const std::filesystem::path checkpoint = directory.checkpoint(trial.layers, trial.split);
    load_weights(train::read_safetensors(checkpoint), *model, checkpoint.string(), "best/");
    train::save_trained(directory.weights(trial.split), *model, *run.config, *run.data.dataset,
                        {.split = trial.split,
                         .layers = trial.layers,
                         .best_step = trial.best_step,
                         .rewire_mode = run.inputs->mode_of(trial.split)});
  }
  write_atomically(directory.summary(), [&](std::ostream& out) { out << to_json(run); });
  directory.remove_checkpoints();
}

}  // namespace

Run run_training(const TrialData& data, const train::Config& config, spectral::SpectralCache& cache,
                 const train::RunDirectory* directory) {
  const data::Dataset& dataset = *data.dataset;
  if (dataset.splits.empty()) throw_input("{}: there are no splits; use --split", dataset.name);
  InputStore inputs(cache);
  Run run{data, std::make_shared<const train::Config>(config), nullptr, {}};
  run.inputs = inputs.builder(data, run.config);
  prepare(run);
  const int64_t peak_before = peak_rss_bytes();
  const auto train = [&] {
    StudyOptions options;
    options.engine = {.label = fmt::format("{} on {}", config.model, dataset.name),
                      .jobs = config.jobs,
                      .stop_at_failure = true};
    if (directory != nullptr) options.engine.keeper = std::make_shared<RunKeeper>(*directory);
    Ledger results;  // the checkpoints of the folder say what is finished
    const Study study = study_on(data, {{config.model, {run.config}, ""}});
    run.row = run_studies({&study, 1}, results, inputs, options).front().rows.front();
    run.peak_rss_bytes = std::max(peak_before, peak_rss_bytes());
    for (const TrialResult& trial : results.results()) {
      run.peak_rss_bytes = std::max(run.peak_rss_bytes, trial.peak_rss_bytes);
    }
  };
  if (directory == nullptr) {
    train();
  } else {
    train_into(*directory, run, train);
  }
  return run;
}

}  // namespace dgat::study
