// Seconds and memory of one training step of every model, at two sizes of the same kind of graph.
// Run:     build/release/bin/baselines_bench [--nodes 10000] [--factor 10] [--threads 2] [--cpu]
//          [--json] [MODEL...]
// Prints:  per model (--json: as an object on a line of its own) the median time of a step
//          (forward, backward, update, evaluation), the memory its process took beside the data,
//          both at N and at factor * N nodes, the ratios, and the loss after the last step at the
//          larger size (the error column). A model that is linear
//          in nodes and edges has ratios near the factor; the larger graph no longer fits into the
//          caches, which makes the time worse. The last column says "NOT LINEAR" above twice the
//          factor, and the program ends with 1; a second pair of sizes tells caches from growth.
// Graphs:  csbm, mean degree 10, 128 dense features, 5 classes; hidden 64, otherwise the defaults
//          of the model, at two layers where it would choose among depths. Eigenvectors are
//          computed before the clock starts. Every measurement has a process of its own. --cpu
//          measures processor seconds per thread instead of seconds on the wall: for a machine
//          that has other work to do.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/nn/registry.h"
#include "dgat/synth/csbm.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"
#include "stopwatch.h"

namespace {
using namespace dgat;
using bench::cpu_time;
using bench::now;

struct Measured {
  double seconds = 0, bytes = 0, loss = 0;
};

double peak_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) * 1024;
}

data::Dataset graph_of(int64_t nodes) {
  synth::CsbmOptions o;
  o.nodes = static_cast<graph::NodeId>(nodes);
  o.classes = 5;
  o.degree = 10;
  o.homophily = 0.2;
  o.features = 128;
  o.splits = 1;
  data::Dataset set = synth::csbm(o);
  set.name = "csbm";
  return set;
}

train::Config config_of(const std::string& model) {
  constexpr const char* kSteps = "7";
  train::Settings settings = {{"model", model}, {"hidden", "64"}, {"steps", kSteps}};
  const train::Config defaults = train::resolve(settings);
  if (defaults.rewire.advised) settings.insert({"rewire", "auto"});
  if (defaults.layers.first != defaults.layers.last) settings.insert({"layers", "2"});
  for (const nn::ExtraOption& extra : nn::find_model(model).extras) {
    if (extra.name == "pretraining") settings.insert({"extra", "pretraining=0"});
  }
  return train::resolve(settings);
}

Measured measure(const std::string& model, const data::Dataset& set,
                 spectral::SpectralCache& cache) {
  const double before = peak_bytes();
  const train::Config config = config_of(model);
  train::InputBuilder builder(set, config, cache);
  const nn::GraphInput<float> input = builder.for_split(0);
  const train::SplitTask task{config, set, input, 0, config.layers.first};
  const auto net = train::make_task_model(task);
  std::vector<double> seconds;
  Measured result;
  double last = now();
  train::TrainHooks hooks;
  hooks.on_evaluation = [&](const train::StepRecord& record) {
    const double time = now();
    if (record.step > 2) seconds.push_back(time - last);
    last = time;  // the first two steps fill the pools
    result.loss = record.loss;
  };
  train::train_split(task, *net, hooks);
  std::ranges::sort(seconds);
  result.seconds = seconds[seconds.size() / 2];
  result.bytes = peak_bytes() - before;
  return result;
}

/// Runs measure() in a child; false when it failed.
bool measure_apart(const std::string& model, const data::Dataset& set,
                   spectral::SpectralCache& cache, int threads, Measured& result) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    set_thread_count(threads);
    int code = 1;
    try {
      const Measured mine = measure(model, set, cache);
      code = write(ends[1], &mine, sizeof mine) == sizeof mine ? 0 : 1;
    } catch (const std::exception& error) {
      fmt::print(stderr, "{}: {}\n", model, error.what());
    }
    _exit(code);
  }
  close(ends[1]);
  const bool read_all = read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return read_all && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  int64_t nodes = 10'000, factor = 10;
  int threads = 0;
  bool as_json = false;
  std::vector<std::string> models;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--nodes" && i + 1 < argc) {
      nodes = std::atoll(argv[++i]);
    } else if (argument == "--factor" && i + 1 < argc) {
      factor = std::atoll(argv[++i]);
    } else if (argument == "--threads" && i + 1 < argc) {
      threads = std::atoi(argv[++i]);
    } else if (argument == "--cpu") {
      cpu_time = true;
    } else if (argument == "--json") {
      as_json = true;
    } else {
      models.push_back(argument);
    }
  }
  if (models.empty()) {
    for (const nn::ModelInfo& info : nn::all_models()) models.push_back(info.name);
  }
  set_quiet(true);
  set_thread_count(1);  // worker threads do not survive fork(): only the children start some
  const data::Dataset small = graph_of(nodes), large = graph_of(factor * nodes);
  spectral::SpectralCache cache;
  for (const std::string& model : models) {  // so that no child has to solve
    const train::Config config = config_of(model);
    if (!nn::find_model(model).directional) continue;
    train::InputBuilder(small, config, cache);
    train::InputBuilder(large, config, cache);
  }
  if (!as_json) {
    fmt::print("{:<12}{:>12}{:>12}{:>8}{:>10}{:>10}{:>8}{:>10}\n", "model",
               fmt::format("s, N={:.0e}", static_cast<double>(nodes)),
               fmt::format("s, N={:.0e}", static_cast<double>(factor * nodes)), "ratio", "MB", "MB",
               "ratio", "loss");
  }
  int failures = 0;
  for (const std::string& model : models) {
    Measured a, b;
    std::fflush(stdout);
    if (!measure_apart(model, small, cache, threads, a) ||
        !measure_apart(model, large, cache, threads, b)) {
      fmt::print(stderr, "{:<12}failed\n", model);
      ++failures;
      continue;
    }
    const double time = b.seconds / a.seconds, memory = b.bytes / a.bytes;
    const bool linear = std::max(time, memory) <= 2 * static_cast<double>(factor);
    if (as_json) {
      const nlohmann::ordered_json row = {{"dataset", model},
                                          {"nodes", nodes},
                                          {"nodes_large", factor * nodes},
                                          {"seconds", a.seconds},
                                          {"seconds_large", b.seconds},
                                          {"seconds_ratio", time},
                                          {"bytes", a.bytes},
                                          {"bytes_large", b.bytes},
                                          {"bytes_ratio", memory},
                                          {"loss", b.loss}};
      fmt::print("{}\n", row.dump());
      continue;  // the ratios say whether it is linear
    }
    fmt::print("{:<12}{:>12.4f}{:>12.4f}{:>8.1f}{:>10.0f}{:>10.0f}{:>8.1f}{:>10.4f}{}\n", model,
               a.seconds, b.seconds, time, a.bytes / 1e6, b.bytes / 1e6, memory, b.loss,
               linear ? "" : "  NOT LINEAR");
    failures += linear ? 0 : 1;
  }
  return failures > 0 ? 1 : 0;
}
