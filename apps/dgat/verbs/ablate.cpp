// dgat ablate: the seven rows of the paper's ablation tables on one data set.
#include <memory>

#include "../study_options.h"
#include "../verbs.h"
#include "dgat/study/ablation.h"
#include "dgat/study/rows.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Ablate {
  StudyFlags study;
  std::string grid;
};

void run(const Ablate& options) {
  const train::Settings settings = given_settings(options.study.training);
  const study::TrialData data = load_trial_data(options.study.data, settings);
  const std::string& name = data.dataset->name;
  const study::Study plan =
      study::study_on(data, study::rows_of_ablation(settings, options.grid, *data.dataset));
  const fs::path out = study_folder(options.study, "ablate", name);
  const study::StudyResult result = run_plan(plan, options.study, settings, "ablate", out);
  study::Comparison comparison = study::compare_ablation(result);
  for (std::string& note : study::edition_notes(*data.dataset)) {
    comparison.notes.push_back(std::move(note));
  }
  publish(comparison, options.study, "ablate", out);
}

}  // namespace

void add_ablate(CLI::App& app) {
  auto options = std::make_shared<Ablate>();
  CLI::App* verb =
      app.add_subcommand("ablate", "What L(alpha, gamma), directions and rewiring each gain");
  verb->add_option("DATA", options->study.data,
                   "data set: a file, a folder, or a name of `dgat datasets`")
      ->required();
  verb->add_option("--grid", options->grid,
                   "candidates; validation chooses one in every row: gamma=0.1/0.3/1:alpha=0/1")
      ->type_name("GRID");
  add_study_options(*verb, options->study, "runs/ablate-<dataset>");
  verb->footer(
      "Seven rows, as in the paper. The first is the plain model (GAT for dgat), the last has\n"
      "L(alpha, gamma), directions and rewiring, the others have some of the three. Rows without\n"
      "L(alpha, gamma) use the random-walk Laplacian. L(alpha, gamma) alone changes nothing and\n"
      "has no row. Every row is tested against the first.\n"
      "Finished trials are in DIR/ledger.jsonl: the same command continues.\n"
      "  dgat ablate chameleon_filtered.npz --gamma 0.3 --rewire prune-far+add\n"
      "  dgat ablate texas.npz --recipe classic\n"
      "  dgat ablate graph.npz --model dgt --grid gamma=0.1/0.5/1 --layers 2");
  verb->callback([options] { resumable([&] { run(*options); }); });
}

}  // namespace dgat::app
