// dgat advise: which gamma, alpha and rewiring to use, from training labels alone, or with a race
// of short trainings.

#include <fmt/format.h>

#include <memory>

#include "../advice_output.h"
#include "../data_options.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/shell.h"
#include "dgat/nn/registry.h"
#include "dgat/study/advised_graph.h"
#include "dgat/study/engine.h"
#include "dgat/study/race.h"
#include "dgat/train/config.h"
#include "dgat/train/node_features.h"

namespace dgat::app {
namespace {

struct AdviseVerb {
  CommonOptions common;
  DataOptions data;
  std::vector<double> gammas, alphas;
  std::vector<std::string> rewirings;
  std::string race = "60s";
  int64_t trials = 0;

  bool races() const { return trials > 0 || (race != "off" && race != "0"); }
};

study::Rewiring parse_rewiring(const std::string& text) {
  const size_t colon = text.find(':');
  study::Rewiring result{rewire::parse_mode(text.substr(0, colon))};
  if (result.mode.automatic) {
    throw_input(
        "advise: auto is not a candidate, because the advice replaces it; name modes such as "
        "none,add,prune-far");
  }
  if (colon != std::string::npos) result.epsilon = rewire::parse_epsilon(text.substr(colon + 1));
  return result;
}

/// The question as the flags put it; empty lists mean the defaults. Throws: InputError.
study::AdviceOptions question_of(const AdviseVerb& verb, const train::Config& config) {
  if (!nn::find_model(config.model).directional) {
    throw_input("advise: {} has no directions, so gamma and rewiring have no effect on it",
                config.model);
  }
  study::refuse_authors_laplacian("advise", config);
  study::AdviceOptions question = study::question_for(config);
  if (verb.races()) question.gammas = study::race_gammas();
  if (!verb.gammas.empty()) question.gammas = verb.gammas;
  if (!verb.alphas.empty()) question.alphas = verb.alphas;
  if (!verb.rewirings.empty()) {
    question.rewirings.clear();
    for (const std::string& text : verb.rewirings) {
      question.rewirings.push_back(parse_rewiring(text));
    }
  }
  return question;
}

study::Race run_race(const AdviseVerb& verb, const train::Config& config,
                     const data::Dataset& dataset, const study::Advice& advice,
                     spectral::SpectralCache& cache) {
  study::RaceOptions request = study::race_of(config);
  request.split = verb.data.split.value_or(-1);
  request.trainings = verb.trials;
  if (verb.trials == 0) {
    request.seconds = std::max(0.0, study::parse_duration(verb.race) - advice.seconds);
  }
  return study::race(dataset, advice, request, cache);
}

void run(const AdviseVerb& options) {
  if (options.races() && options.trials == 0) study::parse_duration(options.race);
  const train::Config config = config_of(options.data, options.common);
  const study::AdviceOptions request = question_of(options, config);
  data::Dataset dataset = load(config, /*needs_splits=*/true);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  train::make_node_features(dataset, config.features, cache);
  const study::Advice advice =
      study::advise(dataset, options.data.split.value_or(0), request, cache);
  std::optional<study::Race> race;
  if (options.races()) race = run_race(options, config, dataset, advice, cache);
  if (options.common.json) {
    print_json(advice_json(advice, race));
  } else {
    std::string command =
        fmt::format("dgat train {} --model {} --recipe {}", shell_quoted(config.data), config.model,
                    nn::to_string(config.recipe));
    if (config.laplacian == train::LaplacianKind::kDefault) command += " --laplacian tuned";
    for (const char* key : {"components", "split", "split_file"}) {
      const train::OptionInfo& option = train::find_option(key);
      if (option.get(config) == option.get(train::Config{})) continue;
      command += fmt::format(" {} {}", flag_of(key), shell_quoted(option.get(config)));
    }
    fmt::print("{}", to_text(advice, command, race));
  }
}

}  // namespace

void add_advise(CLI::App& app) {
  auto options = std::make_shared<AdviseVerb>();
  CLI::App* verb = app.add_subcommand(
      "advise",
      "Which gamma, alpha and rewiring to use, from a ranking and a race of short trainings");
  add_data_options(*verb, options->data,
                   "whose labels count; default 0, and for the race the first ones");
  verb->add_option("--gammas", options->gammas, "values of gamma to score")
      ->delimiter(',')
      ->default_str("0.03,0.1,0.3,1, without a race 0.01,0.03,0.1,0.2,0.3,0.5,0.7,1")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--alphas", options->alphas,
                   "values of alpha to score: the first with every rewiring, the others with the "
                   "best rewiring of every gamma")
      ->delimiter(',')
      ->default_str("1,0.5,0")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--rewirings", options->rewirings,
                   "rewirings to score, a mode or mode:epsilon, like none,add,prune-far:q0.5")
      ->delimiter(',')
      ->default_str("none,hub,add, and prune-near, prune-far, prune-far+add at q0.1, q0.5, q0.9");
  verb->add_option("--race", options->race,
                   "time for ranking and race together, such as 60s or 5m; off: no race")
      ->capture_default_str();
  verb->add_option("--trials", options->trials,
                   "number of trainings of the race, instead of a time; the result is then the "
                   "same on every machine")
      ->check(CLI::PositiveNumber);
  add_option_flags(*verb, options->data.settings, {"model", "recipe", "components", "features"});
  add_common_options(*verb, options->common);
  verb->footer(
      "Ranking: two small networks with random weights run on every candidate graph. One has one\n"
      "layer, the other two layers with directions. A ridge regression of their output predicts\n"
      "held-out training nodes. The score is the share of the labels' variance that it predicts.\n"
      "For recipe classic, a node's own features are not part of the output.\n"
      "Race: networks train briefly on the graph as it is, on hub, add, prunings and further\n"
      "candidates. The better half continues with more steps and splits until the time ends. The\n"
      "validation metric decides, on the first splits together or on --split. There is no race\n"
      "if two short trainings take half of the time. The ranking reads only labels of training\n"
      "nodes. No part reads test labels. docs/advise.md says how reliable the advice is.\n"
      "  dgat advise chameleon_filtered\n"
      "  dgat advise graph.npz --race off\n"
      "  dgat advise graph.npz --trials 40 --split 0\n"
      "  dgat advise graph.npz --recipe classic --gammas 0.1,0.3,1 --rewirings none,add\n"
      "  dgat tune graph.npz --dry        the ranking of what a search tries");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
