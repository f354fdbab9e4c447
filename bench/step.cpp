// Seconds of one training step: forward, backward, update and one evaluation forward.
// Run:     build/release/bin/step_bench [--data ../shared/datasets] [--model dgat] [--threads 2]
//          [CASE...]
// Prints:  per graph the sgemm rate measured in the same process, the floating-point operations of
//          the step as defined and those that are done, the time that the former would take at that
//          rate, the median time of a step, what share of it the ideal time is, the share of the
//          rate that the operations done reach, the peak memory of the process, and the loss after
//          the last step (the error column: it must agree between machines to about four digits).
// Every case runs in a process of its own, so that the memory is its own. --cpu measures processor
// seconds per thread instead of seconds on the wall: for a machine that has other work to do.
#include <cblas.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/core/random.h"
#include "dgat/data/load.h"
#include "dgat/graph/builder.h"
#include "dgat/synth/minesweeper.h"
#include "dgat/tensor/blas.h"
#include "dgat/train/run.h"
#include "stopwatch.h"

namespace {
using namespace dgat;
using bench::cpu_time;
using bench::now;

struct Case {
  const char *name, *graph, *recipe;
  int64_t hidden, steps;
  double goal_seconds, goal_bytes;  // 0: none
};
constexpr Case kCases[] = {
    {"minesweeper", "minesweeper", "residual", 512, 5, 1.0, 0.6e9},
    {"chain", "chain", "residual", 512, 4, 2.4, 0},
    {"squirrel_filtered", "squirrel_filtered", "residual", 512, 12, 0.3, 0},
    {"chameleon_filtered", "chameleon_filtered", "residual", 512, 25, 0.1, 0},
    {"tolokers", "tolokers", "residual", 512, 4, 1.8, 1.0e9},
    {"texas", "texas", "residual", 64, 3000, 1.0 / 2000, 0},
    {"texas-classic", "texas", "classic", 64, 3000, 1.0 / 2000, 0},  // the recipe of small graphs
};

/// 22,662 nodes, 32,927 edges, 300 features, 18 classes: a path with chords to near neighbours.
data::Dataset chain() {
  constexpr graph::NodeId kNodes = 22662;
  constexpr size_t kEdges = 32927;
  constexpr int64_t kFeatures = 300;
  Random random(1);
  std::vector<graph::Edge> edges;
  for (graph::NodeId i = 0; i + 1 < kNodes; ++i) edges.push_back({i, i + 1});
  while (edges.size() < kEdges) {
    const auto i = static_cast<graph::NodeId>(random.below(kNodes - 12));
    edges.push_back({i, i + 2 + static_cast<graph::NodeId>(random.below(10))});
  }
  data::Dataset set;
  set.name = "chain";
  set.graph = graph::build_graph(kNodes, edges).graph;
  set.classes = 18;
  std::vector<float> features(static_cast<size_t>(kNodes * kFeatures));
  for (float& v : features) v = static_cast<float>(random.normal());
  set.features = data::Features::dense(kNodes, kFeatures, std::move(features));
  for (graph::NodeId i = 0; i < kNodes; ++i) {
    set.labels.push_back(static_cast<int32_t>(random.below(18)));
  }
  set.splits = data::random_splits(set.labels, set.classes, {0.5, 0.25, 0.25}, 1, 0);
  return set;
}

data::Dataset load_case(const std::string& name, const std::string& folder) {
  if (name == "chain") return chain();
  if (name == "minesweeper") {
    return synth::minesweeper({.splits = 1});
  }
  const std::string path = folder + "/" + name + ".npz";
  if (!std::filesystem::exists(path)) throw_input("{}: not there; see --data", path);
  data::Dataset set = data::load_dataset(path);
  set.splits.resize(1);
  return set;
}

/// Multiply-adds per second of single-threaded sgemm calls on all threads at once, times two.
double sgemm_rate() {
  constexpr int kSize = 1024, kRuns = 6;
  tensor::prepare_blas();
  const int threads = thread_count();
  std::vector<std::vector<float>> a(static_cast<size_t>(threads)), b, c;
  for (auto& m : a) m.assign(size_t{kSize} * kSize, 0.5F);
  b = c = a;
  double best = 0;
  for (int r = 0; r < kRuns; ++r) {
    const double start = now();
    parallel_for(threads, 1, [&](int64_t begin, int64_t) {
      const auto t = static_cast<size_t>(begin);
      for (int repeat = 0; repeat < 2; ++repeat) {
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, kSize, kSize, kSize, 1, a[t].data(),
                    kSize, b[t].data(), kSize, 0, c[t].data(), kSize);
      }
    });
    const double flops = 2.0 * 2.0 * threads * kSize * double{kSize} * kSize;
    best = std::max(best, flops / (now() - start));
  }
  return best;
}

train::Config case_config(const Case& c, const std::string& model_name) {
  return train::resolve({{"model", model_name},
                         {"recipe", c.recipe},
                         {"layers", "2"},
                         {"rewire", "none"},
                         {"hidden", fmt::format("{}", c.hidden)},
                         {"steps", fmt::format("{}", c.steps + 2)}});
}

/// What a case trains on.
struct Setting {
  data::Dataset set;
  train::Config config;
  spectral::SpectralCache cache{spectral::default_cache_folder()};
  train::InputBuilder builder{set, config, cache};
  nn::GraphInput<float> input = builder.for_split(0);

  Setting(const Case& c, const std::string& folder, const std::string& model_name)
      : set(load_case(c.graph, folder)), config(case_config(c, model_name)) {}
  train::SplitTask task() const { return {config, set, input, 0, 2}; }
};

/// Operations of one step. As defined: every product with a weight runs in both forward passes and
/// twice in the backward pass (once for the input layer, whose features want no gradient);
/// attention counts two operations per arc and column forward, four backward. Done: of recipe
/// residual, a training pass leaves out the nodes that the loss does not depend on.
struct Work {
  double defined = 0, done = 0;
};

/// Of all nodes and of all arcs, the part that a layer of a training pass computes: what it reads
/// and what it gives. As in src/nn/receptive_field.h, where nearly all counts as all.
struct Share {
  double read = 1, given = 1, arcs = 1;
};
std::vector<Share> layer_shares(const Setting& setting, int64_t layers) {
  const tensor::MessageGraph& graph = setting.input.messages->graph;
  const auto nodes = static_cast<double>(graph.nodes()), arcs = static_cast<double>(graph.arcs());
  std::vector<Share> shares(static_cast<size_t>(layers));
  std::vector<char> given(static_cast<size_t>(graph.nodes()), 0);
  for (const graph::NodeId i : setting.set.splits[0].train) given[static_cast<size_t>(i)] = 1;
  for (size_t l = shares.size(); l-- > 0;) {
    std::vector<char> read = given;
    int64_t arriving = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      if (given[i] == 0) continue;
      arriving += graph.offsets()[i + 1] - graph.offsets()[i];
      for (int64_t e = graph.offsets()[i]; e < graph.offsets()[i + 1]; ++e) {
        read[static_cast<size_t>(graph.senders()[static_cast<size_t>(e)])] = 1;
      }
    }
    const auto count = [](const std::vector<char>& flags) {
      return static_cast<double>(std::count(flags.begin(), flags.end(), 1));
    };
    shares[l].given = count(given) / nodes;
    shares[l].arcs = static_cast<double>(arriving) / arcs;
    if (l == 0 || 16 * count(read) > 15 * nodes) break;
    shares[l].read = count(read) / nodes;
    given = std::move(read);
  }
  return shares;
}

Work step_work(const nn::Model<float>& model, const Setting& setting) {
  const data::Dataset& set = setting.set;
  const auto& o = model.options();
  const auto nodes = static_cast<double>(set.graph.nodes());
  const bool residual = o.recipe == nn::Recipe::kResidual;
  std::vector<Share> shares(static_cast<size_t>(o.layers));
  if (residual) shares = layer_shares(setting, o.layers);
  const auto computed = [&](const std::string& name) {
    if (name.starts_with("output")) return shares.back().given;
    for (int64_t l = 0; l < o.layers; ++l) {
      if (!name.starts_with(fmt::format("layers.{}.", l))) continue;
      const Share& share = shares[static_cast<size_t>(l)];
      return name.find(".ffn") != std::string::npos ? share.given : share.read;
    }
    return 1.0;
  };
  Work work;
  for (const auto& entry : model.parameters().entries()) {
    const std::string& name = entry.parameter.name;
    if (entry.shape.size() != 2 || name.find("edge") != std::string::npos) continue;
    const bool input = name == "input.weight" || entry.shape[1] == set.features.cols();
    const double once = 2 * (input && set.features.is_sparse()
                                 ? static_cast<double>(set.features.nonzeros() * entry.shape[0])
                                 : nodes * static_cast<double>(entry.shape[0] * entry.shape[1]));
    work.defined += once * (input ? 3 : 4);
    work.done += once * (input ? 3 : 1 + 3 * computed(name));
  }
  const auto arcs = static_cast<double>(setting.input.messages->graph.arcs() * o.hidden);
  for (const Share& share : shares) {
    work.defined += arcs * (2 + 2 + 4);
    work.done += arcs * (2 + share.arcs * (2 + 4));
  }
  return work;
}

void run_case(const Case& c, const Setting& setting) {
  const train::SplitTask task = setting.task();
  const auto model = train::make_task_model(task);
  std::vector<double> seconds;
  double loss = 0;
  double last = now();
  train::TrainHooks hooks;
  hooks.on_evaluation = [&](const train::StepRecord& record) {
    const double time = now();
    if (record.step > 2) seconds.push_back(time - last);  // the first two fill the pools
    last = time;
    loss = record.loss;
  };
  train::train_split(task, *model, hooks);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<int64_t>(seconds.size() / 2),
                   seconds.end());
  const double median = seconds[seconds.size() / 2];
  const double rate = sgemm_rate();
  const Work work = step_work(*model, setting);
  const double ideal = work.defined / rate;
  fmt::print(
      "{:<20}{:>9.1f}{:>8.2f}{:>8.2f}{:>9.4f}{:>10.6f}{:>8.0f}%{:>7.0f}%{:>8.2f}{:>9.4f}{:>9}"
      "{:>9}\n",
      c.name, rate / 1e9, work.defined / 1e9, work.done / 1e9, ideal, median, 100 * ideal / median,
      100 * work.done / rate / median, static_cast<double>(usage.ru_maxrss) * 1024 / 1e9, loss,
      fmt::format("{:.4g}", c.goal_seconds),
      c.goal_bytes > 0 ? fmt::format("{:.1f}", c.goal_bytes / 1e9) : "-");
}

/// Steps per second when every thread trains a network of its own, as `dgat train` does with the
/// splits of a small graph.
void run_side_by_side(const Case& c, const Setting& setting) {
  const int threads = thread_count();
  const double start = now();
  {
    std::vector<std::jthread> workers;
    for (int t = 0; t < threads; ++t) {
      workers.emplace_back([&] {
        const ThreadScope scope(1);
        const train::SplitTask task = setting.task();
        const auto model = train::make_task_model(task);
        train::train_split(task, *model, {});
      });
    }
  }
  const double seconds = (now() - start) * (cpu_time ? threads : 1);
  fmt::print("{:<20}{:>10.0f} steps/s of {} trainings side by side\n", c.name,
             static_cast<double>(threads * setting.config.steps) / seconds, threads);
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = "../shared/datasets", model = "dgat";
  std::vector<std::string> wanted;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--data" && i + 1 < argc) {
      folder = argv[++i];
    } else if (argument == "--model" && i + 1 < argc) {
      model = argv[++i];
    } else if (argument == "--threads" && i + 1 < argc) {
      dgat::set_thread_count(std::atoi(argv[++i]));
    } else if (argument == "--cpu") {
      cpu_time = true;
    } else {
      wanted.push_back(argument);
    }
  }
  fmt::print("{:<20}{:>9}{:>8}{:>8}{:>9}{:>10}{:>9}{:>8}{:>8}{:>9}{:>9}{:>9}\n", "graph", "GFLOP/s",
             "GFLOP", "done", "ideal s", "step s", "of ideal", "of rate", "peak GB", "loss",
             "goal s", "goal GB");
  int failures = 0;
  for (const Case& c : kCases) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), c.name) == wanted.end())
      continue;
    std::fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
      int code = 0;
      try {
        set_quiet(true);
        const Setting setting(c, folder, model);
        run_case(c, setting);
        if (c.hidden < 512) run_side_by_side(c, setting);
      } catch (const std::exception& error) {
        fmt::print(stderr, "{}: {}\n", c.name, error.what());
        code = 1;
      }
      std::fflush(stdout);
      _exit(code);
    }
    int status = 0;
    waitpid(child, &status, 0);
    failures += status == 0 ? 0 : 1;
  }
  return failures;
}
