// dgat tune: search hyper-parameters on the validation metric, within a time budget.
#include "dgat/study/tune.h"

#include <fmt/format.h>

#include <filesystem>
#include <limits>
#include <memory>

#include "../advice_output.h"
#include "../study_options.h"
#include "../training_options.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/progress.h"
#include "dgat/core/shell.h"
#include "dgat/report/study_page.h"
#include "dgat/study/engine.h"
#include "dgat/train/inputs.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct Tune {
  CommonOptions common;
  TrainingOptions training;
  std::string data, out, budget;
  int64_t trials = 0;
  std::vector<std::string> search;
  bool dry = false, plain_order = false;
};

/// "lr=0.001,0.01" as a key and its values.
void add_search(study::TuneOptions& request, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw_input("tune: --search needs KEY=VALUE,VALUE, got '{}'", text);
  }
  std::string key = text.substr(0, equals);
  std::replace(key.begin(), key.end(), '-', '_');
  std::vector<std::string>& values = request.search[key];
  for (size_t begin = equals + 1; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    if (end > begin) values.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void print_advice(const Tune& options, const study::TuneOptions& request,
                  const data::Dataset& dataset, const train::Config& config,
                  spectral::SpectralCache& cache) {
  const study::AdviceOptions question = study::search_question(dataset, request);
  const study::Advice advice = study::advise(dataset, 0, question, cache);
  if (options.common.json) {
    print_json(advice_json(advice));
  } else {
    fmt::print("{}", to_text(advice, fmt::format("dgat train {} --model {} --recipe {}",
                                                 shell_quoted(config.data), config.model,
                                                 nn::to_string(config.recipe))));
  }
}

void write_results(const study::TuneResult& result, const fs::path& out) {
  const auto write = [&](const char* name, const std::string& text) {
    write_atomically(out / name, [&](std::ostream& stream) { stream << text; });
  };
  write("config.yaml", train::to_yaml(result.winner));
  write("tune.json", study::to_json(result));
  write("tune.md", study::to_markdown(result));
  report::write_study_page(out);
}

void run(const Tune& options) {
  study::TuneOptions request;
  for (const std::string& text : options.search) add_search(request, text);
  if (!options.budget.empty()) {
    request.budget_seconds = study::parse_duration(options.budget);
  } else if (options.trials > 0) {
    request.budget_seconds = std::numeric_limits<double>::infinity();
  }
  request.trials = options.trials;
  request.advised = !options.plain_order;
  train::Grid grid;
  request.settings = given_settings(options.training, &grid);
  for (auto& [key, values] : grid) request.search.try_emplace(key, std::move(values));
  if (!options.data.empty()) request.settings["data"] = options.data;
  make_paths_absolute(request.settings);
  if (!request.settings.contains("data")) {
    throw_input("tune: no data set was given; name one: dgat tune DATA");
  }
  const data::Dataset dataset = train::load_for(request.settings);
  const train::Config config = train::resolve(request.settings, dataset);
  request.jobs = config.jobs;
  spectral::SpectralCache cache(spectral::default_cache_folder());
  if (options.dry) {
    print_advice(options, request, dataset, config, cache);
    return;
  }
  if (options.out.empty())
    throw_input("tune: the output folder is missing; give one with --out DIR");
  const fs::path out = options.out;
  refuse_run_folder(out);
  study::Ledger ledger(out / "ledger.jsonl");
  if (ledger.size() > 0)
    notice(fmt::format("tune: {} holds {} trials; they are not run again", out.string(),
                       ledger.size()));
  request.folder = out / "checkpoints";
  const study::TuneResult result = study::tune(dataset, request, ledger, cache);
  write_results(result, out);
  if (options.common.json) {
    fmt::print("{}", study::to_json(result));
  } else {
    fmt::print("{}\nwritten to {}; the test result: dgat train --config {} --out {}\n",
               study::to_markdown(result), out.string(),
               shell_quoted((out / "config.yaml").string()), shell_quoted((out / "run").string()));
  }
  if (result.interrupted) {
    throw Interrupted(fmt::format("tune: stopped; the same command continues in {}", out.string()));
  }
}

}  // namespace

void add_tune(CLI::App& app) {
  auto options = std::make_shared<Tune>();
  CLI::App* verb = app.add_subcommand(
      "tune", "Search gamma, rewiring, depth and rates on the validation metric");
  verb->add_option("DATA", options->data,
                   "data set: a file, a folder, or a name of `dgat datasets`");
  verb->add_option("--out", options->out,
                   "folder for the ledger, config.yaml, tune.json, tune.md, report.html")
      ->type_name("DIR");
  verb->add_option("--budget", options->budget,
                   "start no trial after this time: 45s, 30m, 2h [30m; no limit with --trials]");
  verb->add_option("--trials", options->trials,
                   "largest number of trials (trainings of one network on one split); for searches "
                   "that are compared")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->type_name("N");
  verb->add_option("--search", options->search,
                   "values to search for an option, like gamma=0.1,0.3 (may be repeated)")
      ->type_name("KEY=V,V");
  verb->add_flag(
      "--dry", options->dry,
      "train nothing; print the ranking of `dgat advise` for the graphs that the search would try");
  verb->add_flag("--no-advice", options->plain_order,
                 "try the graphs in random order instead of the order of the advice");
  add_resume(*verb);
  add_training_options(*verb, options->training, options->common);
  add_common_options(*verb, options->common);
  verb->footer(
      "Options given as flags or in --config are fixed; a list in --config is like --search. The\n"
      "search covers the other options: layers, lr, dropout, weight decay and width, with the\n"
      "same values for every model and recipe, the options of the model, and for directional\n"
      "models gamma, alpha, rewire and epsilon. (dgn keeps its graph unless --search names a\n"
      "rewiring, and the random-walk Laplacian unless --laplacian tuned is given.)\n"
      "Candidates start with a quarter of the steps on one split, or on as many splits as have a\n"
      "thousand validation nodes together. The best third advances to all steps, then to three\n"
      "times as many splits, then to all splits. Equal graphs are tried once. Alpha below 1 is\n"
      "tried only with the best-advised rewiring of each gamma, unless --search names alpha.\n"
      "The validation metric alone decides; test labels are not read. The same command continues\n"
      "an interrupted search from the ledger. A larger --budget continues a finished one.\n"
      "  dgat tune chameleon_filtered --budget 1h --out tuned\n"
      "  dgat tune graph.npz --model gat --search lr=1e-4,1e-3 --hidden 128 --out tuned-gat\n"
      "  dgat train --config tuned/config.yaml --out tuned/run");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
