// Test metric in precision f32 beside bf16: the same splits, seeds and options.
// Run:     build/release/bin/accuracy_bench FILE [--model dgat] [--layers 2] [--hidden 512]
//          [--steps 300] [--splits 10] [--threads 2] [--emulated]
//          [--json]
// Prints:  the test metric of every split at the step that validation chose, then mean and sample
//          standard deviation of both precisions, and the difference of the means in standard
//          deviations of f32. --json: the latter alone, as an object on a line. --emulated
//          multiplies on emulated tiles, which have the bits of a processor with AMX
//          (src/tensor/kernels/tiles_emulated.cpp): for processors without.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/data/load.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"
#include "kernels/tile_unit.h"

namespace {
using namespace dgat;

struct Column {
  train::PrecisionChoice precision;
  std::vector<double> test = {};
  double seconds = 0;

  double mean() const {
    double sum = 0;
    for (const double value : test) sum += value;
    return sum / static_cast<double>(test.size());
  }
  double deviation() const {
    double squares = 0;
    for (const double value : test) squares += (value - mean()) * (value - mean());
    return std::sqrt(squares / std::max(1.0, static_cast<double>(test.size()) - 1));
  }
};

}  // namespace

int main(int argc, char** argv) {
  std::string path, model = "dgat";
  int64_t layers = 2, hidden = 512, steps = 300, splits = 10;
  int threads = 2;
  bool emulated = false, as_json = false;
  CLI::App app("test metric in f32 and bf16");
  app.add_option("file", path)->required();
  app.add_option("--model", model);
  app.add_option("--layers", layers);
  app.add_option("--hidden", hidden);
  app.add_option("--steps", steps);
  app.add_option("--splits", splits);
  app.add_option("--threads", threads);
  app.add_flag("--emulated", emulated);
  app.add_flag("--json", as_json);
  CLI11_PARSE(app, argc, argv);
  try {
    set_thread_count(threads);
    set_quiet(true);
    if (emulated) tensor::use_tile_unit(tensor::TileUnit::kEmulated);
    const data::Dataset set = data::load_dataset(path);
    const int64_t count = std::min(splits, std::ssize(set.splits));
    train::Config config = train::resolve(train::Settings{{"model", model},
                                                          {"layers", fmt::format("{}", layers)},
                                                          {"hidden", fmt::format("{}", hidden)},
                                                          {"rewire", "none"},
                                                          {"steps", fmt::format("{}", steps)}});
    spectral::SpectralCache cache{spectral::default_cache_folder()};
    train::InputBuilder builder{set, config, cache};
    Column f32{train::PrecisionChoice::kF32}, bf16{train::PrecisionChoice::kBf16};
    if (!as_json) fmt::print("{:<8}{:>10}{:>10}\n", "split", "f32", "bf16");
    for (int64_t split = 0; split < count; ++split) {
      const nn::GraphInput<float> input = builder.for_split(split);
      for (Column* column : {&f32, &bf16}) {
        config.precision = column->precision;
        const train::SplitTask task{config, set, input, split, config.layers.first};
        const auto network = train::make_task_model(task);
        const train::SplitResult result = train::train_split(task, *network);
        column->test.push_back(100 * result.best.test);
        column->seconds += result.seconds;
      }
      if (as_json) continue;
      fmt::print("{:<8}{:>10.2f}{:>10.2f}\n", split, f32.test.back(), bf16.test.back());
      std::fflush(stdout);
    }
    const double difference = bf16.mean() - f32.mean();
    if (as_json) {
      const nlohmann::ordered_json line = {
          {"dataset", set.name},        {"splits", count},
          {"f32", f32.mean()},          {"f32_deviation", f32.deviation()},
          {"bf16", bf16.mean()},        {"bf16_deviation", bf16.deviation()},
          {"difference", difference},   {"deviations", std::abs(difference) / f32.deviation()},
          {"f32_seconds", f32.seconds}, {"bf16_seconds", bf16.seconds}};
      fmt::print("{}\n", line.dump());
      return 0;
    }
    fmt::print("{:<8}{:>10.2f}{:>10.2f}\n", "mean", f32.mean(), bf16.mean());
    fmt::print("{:<8}{:>10.2f}{:>10.2f}\n", "std", f32.deviation(), bf16.deviation());
    fmt::print("{:<8}{:>10.0f}{:>10.0f}\n", "seconds", f32.seconds, bf16.seconds);
    fmt::print("difference of the means: {:+.2f} points, {:.2f} standard deviations of f32\n",
               difference, std::abs(difference) / f32.deviation());
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
