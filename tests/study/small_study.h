#pragma once

#include "dgat/study/study.h"
#include "support/small_run.h"

/// Studies small enough to train in milliseconds.
namespace dgat::test {

inline study::TrialData small_data(int splits = 3, uint64_t seed = 4) {
  return study::trial_data(small_dataset(3, splits, seed));
}

inline std::shared_ptr<const train::Config> small_options(const train::Settings& more = {}) {
  train::Settings settings = more;
  settings.insert({"steps", "8"});
  return std::make_shared<const train::Config>(small_config("dgat", settings));
}

inline study::Row small_row(const std::string& name, const train::Settings& more = {}) {
  return {name, {small_options(more)}, ""};
}

}  // namespace dgat::test
