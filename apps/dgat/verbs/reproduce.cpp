// dgat reproduce: a table of the paper, from data to finished table.
#include "dgat/study/reproduce.h"

#include <fmt/format.h>

#include <memory>

#include "../study_options.h"
#include "../table_output.h"
#include "../verbs.h"
#include "dgat/report/study_page.h"
#include "dgat/study/comparison.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Reproduce {
  StudyFlags study;
  study::ReproduceOptions options;
  std::string data_dir, tuned;
};

void run(const Reproduce& given) {
  study::ReproduceOptions options = given.options;
  options.settings = settings_for_any_model(given.study.training);
  options.data_dir = given.data_dir;
  options.tuned = given.tuned;
  const fs::path out = given.study.out.empty() ? fs::path("runs") / ("reproduce-" + options.table)
                                               : fs::path(given.study.out);
  options.study.engine =
      engine_options(given.study, options.settings, "reproduce " + options.table, out);
  options.study.folds_first = true;
  options.study.choose_on = given.study.choose_on;
  refuse_run_folder(out);
  study::Ledger ledger(out / "ledger.jsonl");
  spectral::SpectralCache cache(spectral::default_cache_folder());
  const study::Reproduction result = study::reproduce(options, ledger, cache);
  study::write_tables(out, options.table, result.tables, result.json);
  report::write_study_page(out);
  if (given.study.common.json) {
    fmt::print("{}", result.json);
    return;
  }
  for (const study::Table& table : result.tables) fmt::print("{}\n", on_screen(table));
  fmt::print("written to {}\n", out.string());
}

std::string footer() {
  std::string text = "Tables:\n";
  for (const study::PaperTable& table : study::paper_tables()) {
    text += fmt::format("  {:<15} {}\n", table.name, table.what);
  }
  return text +
         "All rows train on the first split, then on the second. So every row has the same splits\n"
         "when a budget ends. Finished trials are in DIR/ledger.jsonl and are not repeated: the\n"
         "same command continues.\n"
         "  dgat reproduce homophily --data-dir datasets\n"
         "  dgat reproduce ablation --datasets chameleon-filtered --budget 2h\n"
         "  dgat reproduce small --splits 3 --models gat,dgat\n"
         "  dgat reproduce tuned --datasets minesweeper --models gcn --splits 3\n"
         "  dgat reproduce heterophily --models dgat --grid gamma=0.1/0.5/1:rewire=none/auto";
}

}  // namespace

void add_reproduce(CLI::App& app) {
  auto options = std::make_shared<Reproduce>();
  CLI::App* verb =
      app.add_subcommand("reproduce", "A table of the paper: our results and the published ones");
  std::vector<std::string> names;
  for (const study::PaperTable& table : study::paper_tables()) names.emplace_back(table.name);
  verb->add_option("TABLE", options->options.table, "which one, see below")
      ->required()
      ->check(CLI::IsMember(names));
  verb->add_option("--datasets", options->options.datasets,
                   "only these: a,b,c (synthetic: mixhop-0.1)")
      ->delimiter(',')
      ->type_name("LIST");
  verb->add_option("--models,--model", options->options.models, "only these rows: a,b,c")
      ->delimiter(',')
      ->type_name("LIST");
  verb->add_option("--data-dir", options->data_dir,
                   "folder with the data sets; searched before the usual places")
      ->type_name("DIR");
  verb->add_option("--grid", options->options.grid,
                   "candidates of the directional rows, chosen by validation: gamma=0.1/0.3/1")
      ->type_name("GRID");
  verb->add_option("--tuned", options->tuned,
                   "folder with NAME.yaml or NAME/config.yaml per data set, such as `dgat tune` "
                   "writes: options of the directional rows; table tuned: DATASET-MODEL.yaml or "
                   "DATASET-MODEL/config.yaml, a row each")
      ->type_name("DIR");
  verb->add_option("--nodes", options->options.nodes, "nodes of a synthetic graph")
      ->capture_default_str()
      ->check(CLI::Range(100, 1000000));
  add_study_options(*verb, options->study, "runs/reproduce-<table>",
                    {"model", "split", "split_file", "directed"});
  verb->footer(footer());
  verb->callback([options] { resumable([&] { run(*options); }); });
}

}  // namespace dgat::app
