#pragma once

#include "dgat/study/study.h"
#include "dgat/synth/csbm.h"

/// A data set and options small enough to train in milliseconds.
namespace dgat::test {

inline study::TrialData small_data(int splits = 3, uint64_t seed = 4) {
  synth::CsbmOptions o;
  o.nodes = 60;
  o.classes = 3;
  o.degree = 6;
  o.homophily = 0.2;
  o.features = 8;
  o.signal = 2;
  o.splits = splits;
  o.seed = seed;
  data::Dataset dataset = synth::csbm(o);
  dataset.name = "small";
  return study::trial_data(std::move(dataset));
}

inline std::shared_ptr<const train::Config> small_options(const train::Settings& more = {}) {
  train::Settings settings = {{"hidden", "16"}, {"heads", "2"}, {"layers", "1"},
                              {"lr", "0.01"},   {"steps", "8"}, {"rewire", "add"}};
  for (const auto& [key, value] : more) settings[key] = value;
  return std::make_shared<const train::Config>(train::resolve(settings));
}

inline study::Row small_row(const std::string& name, const train::Settings& more = {}) {
  return {name, {small_options(more)}, ""};
}

}  // namespace dgat::test
