#include "dgat/study/memory_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/memory_limits.h"
#include "dgat/core/parallel.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/nn/registry.h"
#include "dgat/study/engine.h"
#include "dgat/tensor/pool.h"
#include "dgat/tensor/tape.h"
#include "dgat/train/inputs.h"
#include "dgat/train/trainer.h"

namespace dgat::study {
namespace {

/// A random graph with the shape of a data set: degree, features, classes, training share.
data::Dataset probe_of(const data::Dataset& like, int64_t nodes) {
  Random random(1);
  const auto n = static_cast<graph::NodeId>(nodes);
  const auto below = [&](int64_t count) {
    return static_cast<int32_t>(random.below(static_cast<uint64_t>(count)));
  };
  const double share = static_cast<double>(nodes) / std::max(1, like.graph.nodes());
  const auto edges =
      static_cast<int64_t>(std::min(std::ceil(share * static_cast<double>(like.graph.edges())),
                                    0.4 * static_cast<double>(nodes) * static_cast<double>(nodes)));
  std::vector<graph::Edge> list;
  for (graph::NodeId i = 1; i < n; ++i) list.push_back({i, below(i)});  // connected
  while (std::ssize(list) < edges) list.push_back({below(n), below(n)});
  data::Dataset probe;
  probe.name = like.name;
  probe.graph = graph::build_graph(n, list, {.directed = like.graph.directed()}).graph;
  probe.classes = like.classes;
  for (graph::NodeId i = 0; i < n; ++i) probe.labels.push_back(i % std::max(1, like.classes));
  const int64_t cols = like.features.cols();
  const auto per_row = static_cast<int64_t>(
      std::ceil(static_cast<double>(like.features.nonzeros()) / std::max(1, like.graph.nodes())));
  if (like.features.is_sparse()) {
    std::vector<int64_t> offsets{0};
    std::vector<int32_t> columns;
    for (graph::NodeId i = 0; i < n; ++i) {
      const int64_t count = std::clamp<int64_t>(per_row, 1, cols);
      for (int64_t c = 0; c < count; ++c) columns.push_back(static_cast<int32_t>(c * cols / count));
      offsets.push_back(std::ssize(columns));
    }
    const std::vector<float> ones(columns.size(), 1.0F);
    probe.features = data::Features::sparse(n, cols, std::move(offsets), std::move(columns), ones);
  } else {
    std::vector<float> values(static_cast<size_t>(nodes * cols));
    for (float& value : values) value = static_cast<float>(random.normal());
    probe.features = data::Features::dense(n, cols, std::move(values));
  }
  const data::Split& parts = like.splits.front();
  const double share_of_train =
      static_cast<double>(parts.train.size()) / std::max(1, like.graph.nodes());
  const auto wanted = static_cast<int64_t>(std::round(static_cast<double>(nodes) * share_of_train));
  const auto train = std::clamp<int64_t>(wanted, nodes / 20, nodes - nodes / 10);
  data::Split& split = probe.splits.emplace_back();
  for (graph::NodeId i = 0; i < n; ++i) {  // classes alternate, so that every part has each
    (i < train ? split.train : i < (train + n) / 2 ? split.val : split.test).push_back(i);
  }
  return probe;
}

/// Bytes of a CSR of messages: offsets, senders, receivers, order, features and the plans of loops.
double message_bytes(double nodes, double arcs, double features) {
  return 16 * nodes + 12 * arcs + 4 * features * arcs + 2 * sizeof(tensor::RowPiece) * nodes;
}

constexpr double kMetisPerArc = 24;

int64_t shared_bytes(const data::Dataset& dataset, const train::Config& config) {
  const double nodes = dataset.graph.nodes();
  const bool directional = nn::find_model(config.model).directional;
  const bool rewires = directional && config.rewire != rewire::Mode{};
  double arcs = static_cast<double>(dataset.graph.arcs());
  double bytes = 0;
  if (rewires) {
    if (config.rewire.join != rewire::Join::kNone || config.rewire.automatic) arcs += 2 * nodes;
    bytes += 8 * nodes + 4 * arcs;
  }
  arcs += nodes;
  const double edge_features =
      directional && config.directional ? 2.0 * static_cast<double>(config.eigenvectors) : 0;
  if (directional) bytes += 16 * nodes * static_cast<double>(config.eigenvectors);
  bytes += message_bytes(nodes, arcs, edge_features);
  const double copied = 8 * nodes + 4 * arcs + 4 * edge_features * arcs;  // while messages are made
  const double train_share = static_cast<double>(dataset.splits.front().train.size()) / nodes;
  const double field = train_share * message_bytes(nodes, arcs, edge_features);
  bytes += std::max(copied, field);
  if (config.cells > 0) {  // what METIS takes is given back before messages are made
    bytes = std::max(bytes, kMetisPerArc * static_cast<double>(dataset.graph.arcs()));
  }
  if (dataset.features.is_sparse()) {
    bytes += 2 * (8.0 * static_cast<double>(dataset.features.nonzeros()) + 8 * nodes);
  } else {
    bytes += 4 * nodes * static_cast<double>(dataset.features.cols());
  }
  return static_cast<int64_t>(bytes);
}

/// What is measured on random graphs of kProbeNodes and half as many nodes, shaped like the data
/// set and continued in a straight line.
template <class Measure>
int64_t continued(const data::Dataset& dataset, int64_t nodes, const Measure& measure) {
  if (nodes <= kProbeNodes) return measure(probe_of(dataset, nodes));
  const int64_t half = kProbeNodes / 2;
  const auto small = static_cast<double>(measure(probe_of(dataset, half)));
  const auto large = static_cast<double>(measure(probe_of(dataset, kProbeNodes)));
  const double slope = (large - small) / static_cast<double>(kProbeNodes - half);
  return static_cast<int64_t>(large + slope * static_cast<double>(nodes - kProbeNodes));
}

/// The options of a training on a probe.
train::Config of_probe(train::Config config) {
  config.steps = 2;
  config.eval_every = 1;
  config.patience = 0;
  config.splits = 1;
  config.spill.clear();
  // Advice needs the splits of the data set. Most of it leaves the edges as they are.
  if (config.rewire.advised) config.rewire = {};
  return config;
}

/// The bytes of matrices that `work(input)` takes on a data set, inputs not counted.
template <class Work>
int64_t bytes_of(const data::Dataset& dataset, const train::Config& probe, const Work& work) {
  const QuietNotices quiet;
  const ThreadScope alone(1);
  spectral::SpectralCache cache;
  train::InputBuilder builder(dataset, probe, cache);
  const nn::GraphInput<float> input = builder.for_split(0);
  tensor::trim_pool();
  tensor::reset_pool_peak();
  const size_t before = tensor::pool_statistics().bytes_touched;
  work(input);
  return static_cast<int64_t>(tensor::pool_statistics().peak_bytes_touched - before);
}

/// The bytes of matrices that a forward pass takes.
int64_t forward_bytes(const data::Dataset& dataset, const train::Config& config, int64_t layers) {
  const train::Config probe = of_probe(config);
  return bytes_of(dataset, probe, [&](const nn::GraphInput<float>& input) {
    const auto model = train::make_task_model({probe, dataset, input, 0, layers});
    tensor::Tape<float> tape;
    model->forward(tape, input);
  });
}

/// In cells: a step on its share of the nodes, with all of their arcs, or an evaluation. One by
/// parts keeps a layer's input and output, and what a part and its neighbours need.
int64_t trial_bytes_in_cells(const data::Dataset& dataset, const train::Config& config,
                             int64_t layers) {
  constexpr double kUneven = 1.03;  // METIS allows this much
  const double nodes = dataset.graph.nodes();
  const double share =
      kUneven * static_cast<double>(config.per_step) / static_cast<double>(config.cells);
  const auto of_step = static_cast<int64_t>(std::ceil(nodes * std::min(1.0, share)));
  const bool saving = train::saves_memory(config, dataset.graph.nodes(), layers);
  train::Config whole = config;
  whole.cells = 0;
  const int64_t step = continued(
      dataset, std::max<int64_t>(64, of_step),
      [&](const data::Dataset& probe) { return training_bytes(probe, whole, layers, saving); });
  const bool by_parts =
      nn::find_model(config.model).uses_heads && config.recipe == nn::Recipe::kResidual;
  if (!by_parts) {
    return std::max(step, continued(dataset, dataset.graph.nodes(), [&](const auto& probe) {
                      return forward_bytes(probe, whole, layers);
                    }));
  }
  const double degree = static_cast<double>(dataset.graph.arcs()) / std::max(1.0, nodes);
  const auto read =
      static_cast<int64_t>(std::min(nodes, static_cast<double>(of_step) * (1 + degree)));
  const int64_t part =
      continued(dataset, std::max<int64_t>(64, read),
                [&](const data::Dataset& probe) { return forward_bytes(probe, whole, layers); });
  const double rows = 4 * nodes * (2 * static_cast<double>(config.hidden) + dataset.classes);
  return std::max(step, part + static_cast<int64_t>(rows));
}

/// Of a network with `layers` layers on the data set.
int64_t trial_bytes(const data::Dataset& dataset, const train::Config& config, int64_t layers) {
  if (config.cells > 0) return trial_bytes_in_cells(dataset, config, layers);
  const bool saving = train::saves_memory(config, dataset.graph.nodes(), layers);
  return continued(dataset, dataset.graph.nodes(), [&](const data::Dataset& probe) {
    return training_bytes(probe, config, layers, saving);
  });
}

int64_t wanted_jobs(const data::Dataset& dataset, const train::Config& config) {
  const Trial trial{{std::shared_ptr<const data::Dataset>(std::shared_ptr<void>(), &dataset), ""},
                    std::make_shared<const train::Config>(config),
                    config.layers.first,
                    0};
  const int64_t trials =
      std::ssize(dataset.splits) * (config.layers.last - config.layers.first + 1);
  const int64_t jobs = config.jobs > 0 ? config.jobs : is_small(trial) ? thread_count() : 1;
  return std::max<int64_t>(1, std::min(jobs, trials));
}

std::string gigabytes(int64_t bytes) {
  return fmt::format("{:.2g} GB", static_cast<double>(bytes) * 1e-9);
}

}  // namespace

int64_t training_bytes(const data::Dataset& dataset, const train::Config& config, int64_t layers,
                       std::optional<bool> save_memory) {
  const train::Config probe = of_probe(config);
  return bytes_of(dataset, probe, [&](const nn::GraphInput<float>& input) {
    const train::SplitTask task{probe, dataset, input, 0, layers, save_memory};
    const auto model = train::make_task_model(task);
    train::train_split(task, *model);
  });
}

std::optional<MemoryPlan> plan_memory(const data::Dataset& dataset, const train::Config& config) {
  train::check_machine(config);
  MemoryPlan plan;
  try {
    plan.trial = trial_bytes(dataset, config, config.layers.last);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {  // the training itself will say it, about the real graph
    return std::nullopt;
  }
  tensor::trim_pool();
  plan.shared = shared_bytes(dataset, config);
  plan.present = resident_bytes();
  plan.limit = train::memory_limit(config, plan.present);
  plan.wanted_jobs = plan.jobs = wanted_jobs(dataset, config);
  while (plan.jobs > 1 && !plan.fits()) --plan.jobs;
  return plan;
}

void throw_does_not_fit(const MemoryPlan& plan, const data::Dataset& dataset,
                        const train::Config& config) {
  std::string fitting;
  const auto fits = [&](const train::Config& smaller) {
    std::optional<MemoryPlan> other = plan_memory(dataset, smaller);
    if (!other) return false;
    // Judged by the same measurement of the process, which may have grown since.
    other->present = plan.present;
    other->limit = plan.limit;
    return other->peak_with(1) <= other->limit;
  };
  train::Config narrow = config;
  while (fitting.empty() && narrow.hidden > 1 && narrow.hidden / 2 % config.heads == 0) {
    narrow.hidden /= 2;
    if (fits(narrow)) fitting = fmt::format("; --hidden {} fits", narrow.hidden);
  }
  train::Config shallow = config;
  if (config.layers.last > 1) {
    shallow.layers = {1, 1};
    if (fits(shallow))
      fitting += fmt::format("{} --layers 1 fits", fitting.empty() ? ";" : ", and");
  }
  for (const int64_t cells : {16, 64, 256}) {
    train::Config parts = config;
    parts.cells = cells;
    parts.per_step = 1;
    if (config.cells > 0 || !nn::find_model(config.model).in_cells || !fits(parts)) continue;
    fitting += fmt::format("{} --cells {}, an approximation, fits", fitting.empty() ? ";" : ", and",
                           cells);
    break;
  }
  if (config.spill.empty() && plan.fits_with_files()) {
    fitting += fmt::format("{} --spill DIR, a folder on a disk for the rest, fits",
                           fitting.empty() ? ";" : ", and");
  }
  throw_input(
      "{}: {} with {} layers of width {} needs about {} of memory, but only {} are available{}",
      dataset.name, config.model, config.layers.last, config.hidden, gigabytes(plan.peak_with(1)),
      gigabytes(plan.limit), fitting.empty() ? "; use a machine with more memory" : fitting);
}

}  // namespace dgat::study
