// dgat explore: one self-contained page with sliders for gamma, alpha, epsilon and the rewiring.
#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "../data_options.h"
#include "../verbs.h"
#include "dgat/core/shell.h"
#include "dgat/report/explorer.h"
#include "dgat/study/study.h"
#include "dgat/train/node_features.h"

namespace dgat::app {
namespace {
namespace fs = std::filesystem;

struct ExploreVerb {
  CommonOptions common;
  DataOptions data;
  std::string out, budget = "60s";
  bool no_advice = false;
};

/// What the page does not set: the data set, its splits and the model.
std::string command_of(const ExploreVerb& options, const train::Config& config) {
  std::string command = "dgat train " + shell_quoted(config.data);
  for (const auto& [key, value] : options.data.settings) {
    const train::OptionInfo& option = train::find_option(key);
    if (train::is_about_directions(option) && key != "eigenvectors") continue;
    command += " " + flag_of(key);
    if (!option.is_switch) command += " " + shell_quoted(value);
  }
  if (config.laplacian == train::LaplacianKind::kDefault) command += " --laplacian tuned";
  if (options.common.seed != 0) command += fmt::format(" --seed {}", options.common.seed);
  return command;
}

void run(const ExploreVerb& options) {
  const train::Config config = config_of(options.data, options.common);
  const fs::path out = options.out.empty() ? fs::path("explore.html") : fs::path(options.out);
  refuse_input(out.string(), config.data);
  data::Dataset set = load(config, /*needs_splits=*/true);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  train::make_node_features(set, config.features, cache);  // the advice scores features
  const report::Page page =
      report::explorer_page(set, config,
                            {.split = options.data.split.value_or(0),
                             .budget_seconds = study::parse_duration(options.budget),
                             .advise = !options.no_advice,
                             .command = command_of(options, config)},
                            cache);
  report::write_page(page, out);
  const auto bytes = static_cast<int64_t>(fs::file_size(out));
  const auto& explorer = std::get<report::Explorer>(page.sections.front().blocks.front());
  if (options.common.json) {
    print_json({{"path", out.string()},
                {"bytes", bytes},
                {"gammas", explorer.gammas.size()},
                {"nodes", explorer.id.size()},
                {"edges", explorer.from.size()},
                {"sampled", explorer.sampled},
                {"advice", !explorer.advice.empty()}});
    return;
  }
  fmt::print("{}\nwritten to {} ({:.1f} MB); open it in a browser\n", explorer.note, out.string(),
             static_cast<double>(bytes) / 1e6);
}

}  // namespace

void add_explore(CLI::App& app) {
  auto options = std::make_shared<ExploreVerb>();
  CLI::App* verb = app.add_subcommand(
      "explore", "One page with sliders: see what gamma, alpha, epsilon and the rewiring do");
  add_data_options(*verb, options->data, "whose training labels the page shows");
  verb->add_option("--out", options->out, "the page; default explore.html")->type_name("F.html");
  verb->add_option("--budget", options->budget,
                   "time for eigenvectors; if 21 values of gamma take longer, the page has fewer")
      ->type_name("TIME")
      ->capture_default_str();
  verb->add_flag("--no-advice", options->no_advice,
                 "leave out the advice; it may take most of the time");
  add_option_flags(*verb, options->data.settings,
                   {"model", "recipe", "laplacian", "alpha", "gamma", "eigenvectors", "components",
                    "rewire", "epsilon", "features"});
  add_common_options(*verb, options->common);
  verb->footer(
      "The page holds the eigenvectors of 21 values of gamma and computes the rest itself: phi "
      "for\n"
      "any alpha, the rewiring, and what it drops and adds. Its figures are those of `dgat "
      "rewire`.\n"
      "It starts at the settings given here. Its last line is the `dgat train` command for the\n"
      "graph that it shows. Page and advice contain no labels but those of training nodes.\n"
      "A graph over 200,000 nodes or 2,000,000 edges is sampled, and the page says so.\n"
      "  dgat explore texas --out texas.html\n"
      "  dgat explore graph.npz --gamma 0.3 --rewire prune-far+add --epsilon q0.8\n"
      "  dgat explore tolokers --budget 5m --no-advice");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
