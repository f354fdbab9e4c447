// dgat tune: search hyper-parameters on the validation metric, within a time budget.
#include "dgat/study/tune.h"

#include <fmt/format.h>

#include <filesystem>
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
  std::string data, out, budget = "30m";
  std::vector<std::string> search;
  bool dry = false, plain_order = false;
};

/// "lr=0.001,0.01" as a key and its values.
void add_search(study::TuneOptions& request, const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw_input("tune: --search wants KEY=VALUE,VALUE, got '{}'", text);
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
  const study::AdviceOptions question = study::search_question(dataset.name, request);
  const study::Advice advice = study::advise(dataset, 0, question, cache);
  if (options.common.json) {
    print_json(to_json(advice));
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
  request.budget_seconds = study::parse_duration(options.budget);
  request.advised = !options.plain_order;
  request.settings = given_settings(options.training);
  if (!options.data.empty()) request.settings["data"] = options.data;
  make_paths_absolute(request.settings);
  if (!request.settings.contains("data")) throw_input("tune: which data set? dgat tune DATA");
  const data::Dataset dataset = train::load_for(train::resolve(request.settings));
  const train::Config config = train::resolve(request.settings, dataset.name);
  request.jobs = config.jobs;
  spectral::SpectralCache cache(spectral::default_cache_folder());
  if (options.dry) {
    print_advice(options, request, dataset, config, cache);
    return;
  }
  if (options.out.empty()) throw_input("tune: where to? give a folder with --out DIR");
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
  verb->add_option("DATA", options->data, "data set: a file, a folder or a known name");
  verb->add_option("--out", options->out,
                   "folder for the ledger, config.yaml, tune.json, tune.md, report.html")
      ->type_name("DIR");
  verb->add_option("--budget", options->budget,
                   "time after which no trial is started: 45s, 30m, 2h")
      ->capture_default_str();
  verb->add_option("--search", options->search,
                   "values to search for an option, like gamma=0.1,0.3 (may be repeated)")
      ->type_name("KEY=V,V");
  verb->add_flag(
      "--dry", options->dry,
      "train nothing: print what `dgat advise` would, for the graphs that the search would try");
  verb->add_flag("--no-advice", options->plain_order,
                 "take graphs in random order instead of best-advised first");
  add_resume(*verb);
  add_training_options(*verb, options->training, options->common);
  add_common_options(*verb, options->common);
  verb->footer(
      "Options given as flags or in --config are fixed; the others are searched: gamma, alpha,\n"
      "rewire and epsilon (directional models; dgn keeps to its graph and the random-walk\n"
      "Laplacian unless --laplacian tuned and --search say otherwise), layers, lr, dropout,\n"
      "weight decay, and what the model adds. Candidates start with a quarter of the steps on one\n"
      "split, or on so many that they have a thousand validation nodes together; the best third\n"
      "goes on to all steps, three times as many splits, all splits. Graphs that coincide are\n"
      "tried once; alpha below 1 meets only the best-advised rewiring of each gamma, unless\n"
      "--search names alpha. Only the validation metric decides; test labels are not read.\n"
      "Interrupted or out of time, the same command continues from the ledger; a larger --budget\n"
      "searches on.\n"
      "  dgat tune chameleon_filtered --budget 1h --out tuned\n"
      "  dgat tune graph.npz --model gat --search lr=1e-4,1e-3 --hidden 128 --out tuned-gat\n"
      "  dgat train --config tuned/config.yaml --out tuned/run");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
