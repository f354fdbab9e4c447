#include "dgat/study/trial.h"

#include <fmt/format.h>

#include <set>

#include "dgat/data/sha256.h"

namespace dgat::study {
namespace {

/// The number changes when a trial of the same options would give another result.
constexpr const char* kVersion = "dgat trial 1";

template <class T>
void hash_values(data::Sha256& hash, std::span<const T> values) {
  hash.update(fmt::format("{}:", values.size()));
  hash.update({reinterpret_cast<const char*>(values.data()), values.size_bytes()});
}

/// Options that say where the data is, how much of it is run, or (depth) are part of the trial.
bool belongs_to_trial(const train::OptionInfo& option) {
  static const std::set<std::string> others = {"data",       "directed", "split",
                                               "split_file", "splits",   "layers"};
  return option.changes_result && !others.contains(option.key);
}

}  // namespace

TrialData trial_data(data::Dataset dataset) {
  data::Sha256 hash;
  hash.update(
      fmt::format("{} {} {} ", dataset.graph.directed(), dataset.classes, dataset.features.cols()));
  hash_values(hash, dataset.graph.offsets());
  hash_values(hash, dataset.graph.targets());
  hash_values(hash, std::span<const int32_t>(dataset.labels));
  hash_values(hash, dataset.features.values());
  hash_values(hash, dataset.features.offsets());
  hash_values(hash, dataset.features.columns());
  return {std::make_shared<const data::Dataset>(std::move(dataset)), hash.finish()};
}

std::string trial_key(const Trial& trial) {
  const data::Split& split = trial.data.dataset->splits.at(static_cast<size_t>(trial.split));
  data::Sha256 hash;
  hash.update(fmt::format("{}\n{}\nlayers={}\nsplit={}\n", kVersion, trial.data.fingerprint,
                          trial.layers, trial.split));
  for (const auto* part : {&split.train, &split.val, &split.test}) {
    hash_values(hash, std::span<const graph::NodeId>(*part));
  }
  for (const train::OptionInfo& option : train::config_options()) {
    if (belongs_to_trial(option)) {
      hash.update(fmt::format("{}={}\n", option.key, option.get(*trial.config)));
    }
  }
  constexpr size_t kDigits = 32;
  return hash.finish().substr(0, kDigits);
}

std::map<std::string, std::string> differing_options(const train::Config& config) {
  const train::Config defaults;
  std::map<std::string, std::string> options;
  for (const train::OptionInfo& option : train::config_options()) {
    if (!belongs_to_trial(option) || option.key == "model") continue;
    std::string value = option.get(config);
    if (value != option.get(defaults)) options[option.key] = std::move(value);
  }
  return options;
}

}  // namespace dgat::study
