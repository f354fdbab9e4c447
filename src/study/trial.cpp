#include "dgat/study/trial.h"

#include <fmt/format.h>

#include "dgat/data/fingerprint.h"
#include "dgat/data/sha256.h"

namespace dgat::study {

bool belongs_to_trial(const train::OptionInfo& option) {
  using train::Affects;
  return option.changes_result && !option.affects_only(Affects::kData | Affects::kTrials);
}

TrialData trial_data(data::Dataset dataset) {
  std::string content = data::fingerprint(dataset);
  return {std::make_shared<const data::Dataset>(std::move(dataset)), std::move(content)};
}

std::string trial_key(const Trial& trial, int64_t results_version) {
  const data::Split& split = trial.data.dataset->splits.at(static_cast<size_t>(trial.split));
  data::Sha256 hash;
  hash.update(fmt::format("results_version={}\n{}\nmodel={}\nlayers={}\nsplit={}\n",
                          results_version, trial.data.fingerprint, trial.config->model,
                          trial.layers, trial.split));
  for (const auto* part : {&split.train, &split.val, &split.test}) {
    hash.update_list(std::span<const graph::NodeId>(*part));
  }
  for (const auto& [key, value] : differing_options(*trial.config)) {
    hash.update(fmt::format("{}={}\n", key, value));
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
