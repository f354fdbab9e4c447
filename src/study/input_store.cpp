#include "input_store.h"

#include <fmt/format.h>

#include "dgat/core/quiet_notices.h"
#include "dgat/nn/registry.h"

namespace dgat::study {
namespace {

constexpr size_t kKept = 2;  // precomputed parts can be large

/// The options that an InputBuilder reads, those of the graph only for a model with directions.
std::string input_key(const Trial& trial) {
  using train::Affects;
  const bool directional = nn::find_model(trial.config->model).directional;
  const Affects read = directional ? Affects::kInput | Affects::kGraph : Affects::kInput;
  std::string key = fmt::format("{}", static_cast<const void*>(trial.data.dataset.get()));
  for (const train::OptionInfo& option : train::config_options()) {
    if (option.affects_any(read)) {
      key += fmt::format(" {}={}", option.key, option.get(*trial.config));
    }
  }
  return key;
}

TrialInput input_of(train::InputBuilder& builder, int64_t split) {
  TrialInput input{builder.for_split(split), std::nullopt};
  const auto at = builder.rewirings().find(split);
  if (at != builder.rewirings().end()) {
    input.rewiring = {builder.mode_of(split), at->second.edges_before, at->second.edges_after,
                      at->second.homophily_before, at->second.homophily_after};
  }
  return input;
}

}  // namespace

TrialInput InputStore::input(const Trial& trial) {
  const std::string key = input_key(trial);
  const std::lock_guard lock(mutex_);
  const QuietNotices quiet;  // the ledger has what they would say
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->key != key) continue;
    entries_.splice(entries_.begin(), entries_, at);
    return input_of(*entries_.front().builder, trial.split);
  }
  auto builder = std::make_unique<train::InputBuilder>(*trial.data.dataset, *trial.config, cache_);
  TrialInput input = input_of(*builder, trial.split);
  entries_.push_front({key, trial.data, trial.config, std::move(builder)});
  if (entries_.size() > kKept) entries_.pop_back();
  return input;
}

}  // namespace dgat::study
