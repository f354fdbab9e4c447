#include "input_store.h"

#include <fmt/format.h>

#include "dgat/nn/registry.h"

namespace dgat::study {
namespace {

constexpr size_t kKept = 4;

/// The options that an InputBuilder reads.
std::string input_key(const Trial& trial) {
  const train::Config& c = *trial.config;
  std::string key = fmt::format("{}", static_cast<const void*>(trial.data.dataset.get()));
  if (nn::find_model(c.model).directional) {
    for (const char* option : {"directional", "laplacian", "alpha", "gamma", "eigenvectors",
                               "components", "rewire", "epsilon"}) {
      key += fmt::format(" {}={}", option, train::find_option(option).get(c));
    }
  }
  return key;
}

}  // namespace

nn::GraphInput<float> InputStore::input(const Trial& trial) {
  const std::string key = input_key(trial);
  const std::lock_guard lock(mutex_);
  for (auto at = entries_.begin(); at != entries_.end(); ++at) {
    if (at->key != key) continue;
    entries_.splice(entries_.begin(), entries_, at);
    return entries_.front().builder->for_split(trial.split);
  }
  auto builder = std::make_unique<train::InputBuilder>(*trial.data.dataset, *trial.config, cache_);
  nn::GraphInput<float> input = builder->for_split(trial.split);
  entries_.push_front({key, trial.data, trial.config, std::move(builder)});
  if (entries_.size() > kKept) entries_.pop_back();
  return input;
}

}  // namespace dgat::study
