// dgat compare: several models under one protocol, with paired tests.
#include <fmt/ranges.h>

#include <memory>

#include "../study_options.h"
#include "../verbs.h"
#include "dgat/study/comparison.h"
#include "dgat/study/rows.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Compare {
  StudyFlags study;
  std::string models;
};

/// --models, or what the file of --config has for `model`, one or a list. Removes it from the grid:
/// models are rows.
std::string models_to_compare(const Compare& options, train::Grid& grid) {
  const auto listed = grid.extract("model");
  if (!options.models.empty()) return options.models;
  if (listed) return fmt::format("{}", fmt::join(listed.mapped(), ","));
  train::Grid unused;
  const train::Settings file = given_settings(options.study.training, &unused);
  const auto one = file.find("model");
  return one == file.end() ? "all" : one->second;
}

void run(const Compare& options) {
  train::Grid grid;
  const train::Settings settings = settings_for_any_model(options.study.training, &grid);
  const std::string models = models_to_compare(options, grid);
  const study::TrialData data = load_trial_data(options.study.data, settings);
  const std::string& name = data.dataset->name;
  const study::Study plan =
      study::study_on(data, study::rows_of(models, settings, *data.dataset, grid));
  const fs::path out = study_folder(options.study, "compare", name);
  const study::StudyResult result = run_plan(plan, options.study, settings, "compare", out);
  publish(study::compare_models(plan, result, *data.dataset), options.study, "compare", out);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<Compare>();
  CLI::App* verb =
      app.add_subcommand("compare", "Several models under one protocol, with paired tests");
  verb->add_option("DATA", options->study.data,
                   "data set: a file, a folder, or a name of `dgat datasets`")
      ->required();
  verb->add_option("--models,--model", options->models,
                   "a,b,c or all; a line may have options of its own: dgat:gamma=0.1:rewire=none, "
                   "and alternatives for validation to choose from: dgat:gamma=0.1/0.3/1")
      ->default_str("all")
      ->type_name("LIST");
  add_study_options(*verb, options->study, "runs/compare-<dataset>", {"model"});
  verb->footer(
      "All rows have the same splits and seeds. A model starts from its own defaults (dgat models\n"
      "NAME); options given here hold for all of them. Finished trials are in DIR/ledger.jsonl\n"
      "and are not repeated. The same command continues an interrupted comparison; with one more\n"
      "model it trains only that model. Writes DIR/compare.json, .md, .tex, .csv and\n"
      "DIR/report.html.\n"
      "A list in the file of --config, such as `lr: [0.001, 0.01]`, is a grid: validation chooses\n"
      "one of its values for every model on which the option has an effect. `model: [gat, dgat]`\n"
      "there is like --models, which takes precedence.\n"
      "  dgat compare chameleon_filtered.npz --models gat,gat-sep,dgat,dgat-sep\n"
      "  dgat compare graph.npz --models all --splits 3 --layers 2 --budget 30m\n"
      "  dgat compare graph.npz --models gat,dgat:gamma=0.1/0.5/1:rewire=none/add");
  verb->callback([options] { resumable([&] { run(*options); }); });
}

}  // namespace dgat::app
