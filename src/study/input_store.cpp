#include "dgat/study/input_store.h"

#include <fmt/format.h>

#include "dgat/core/quiet_notices.h"
#include "dgat/nn/registry.h"
#include "dgat/train/option_table.h"

namespace dgat::study {
namespace {

constexpr size_t kKept = 2;  // precomputed parts can be large

/// The options that an InputBuilder reads, those of the graph only for a model with directions.
std::string input_key(const data::Dataset& dataset, const train::Config& config) {
  using train::Affects;
  const bool directional = nn::find_model(config.model).directional;
  const Affects read = directional ? Affects::kInput | Affects::kGraph : Affects::kInput;
  std::string key = fmt::format("{}", static_cast<const void*>(&dataset));
  for (const train::OptionInfo& option : train::config_options()) {
    if (option.affects_any(read)) {
      key += fmt::format(" {}={}", option.key, option.get(config));
    }
  }
  return key;
}

}  // namespace

/// A builder with what it refers to.
struct InputStore::Entry {
  std::string key;
  TrialData data;
  std::shared_ptr<const train::Config> config;
  train::InputBuilder builder;
};

InputStore::Entry& InputStore::find_or_make(const TrialData& data,
                                            const std::shared_ptr<const train::Config>& config) {
  std::string key = input_key(*data.dataset, *config);
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if ((*at)->key != key) continue;
    entries_.splice(entries_.begin(), entries_, at);
    return *entries_.front();
  }
  train::SplitAdvice advice = [adviser = adviser_, data, config](int64_t split) {
    return adviser->on(data, split, *config).graph;
  };
  entries_.push_front(std::shared_ptr<Entry>(
      new Entry{std::move(key), data, config,
                train::InputBuilder(*data.dataset, *config, cache_, std::move(advice))}));
  if (entries_.size() > kKept) entries_.pop_back();
  return *entries_.front();
}

TrialInput InputStore::input(const Trial& trial) {
  const std::lock_guard lock(mutex_);
  const QuietNotices quiet;
  train::InputBuilder& builder = find_or_make(trial.data, trial.config).builder;
  TrialInput input{builder.for_split(trial.split), std::nullopt};
  const auto at = builder.rewirings().find(trial.split);
  if (at != builder.rewirings().end()) {
    const train::GraphChoice& graph = builder.choice_of(trial.split);
    input.rewiring = {rewire::to_string(graph.mode), at->second.edges_before,
                      at->second.edges_after, at->second.homophily_before,
                      at->second.homophily_after};
    if (trial.config->rewire.advised) input.rewiring->advised = graph;
  }
  return input;
}

std::shared_ptr<train::InputBuilder> InputStore::builder(
    const TrialData& data, const std::shared_ptr<const train::Config>& config) {
  const std::lock_guard lock(mutex_);
  train::InputBuilder& builder = find_or_make(data, config).builder;
  return {entries_.front(), &builder};  // keeps the whole entry
}

}  // namespace dgat::study
