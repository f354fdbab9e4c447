#include "dgat/study/advised_graph.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/progress.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/data/fingerprint.h"

namespace dgat::study {
namespace {

train::GraphChoice unchanged(const train::Config& config) {
  return {.gamma = config.gamma.value_or(1), .alpha = config.alpha.value_or(1), .mode = {}};
}

/// The options that the question depends on.
std::string question_key(const train::Config& config) {
  std::string key;
  for (const train::OptionInfo& option : train::config_options()) {
    const bool asked = option.key == "recipe" || option.key == "directional" ||
                       option.key == "seed" || option.affects == train::Affects::kGraph;
    if (asked) key += fmt::format(" {}={}", option.key, option.get(config));
  }
  return key;
}

/// "0", "0-9", "0, 3".
std::string list_of(const std::vector<int64_t>& splits) {
  const bool range = splits.size() > 2 && splits.back() - splits.front() + 1 == std::ssize(splits);
  if (range) return fmt::format("{}-{}", splits.front(), splits.back());
  return fmt::format("{}", fmt::join(splits, ", "));
}

}  // namespace

void refuse_authors_laplacian(const char* where, const train::Config& config) {
  if (config.laplacian != train::LaplacianKind::kAuthors) return;
  throw_input("{}: it is about L(alpha, gamma); leave out laplacian authors", where);
}

AdviceOptions question_for(const train::Config& config) {
  AdviceOptions question;
  if (config.gamma) question.gammas = {*config.gamma};
  if (config.alpha) question.alphas = {*config.alpha};
  if (config.laplacian == train::LaplacianKind::kDefault) question.gammas = question.alphas = {1};
  if (config.epsilon) {
    std::vector<Rewiring> fixed;
    for (Rewiring each : question.rewirings) {
      const bool prunes = each.mode.prune != rewire::Prune::kNone;
      if (prunes) each.epsilon = config.epsilon;
      const bool repeated = prunes && !fixed.empty() && fixed.back().mode == each.mode;
      if (!repeated) fixed.push_back(each);
    }
    question.rewirings = std::move(fixed);
  }
  question.components = config.components;
  question.own_features = config.recipe != nn::Recipe::kClassic;
  question.directional = config.directional;
  question.seed = config.seed;
  return question;
}

std::string long_advice_notice(const data::Dataset& dataset, const AdviceOptions& question) {
  constexpr int64_t kManyEdges = int64_t{1} << 19;
  if (dataset.graph.edges() < kManyEdges) return {};
  return fmt::format(
      "{}: choosing the graph to train on (--rewire advised): {} eigenvectors and {} candidates on "
      "{} edges, which may take longer than the training; --rewire none takes the graph as it is",
      dataset.name, question.gammas.size(), question.gammas.size() * question.rewirings.size(),
      dataset.graph.edges());
}

AdvisedGraph advised_graph(const data::Dataset& dataset, int64_t split, const train::Config& config,
                           spectral::SpectralCache& cache) {
  AdvisedGraph result{unchanged(config), false, "the graph has no edges"};
  if (dataset.graph.edges() == 0) return result;
  const data::Split& parts = dataset.splits.at(static_cast<size_t>(split));
  const AdviceOptions question = question_for(config);
  if (!can_advise(dataset, parts, question)) {
    result.why = fmt::format("advice needs {} labelled training nodes of at least two classes",
                             question.folds);
    return result;
  }
  if (const std::string text = long_advice_notice(dataset, question); !text.empty()) notice(text);
  const QuietNotices quiet;  // what is chosen is described in one line
  const Advice advice = advise(dataset, split, question, cache);
  const char* metric = advice.metric == data::Metric::kRocAuc ? "ROC AUC" : "accuracy";
  constexpr double kPercent = 100;
  if (!advice.clear) {
    result.why = "no candidate is clearly better on the training nodes";
    return result;
  }
  result.clear = true;
  result.graph = advice.best().candidate;
  result.why = fmt::format(
      "small untrained networks predict held-out training nodes with {} {:.1f}% on it, {:.1f}% on "
      "the graph as it is",
      metric, kPercent * advice.best().metric, kPercent * advice.reference.metric);
  return result;
}

const AdvisedGraph& GraphAdviser::on(const TrialData& data, int64_t split,
                                     const train::Config& config) {
  const data::Split& parts = data.dataset->splits.at(static_cast<size_t>(split));
  const std::string key = data.fingerprint + " " + data::fingerprint(parts) + question_key(config);
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_[key] = advised_graph(*data.dataset, split, config, cache_);
}

std::string describe(const std::map<int64_t, AdvisedGraph>& graphs) {
  // Equal graphs together, in the order of their first split.
  std::vector<std::pair<const AdvisedGraph*, std::vector<int64_t>>> groups;
  for (const auto& [split, advised] : graphs) {
    bool found = false;
    for (auto& [first, splits] : groups) {
      found = first->graph == advised.graph && first->clear == advised.clear;
      if (found) {
        splits.push_back(split);
        break;
      }
    }
    if (!found) groups.push_back({&advised, {split}});
  }
  std::string text;
  for (const auto& [advised, splits] : groups) {
    text += fmt::format("{}{}{}{}", text.empty() ? "" : "; ",
                        advised->clear ? "" : "edges unchanged, ", to_string(advised->graph),
                        graphs.size() > 1 ? fmt::format(" (split {})", list_of(splits)) : "");
    if (advised == groups.front().first || !advised->clear) {
      text += fmt::format(": {}", advised->why);
    }
  }
  return text;
}

}  // namespace dgat::study
