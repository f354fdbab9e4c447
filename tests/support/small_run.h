#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dgat/core/files.h"
#include "dgat/synth/csbm.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"

/// A data set and options small enough to train in milliseconds.
namespace dgat::test {

inline synth::CsbmOptions small_csbm(int classes = 3, int splits = 2, uint64_t seed = 4) {
  return {.nodes = 60,
          .classes = classes,
          .degree = 6,
          .homophily = 0.2,
          .features = 8,
          .signal = 2,
          .splits = splits,
          .seed = seed};
}

inline data::Dataset small_dataset(int classes = 3, int splits = 2, uint64_t seed = 4) {
  data::Dataset dataset = synth::csbm(small_csbm(classes, splits, seed));
  dataset.name = "small";
  return dataset;
}

inline train::Settings small_settings(const std::string& model = "dgat") {
  return {{"model", model}, {"hidden", "16"}, {"heads", "2"}, {"layers", "1"},  {"lr", "0.01"},
          {"steps", "12"},  {"jobs", "1"},    {"seed", "7"},  {"rewire", "add"}};
}

inline train::Config small_config(const std::string& model = "dgat",
                                  const train::Settings& more = {}) {
  train::Settings settings = small_settings(model);
  for (const auto& [key, value] : more) settings[key] = value;
  return train::resolve(settings);
}

/// One network on one split of a data set in memory, and all that its task refers to.
struct SmallTask {
  explicit SmallTask(const train::Config& wanted, data::Dataset on = small_dataset(),
                     int64_t split = 0)
      : dataset(std::move(on)),
        config(wanted),
        builder(dataset, config, cache),
        input(builder.for_split(split)),
        task{config, dataset, input, split, config.layers.first} {}
  SmallTask(const SmallTask&) = delete;
  SmallTask& operator=(const SmallTask&) = delete;

  data::Dataset dataset;
  train::Config config;
  spectral::SpectralCache cache;
  train::InputBuilder builder;
  nn::GraphInput<float> input;
  train::SplitTask task;
};

inline size_t count_lines(const std::filesystem::path& path) {
  const std::string text = read_whole_file(path);
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

/// All weights of a model, one after another.
inline std::vector<float> weights_of(const nn::Model<float>& model) {
  std::vector<float> all;
  for (const auto& entry : model.parameters().entries()) {
    const auto values = entry.parameter.value.values();
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace dgat::test
