// dgat compare: several models under one protocol, with paired tests.
#include <algorithm>
#include <memory>

#include "../study_options.h"
#include "../verbs.h"
#include "dgat/data/catalogue.h"
#include "dgat/nn/registry.h"
#include "dgat/study/comparison.h"
#include "dgat/study/rows.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Compare {
  StudyFlags study;
  std::string models = "all";
};

/// The paper trains the small data sets with recipe classic only.
bool is_other_recipe(const study::Comparison& comparison, const std::string& dataset) {
  const auto names = study::small_datasets();
  const data::CatalogueEntry* entry = data::find_in_catalogue(dataset);
  if (entry == nullptr ||
      std::find(names.begin(), names.end(), std::string(entry->name)) == names.end()) {
    return false;
  }
  for (size_t r = 0; r < comparison.rows.size(); ++r) {
    const study::RowResult& row = comparison.study.rows[r];
    if (comparison.rows[r].paper && row.finished() && row.config->recipe == nn::Recipe::kResidual) {
      return true;
    }
  }
  return false;
}

/// A dgat without directions or with the random-walk Laplacian is a row of the paper's ablation,
/// not its DGAT; one that leaves the graph alone is DGAT on the graph that was chosen.
std::optional<study::Published> published_row(const std::string& dataset, const study::Row& row) {
  if (row.candidates.empty()) return std::nullopt;
  const train::Config& config = *row.candidates.front();
  const bool whole = config.directional && config.laplacian_tuned;
  if (whole || !nn::find_model(config.model).directional) {
    return study::published_result(dataset, config.model);
  }
  if (config.model != "dgat") return std::nullopt;
  return study::published_ablation(
      dataset, {config.laplacian_tuned, config.directional, config.rewire != rewire::Mode{}});
}

void run(const Compare& options) {
  const train::Settings settings = settings_for_any_model(options.study.training);
  const study::TrialData data = load_trial_data(options.study.data, settings);
  const std::string& name = data.dataset->name;
  const study::Study plan = study::study_on(data, study::rows_of(options.models, settings, name));
  const fs::path out = study_folder(options.study, "compare", name);
  const study::StudyResult result = run_plan(plan, options.study, settings, "compare", out);
  study::Comparison comparison =
      study::compare_rows(result, "compare", std::nullopt,
                          [&](size_t row) { return published_row(name, plan.rows[row]); });
  comparison.notes = study::edition_notes(*data.dataset);
  if (is_other_recipe(comparison, name)) {
    comparison.notes.emplace_back(
        "The paper's numbers on this data set are of --recipe classic with its own options.");
  }
  publish(comparison, options.study, "compare", out);
}

}  // namespace

void add_compare(CLI::App& app) {
  auto options = std::make_shared<Compare>();
  CLI::App* verb =
      app.add_subcommand("compare", "Several models under one protocol, with paired tests");
  verb->add_option("DATA", options->study.data, "data set: a file, a folder or a known name")
      ->required();
  verb->add_option("--models,--model", options->models,
                   "a,b,c or all; a line may have options of its own: dgat:gamma=0.1:rewire=none, "
                   "and alternatives for validation to choose from: dgat:gamma=0.1/0.3/1")
      ->capture_default_str()
      ->type_name("LIST");
  add_study_options(*verb, options->study, "runs/compare-<dataset>", {"model"});
  verb->footer(
      "Same splits and seeds for all. Every model starts from its own defaults (dgat models "
      "NAME);\n"
      "options given here hold for all of them. Finished trials are in DIR/ledger.jsonl and are\n"
      "never repeated: the same command continues an interrupted comparison, and adding a model\n"
      "trains that model only. Writes DIR/compare.json, .md, .tex, .csv and DIR/report.html.\n"
      "  dgat compare chameleon_filtered.npz --models gat,gat-sep,dgat,dgat-sep\n"
      "  dgat compare graph.npz --models all --splits 3 --layers 2 --budget 30m\n"
      "  dgat compare graph.npz --models gat,dgat:gamma=0.1/0.5/1:rewire=none/add");
  verb->callback([options] { resumable([&] { run(*options); }); });
}

}  // namespace dgat::app
