// dgat advise: which gamma, alpha and rewiring to use, from training labels alone and without
// training.
#include "dgat/study/advise.h"

#include <fmt/format.h>

#include <memory>

#include "../advice_output.h"
#include "../data_options.h"
#include "../verbs.h"
#include "dgat/core/error.h"
#include "dgat/core/shell.h"
#include "dgat/nn/registry.h"
#include "dgat/train/config.h"

namespace dgat::app {
namespace {

struct AdviseVerb {
  CommonOptions common;
  DataOptions data;
  std::vector<double> gammas, alphas;
  std::vector<std::string> rewirings;
};

study::Rewiring parse_rewiring(const std::string& text) {
  const size_t colon = text.find(':');
  study::Rewiring result{rewire::parse_mode(text.substr(0, colon))};
  if (result.mode.automatic) {
    throw_input("advise: auto is what the advice replaces; name modes such as none,add,prune-far");
  }
  if (colon != std::string::npos) result.epsilon = rewire::parse_epsilon(text.substr(colon + 1));
  return result;
}

/// The question as the flags put it; empty lists mean the defaults. Throws: InputError.
study::AdviceOptions question_of(const AdviseVerb& verb, const train::Config& config) {
  if (!nn::find_model(config.model).directional) {
    throw_input("advise: {} has no directions, so gamma and rewiring do not matter to it",
                config.model);
  }
  study::AdviceOptions question;
  if (!verb.gammas.empty()) question.gammas = verb.gammas;
  if (!verb.alphas.empty()) question.alphas = verb.alphas;
  if (!verb.rewirings.empty()) {
    question.rewirings.clear();
    for (const std::string& text : verb.rewirings) {
      question.rewirings.push_back(parse_rewiring(text));
    }
  }
  question.components = config.components;
  question.own_features = config.recipe == nn::Recipe::kResidual;
  question.seed = config.seed;
  return question;
}

void run(const AdviseVerb& options) {
  const train::Config config = config_of(options.data, options.common);
  const study::AdviceOptions request = question_of(options, config);
  const data::Dataset dataset = load(config, /*needs_splits=*/true);
  spectral::SpectralCache cache(spectral::default_cache_folder());
  const study::Advice advice =
      study::advise(dataset, options.data.split.value_or(0), request, cache);
  if (options.common.json) {
    print_json(to_json(advice));
  } else {
    std::string command =
        fmt::format("dgat train {} --model {} --recipe {}", shell_quoted(config.data), config.model,
                    nn::to_string(config.recipe));
    if (!config.laplacian_tuned) command += " --laplacian tuned";
    for (const char* key : {"components", "split", "split_file"}) {
      const train::OptionInfo& option = train::find_option(key);
      if (option.get(config) == option.get(train::Config{})) continue;
      command += fmt::format(" {} {}", flag_of(key), shell_quoted(option.get(config)));
    }
    fmt::print("{}", to_text(advice, command));
  }
}

}  // namespace

void add_advise(CLI::App& app) {
  auto options = std::make_shared<AdviseVerb>();
  CLI::App* verb = app.add_subcommand(
      "advise", "Which gamma, alpha and rewiring to use, from training labels, without training");
  add_data_options(*verb, options->data, "whose training labels count");
  verb->add_option("--gammas", options->gammas, "values of gamma to judge")
      ->delimiter(',')
      ->default_str("0.01,0.03,0.1,0.2,0.3,0.5,0.7,1")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--alphas", options->alphas,
                   "values of alpha: the first throughout, the others with the best rewiring of "
                   "every gamma")
      ->delimiter(',')
      ->default_str("1,0.5,0")
      ->check(CLI::Range(0.0, 1.0));
  verb->add_option("--rewirings", options->rewirings,
                   "rewirings to judge, a mode or mode:epsilon, like none,add,prune-far:q0.5")
      ->delimiter(',')
      ->default_str("none,add, and prune-near, prune-far, prune-far+add at q0.1, q0.5, q0.9");
  add_option_flags(*verb, options->data.settings, {"model", "recipe", "components"});
  add_common_options(*verb, options->common);
  verb->footer(
      "On every candidate graph, two small networks with random weights run (one layer, and two\n"
      "with directions), and a ridge regression of what they compute predicts held-out training\n"
      "nodes. The score is the share of the labels' variance predicted. Recipe classic does not\n"
      "keep a node's own features beside the message, and neither do the networks then.\n"
      "Validation and test labels are not read. docs/advise.md says how far to trust it.\n"
      "  dgat advise chameleon_filtered\n"
      "  dgat advise graph.npz --recipe classic --gammas 0.1,0.3,1 --rewirings none,add\n"
      "  dgat tune graph.npz --dry        the same");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
