#include "search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "dgat/study/advised_graph.h"

namespace dgat::study {
namespace {

using Lists = std::map<std::string, std::vector<std::string>>;

/// The option that a key sets. Throws: InputError for an unknown one.
const train::OptionInfo& option_of(const std::string& key) {
  return train::find_option(key.starts_with(train::kOneExtra) ? "extra" : key);
}

/// gamma, alpha, rewire and epsilon: searched together, as one graph.
bool is_graph_key(const std::string& key) {
  const train::OptionInfo& option = option_of(key);
  return option.searchable && option.affects == train::Affects::kGraph;
}

/// Depth, width, rates and decays: the same for every model and recipe, so that searches with
/// equal budgets are fair. The rest is the model's own (ModelInfo::grid).
/// A quick training stays quick.
Lists common_rates(const nn::ModelInfo& info, const train::Config& base) {
  Lists lists = {{"lr", {"0.0001", "0.0003", "0.001", "0.003", "0.01", "0.05"}},
                 {"dropout", {"0", "0.2", "0.5", "0.7"}},
                 {"weight_decay", {"0", "1e-05", "0.0001", "0.001", "0.01"}}};
  const bool quick = base.preset == train::Preset::kQuick;
  if (info.uses_layers) lists["layers"] = {"1", "2", "3", "5", "8", "12"};
  if (info.uses_layers && quick) lists["layers"] = {"1", "2", "3", "5"};
  if (info.uses_hidden) lists["hidden"] = {"64", "128", "256", "512"};
  if (info.uses_hidden && quick) lists["hidden"] = {"32", "64", "128"};
  return lists;
}

std::vector<std::string> expand_layers(const train::LayerRange& range) {
  std::vector<std::string> depths;
  for (int64_t l = range.first; l <= range.last; ++l) depths.push_back(fmt::format("{}", l));
  return depths;
}

/// "1..3" among the depths to search is three of them.
void expand_searched_layers(TuneOptions& options) {
  const auto layers = options.search.find("layers");
  if (layers == options.search.end()) return;
  std::vector<std::string> depths;
  for (const std::string& text : layers->second) {
    const train::Config one = train::resolve({{"model", "dgat"}, {"layers", text}});
    std::ranges::copy(expand_layers(one.layers), std::back_inserter(depths));
  }
  layers->second = std::move(depths);
}

/// The values of one key: given by the user, by the model, or the fallback.
std::vector<std::string> values_of(const std::string& key, const TuneOptions& options,
                                   const nn::ModelInfo& info,
                                   const std::vector<std::string>& fallback) {
  if (options.settings.contains(key)) return {};
  if (const auto at = options.search.find(key); at != options.search.end()) return at->second;
  if (const auto at = info.grid.find(key); at != info.grid.end()) return at->second;
  return fallback;
}

std::vector<double> numbers(const std::vector<std::string>& texts, std::optional<double> fixed) {
  std::vector<double> values;
  values.reserve(texts.size() + 1);
  for (const std::string& text : texts) values.push_back(std::stod(text));
  if (values.empty()) values.push_back(fixed.value());
  return values;
}

/// Every mode, and those that prune at every epsilon. A model without modes of its own worth trying
/// (dgn) uses what it is defined with.
std::vector<Rewiring> rewirings(const TuneOptions& options, const nn::ModelInfo& info,
                                const train::Config& base) {
  std::vector<std::string> modes = values_of("rewire", options, info, {});
  if (modes.empty()) modes = {base.rewire.advised ? "none" : rewire::to_string(base.rewire)};
  // The ends matter: where edges mislead, next to none is best (and what the paper prints is
  // there).
  std::vector<std::string> epsilons =
      values_of("epsilon", options, info, {"q0.01", "q0.1", "q0.5", "q0.9", "q0.99"});
  if (epsilons.empty()) epsilons = {option_of("epsilon").get(base)};
  std::vector<Rewiring> result;
  for (const std::string& text : modes) {
    const rewire::Mode mode = rewire::parse_mode(text);
    if (mode.prune == rewire::Prune::kNone) {
      result.push_back({mode});
      continue;
    }
    for (const std::string& epsilon : epsilons) {
      if (epsilon == "auto") {
        result.push_back({mode});
      } else {
        result.push_back({mode, rewire::parse_epsilon(epsilon)});
      }
    }
  }
  return result;
}

/// What rewiring gains it has to gain over the graph as it is: a short search, too, must try that.
/// Before it comes what a training without a search has, the graph as advised.
void usual_graphs_first(SearchSpace& space, const TuneOptions& options) {
  const auto untouched =
      std::find_if(space.graphs.begin(), space.graphs.end(),
                   [](const train::Settings& graph) { return graph.at("rewire") == "none"; });
  if (untouched != space.graphs.end()) {
    const auto at = untouched - space.graphs.begin();
    std::rotate(space.graphs.begin(), untouched, untouched + 1);
    std::rotate(space.advice_rank.begin(), space.advice_rank.begin() + at,
                space.advice_rank.begin() + at + 1);
  }
  const bool asked = std::ranges::any_of(
      options.search, [](const auto& searched) { return is_graph_key(searched.first); });
  if (asked || !space.base.rewire.advised) return;
  space.graphs.insert(space.graphs.begin(), train::Settings{{"rewire", "advised"}});
  space.advice_rank.insert(space.advice_rank.begin(), 0);
}

AdviceOptions question_of(const TuneOptions& options, const nn::ModelInfo& info,
                          const train::Config& base) {
  AdviceOptions question;
  std::vector<std::string> gammas;
  for (const double gamma : default_gammas()) gammas.push_back(fmt::format("{}", gamma));
  question.gammas = numbers(options.search.contains("gamma") || options.settings.contains("gamma")
                                ? values_of("gamma", options, info, gammas)
                                : gammas,
                            base.gamma);
  question.alphas = numbers(values_of("alpha", options, info, {"1", "0.5", "0"}), base.alpha);
  std::stable_sort(question.alphas.begin(), question.alphas.end(), std::greater<>());
  question.every_alpha = options.search.contains("alpha");  // asked for, so all of it
  if (base.laplacian == train::LaplacianKind::kDefault) question.gammas = question.alphas = {1};
  question.rewirings = rewirings(options, info, base);
  question.components = base.components;
  question.own_features = base.recipe != nn::Recipe::kClassic;
  question.directional = base.directional;
  question.seed = base.seed;
  return question;
}

void add_graphs(SearchSpace& space, const data::Dataset& dataset, const TuneOptions& options,
                const AdviceOptions& question, spectral::SpectralCache& cache) {
  const train::Config& base = space.base;
  if (options.settings.contains("rewire") && base.rewire.advised) {
    space.graphs = {{}};  // the advice itself chooses
    space.advice_rank = {0};
    return;
  }
  if (question.gammas.size() * question.alphas.size() * question.rewirings.size() == 1) {
    const Rewiring& only = question.rewirings.front();
    space.graphs = {graph_settings(
        {question.gammas.front(), question.alphas.front(), only.mode, only.epsilon}, base)};
    space.advice_rank = {0};  // nothing to choose from
    return;
  }
  if (!can_advise(dataset, dataset.splits.front(), question) || dataset.graph.edges() == 0) {
    space.graphs = {graph_settings({.mode = {}}, base)};  // nothing to rank by
    space.advice_rank = {0};
    usual_graphs_first(space, options);
    return;
  }
  const Advice advice = advise(dataset, 0, question, cache);
  int64_t rank = 0;
  for (const CandidateScore& c : advice.candidates) {
    ++rank;
    if (c.repeated) {
      ++space.repeated;
      continue;
    }
    space.graphs.push_back(graph_settings(c.candidate, base));
    space.advice_rank.push_back(rank);
  }
  if (!options.advised) {
    Random(base.seed, 0x7E5).shuffle(space.graphs);
    std::fill(space.advice_rank.begin(), space.advice_rank.end(), 0);
  }
  usual_graphs_first(space, options);
}

/// Whether one of the values is what the configuration has anyway.
bool has_value_of(const train::Config& base, const std::string& key,
                  const std::vector<std::string>& values) {
  const bool extra = key.starts_with(train::kOneExtra);
  return std::ranges::any_of(values, [&](const std::string& value) {
    train::Config other = base;
    option_of(key).set(
        other, extra ? fmt::format("{}={}", key.substr(train::kOneExtra.size()), value) : value);
    return train::to_yaml(other) == train::to_yaml(base);
  });
}

void check_search(const TuneOptions& options, const nn::ModelInfo& info, const SearchSpace& space) {
  for (const auto& [key, values] : options.search) {
    if (values.empty()) throw_input("tune: no values to search for {}", key);
    if (options.settings.contains(key)) {
      throw_input("tune: {} is searched and also given a fixed value; leave out one", key);
    }
    if (info.directional && key == "laplacian") {
      throw_input(
          "tune: laplacian is not searched, because default equals gamma 1 with alpha 1; give "
          "--laplacian tuned and search gamma and alpha");
    }
    for (const std::string& value : values) {
      train::Settings settings = options.settings;
      settings[key] = value;
      const train::Config config = train::resolve(settings);  // unknown keys and wrong values
      if (const std::string why = train::reason_ignored(key, value, config); !why.empty()) {
        throw_input("tune: {} is searched, but {}; leave it out of the search", key, why);
      }
    }
    const bool known = space.rates.contains(key) || (info.directional && is_graph_key(key));
    if (!known) throw_input("tune: {} is not searched for {}", key, info.name);
  }
}

/// The middle of the values, then the middles of both halves, and so on.
std::vector<std::string> spanning_order(const std::vector<std::string>& values) {
  std::vector<std::string> order;
  std::vector<std::pair<size_t, size_t>> parts = {{0, values.size()}};
  for (size_t p = 0; p < parts.size(); ++p) {
    const auto [begin, end] = parts[p];
    if (begin == end) continue;
    const size_t middle = begin + (end - begin) / 2;
    order.push_back(values[middle]);
    parts.emplace_back(begin, middle);
    parts.emplace_back(middle + 1, end);
  }
  return order;
}

/// One setting per extra option, one depth per depth.
TuneOptions spelled_out(TuneOptions options) {
  options.settings = train::with_single_extras(options.settings);
  expand_searched_layers(options);
  return options;
}

/// All but the graphs.
SearchSpace space_of_rates(const train::DataFacts& dataset, const TuneOptions& options) {
  SearchSpace space;
  space.base = train::resolve(options.settings, dataset);
  const nn::ModelInfo& info = nn::find_model(space.base.model);
  Lists lists = common_rates(info, space.base);
  for (const auto& [key, values] : info.grid) {
    if (!info.directional || !is_graph_key(key)) lists[key] = values;
  }
  for (const auto& [key, values] : options.search) {
    if (option_of(key).searchable && !is_graph_key(key)) lists.try_emplace(key, values);
  }
  for (const auto& [key, values] : lists) {
    std::vector<std::string> chosen = values_of(key, options, info, values);
    if (!chosen.empty()) space.rates[key] = std::move(chosen);
  }
  const train::LayerRange range = space.base.layers;
  if (options.settings.contains("layers") && range.first != range.last) {
    space.rates["layers"] = expand_layers(range);
  }
  check_search(options, info, space);
  const int64_t middle = std::clamp<int64_t>(2, range.first, range.last);
  space.base.layers = {middle, middle};
  for (const auto& [key, values] : options.search) {
    if (space.rates.contains(key) && !has_value_of(space.base, key, values)) {
      space.start[key] = values.front();
    }
  }
  if (space.rates.contains("lr")) space.learning_rates = spanning_order(space.rates.at("lr"));
  return space;
}

}  // namespace

train::Settings graph_settings(const Candidate& c, const train::Config& base) {
  train::Settings settings = {{"rewire", rewire::to_string(c.mode)}};
  if (base.laplacian != train::LaplacianKind::kDefault) {
    settings["gamma"] = fmt::format("{}", c.gamma);
    settings["alpha"] = fmt::format("{}", c.alpha);
  }
  if (c.mode.prune != rewire::Prune::kNone) {
    settings["epsilon"] = c.epsilon ? rewire::to_string(*c.epsilon) : "auto";
  }
  return settings;
}

SearchSpace make_space(const data::Dataset& dataset, const TuneOptions& given,
                       spectral::SpectralCache& cache) {
  const TuneOptions options = spelled_out(given);
  SearchSpace space = space_of_rates(dataset, options);
  const nn::ModelInfo& info = nn::find_model(space.base.model);
  if (info.directional) {
    refuse_authors_laplacian("tune", space.base);
    add_graphs(space, dataset, options, question_of(options, info, space.base), cache);
  } else {
    space.graphs = {{}};
    space.advice_rank = {0};
  }
  return space;
}

AdviceOptions search_question(const train::DataFacts& dataset, const TuneOptions& given) {
  const TuneOptions options = spelled_out(given);
  const SearchSpace space = space_of_rates(dataset, options);
  const nn::ModelInfo& info = nn::find_model(space.base.model);
  if (!info.directional) {
    throw_input("tune: {} has no directions, so there is no advice on its graph", info.name);
  }
  AdviceOptions question = question_of(options, info, space.base);
  const auto said = [&](const char* key) {
    return options.settings.contains(key) || options.search.contains(key);
  };
  if (info.grid.contains("rewire") && !said("rewire") && !said("epsilon")) {
    question.rewirings = default_rewirings();
  }
  return question;
}

}  // namespace dgat::study
