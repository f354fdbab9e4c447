#include "dgat/study/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/process_memory.h"
#include "dgat/core/progress.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/data/fingerprint.h"
#include "dgat/dist/communicator.h"
#include "dgat/tensor/pool.h"
#include "dgat/train/trained_model.h"
#include "dgat/train/weights.h"
#include "same_on_ranks.h"

namespace dgat::study {
namespace {

/// The folder of a run has the state of every trial and one log.
class RunKeeper final : public TrialKeeper {
 public:
  explicit RunKeeper(const train::RunDirectory& directory) : directory_(directory) {
    if (dist::leads()) log_.emplace(directory);
  }

  train::TrainHooks hooks(const Trial& trial, const std::string&) override {
    train::TrainHooks hooks;
    hooks.checkpoint = directory_.checkpoint(trial.layers, trial.split);
    const data::Split& split = trial.data.dataset->splits[static_cast<size_t>(trial.split)];
    hooks.data = trial.data.fingerprint + " " + data::fingerprint(split);
    if (!log_) return hooks;
    hooks.on_evaluation = [this, layers = trial.layers,
                           number = trial.split](const train::StepRecord& record) {
      log_->write(layers, number, record);
    };
    hooks.before_checkpoint = [this] { log_->flush(); };
    return hooks;
  }

  void recorded(const Trial&, const std::string&) override {}

 private:
  const train::RunDirectory& directory_;
  std::optional<train::RunLog> log_;  // of rank 0
};

/// One line about all splits.
void describe_advice(const RunInputs& inputs, const std::vector<Fold>& folds, InputStore& store) {
  if (!inputs.config->rewire.advised) return;
  std::map<int64_t, AdvisedGraph> graphs;
  for (const Fold& fold : folds) {
    graphs[fold.split] = store.advice(inputs.data, fold.split, *inputs.config);
  }
  if (!graphs.empty()) notice(fmt::format("train: graph as advised: {}", describe(graphs)));
}

/// What training in cells leaves out.
void describe_cells(const RunInputs& inputs, const graph::Cells& cells) {
  const graph::CsrGraph& graph = inputs.data.dataset->graph;
  const graph::Cut cut = graph::cut_of(graph, cells);
  notice(
      fmt::format("train: an approximation: {} cells of at most {} nodes, {:.1f}% of the edges "
                  "between cells; a "
                  "step reads {} of them with the edges among these",
                  cells.count(), cut.largest_cell,
                  100.0 * static_cast<double>(cut.edges) /
                      static_cast<double>(std::max<int64_t>(1, graph.edges())),
                  inputs.config->per_step));
}

/// Before a folder is touched: the graph is built and every split can be measured.
void prepare(const RunInputs& inputs, const std::vector<Fold>& folds, InputStore& store) {
  const data::Dataset& dataset = *inputs.data.dataset;
  if (folds.empty()) throw_input("{}: there are no splits; use --split", dataset.name);
  for (const Fold& fold : folds) {
    if (fold.split < 0 || fold.split >= std::ssize(dataset.splits)) {
      throw_input("{}: split {} is outside [0, {})", dataset.name, fold.split,
                  dataset.splits.size());
    }
  }
  describe_advice(inputs, folds, store);
  for (const Fold& fold : folds) {
    const nn::GraphInput<float> input = inputs.builder->for_split(fold.split);
    if (input.cells && &fold == &folds.front()) describe_cells(inputs, *input.cells);
  }
  const train::MetricKind metric = train::metric_for(inputs.config->metric, dataset);
  for (const Fold& fold : folds) check_measurable(metric, dataset, fold.split);
}

/// Every split of the data set, or those given.
Study study_of(const RunInputs& inputs, const std::vector<int64_t>& splits) {
  Study study = study_on(inputs.data, {{inputs.config->model, {inputs.config}, ""}});
  if (splits.empty()) return study;
  study.folds.clear();
  for (const int64_t split : splits) study.folds.push_back({inputs.data, split});
  return study;
}

/// Trains every trial of the row.
void train(Run& run, const Study& study, InputStore& store,
           const std::shared_ptr<TrialKeeper>& keeper) {
  const train::Config& config = *run.inputs.config;
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
                         .graph = builder->choice_of(trial.split)});
  }
}

}  // namespace

Run run_training(const TrialData& data, const train::Config& config, spectral::SpectralCache& cache,
                 const train::RunDirectory* directory, const std::vector<int64_t>& splits) {
  if (dist::current().size() > 1) check_same_on_ranks(dist::current(), data, config);
  train::check_machine(config);
  InputStore store(cache);
  auto options = std::make_shared<const train::Config>(config);
  Run run{{data, options, store.builder(data, options)}, {}};
  const Study study = study_of(run.inputs, splits);
  prepare(run.inputs, study.folds, store);
  if (directory == nullptr) {
    train(run, study, store, nullptr);
    return run;
  }
  directory->begin();
  dist::current().any(false);  // now no rank finds what begin() removes
  // A resumed run has its file, and keeps it should the data turn out to be other data.
  const bool resumed = std::filesystem::exists(directory->config());
  const auto write_config = [&] {
    if (!dist::leads()) return;
    write_atomically(directory->config(), [&](std::ostream& out) { out << to_yaml(config); });
  };
  if (!resumed) write_config();
  train(run, study, store, std::make_shared<RunKeeper>(*directory));
  tensor::trim_pool();          // weights, predictions and the page need less than training did
  if (resumed) write_config();  // the data may have moved
  if (!dist::leads()) return run;
  const dist::RankScope scope(dist::alone());  // rank 0 does the rest by itself
  write_weights(run, *directory);
  write_atomically(directory->summary(), [&](std::ostream& out) { out << to_json(run); });
  directory->remove_checkpoints();
  return run;
}

RunInputs open_run(const std::filesystem::path& folder, spectral::SpectralCache& cache) {
  const QuietNotices quiet;  // training has given them
  const train::Settings settings = train::read_settings(folder / "config.yaml");
  const TrialData data = trial_data(train::load_for(settings));
  auto config = std::make_shared<const train::Config>(train::resolve(settings, *data.dataset));
  return {data, config, InputStore(cache).builder(data, config)};
}

}  // namespace dgat::study
