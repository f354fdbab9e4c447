#pragma once

#include <string>

#include "dgat/data/dataset.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"

/// The graphs and networks that the step benchmarks measure.
namespace dgat::bench {

struct Case {
  const char *name, *graph, *recipe;
  int64_t hidden, steps;
  double goal_seconds, goal_bytes;  // 0: none
  const char* model = nullptr;      // none: the one of --model
  int64_t layers = 2;
};
inline constexpr Case kCases[] = {
    {"minesweeper", "minesweeper", "residual", 512, 5, 1.0, 0.6e9},
    {"chain", "chain", "residual", 512, 4, 2.4, 0},
    {"squirrel_filtered", "squirrel_filtered", "residual", 512, 12, 0.3, 0},
    {"chameleon_filtered", "chameleon_filtered", "residual", 512, 25, 0.1, 0},
    {"tolokers", "tolokers", "residual", 512, 4, 1.8, 1.0e9},
    {"texas", "texas", "residual", 64, 3000, 1.0 / 2000, 0},
    {"texas-classic", "texas", "classic", 64, 3000, 1.0 / 2000, 0},  // the recipe of small graphs
    {"minesweeper-deep-gat", "minesweeper", "deep", 64, 12, 0, 0, "gat", 15},
    {"minesweeper-deep-gcn", "minesweeper", "deep", 64, 12, 0, 0, "gcn", 12},
    {"squirrel-deep-gcn", "squirrel_filtered", "deep", 256, 12, 0, 0, "gcn", 4},
};

/// What a case trains on. `more` are further settings.
struct Setting {
  data::Dataset set;
  train::Config config;
  spectral::SpectralCache cache{spectral::default_cache_folder()};
  train::InputBuilder builder{set, config, cache};
  nn::GraphInput<float> input = builder.for_split(0);

  Setting(const Case& c, const std::string& folder, const std::string& model_name,
          const train::Settings& more = {});
  train::SplitTask task() const { return {config, set, input, 0, config.layers.first}; }
};

/// Trains a case in `config`: the median time of a step, and the loss after the last one.
struct Timing {
  double median = 0, loss = 0;
};
Timing time_steps(const Setting& setting, const train::Config& config);

/// Floating-point operations of one step. As defined: every product with a weight runs in both
/// forward passes and twice in the backward pass (once for the input layer, whose features want no
/// gradient); attention counts two operations per arc and column forward, four backward. Done: of
/// recipe residual, a training pass leaves out the nodes that the loss does not depend on.
struct Work {
  double defined = 0, done = 0;
};
Work step_work(const nn::Model<float>& model, const Setting& setting);

}  // namespace dgat::bench
