#include "precision_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/subnormals.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/ops.h"
#include "kernels/tile_unit.h"
#include "stopwatch.h"

namespace dgat::bench {
namespace {

/// Operations per second of the tiles on all threads at once, on panels in the first-level cache.
double tile_peak() {
  constexpr int64_t kInner = 8, kRepeats = 20000, kRuns = 6;
  constexpr int64_t kNumbers = 2 * kInner * tensor::kTileSize;
  double best = 0;
  for (int64_t run = 0; run < kRuns; ++run) {
    const double start = now();
    parallel_for(thread_count(), 1, [&](int64_t, int64_t) {
      std::vector<uint16_t> left(kNumbers, 0x3F80), right(kNumbers, 0x3F80);  // ones
      std::vector<float> c(tensor::kTileBlock * tensor::kTileBlock);
      for (int64_t r = 0; r < kRepeats; ++r) {
        tensor::multiply_panels({.left = left.data(),
                                 .right = right.data(),
                                 .left_step = kInner * tensor::kTileSize,
                                 .right_step = kInner * tensor::kTileSize,
                                 .rows = tensor::kTileBlock,
                                 .cols = tensor::kTileBlock,
                                 .inner_tiles = kInner,
                                 .c = c.data(),
                                 .c_stride = tensor::kTileBlock,
                                 .bias = nullptr,
                                 .accumulate = false});
      }
    });
    const double each = 2.0 * tensor::kTileBlock * tensor::kTileBlock * kInner * tensor::kTileInner;
    best = std::max(best, each * kRepeats * thread_count() / (now() - start));
  }
  return best;
}

nn::GraphInput<float> input_of(const Setting& setting, float) {
  return setting.input;
}
nn::GraphInput<double> input_of(const Setting& setting, double) {
  const auto& messages = *setting.input.messages;
  nn::GraphInput<double> input;
  input.features = std::make_shared<nn::NodeFeatures<double>>(setting.set.features);
  input.messages = std::make_shared<nn::Messages<double>>(
      messages.graph,
      tensor::Matrix<double>::from(messages.features.rows(), messages.features.cols(),
                                   messages.features.values()));
  input.graph = setting.input.graph;
  input.training_labels = setting.input.training_labels;
  return input;
}

struct Pass {
  std::vector<double> logits, gradients;
};

/// A training pass of the network before its first step.
template <class T>
Pass first_pass(const Setting& setting, tensor::Precision precision) {
  const FlushSubnormals flush;
  const nn::GraphInput<T> input = input_of(setting, T{});
  const auto start = train::make_task_model(setting.task());
  const auto model = nn::make_model<T>(setting.config.model, start->options());
  model->prepare(input);
  std::vector<int32_t> nodes, labels;
  for (const graph::NodeId i : setting.set.splits[0].train) {
    const int32_t label = setting.set.labels[static_cast<size_t>(i)];
    if (label < 0) continue;
    nodes.push_back(i);
    labels.push_back(label);
  }
  tensor::Tape<T> tape({.training = true, .seed = 1, .step = 1, .precision = precision});
  const auto logits = model->forward_rows(tape, input, nodes);
  Pass pass;
  pass.logits.assign(logits.value().values().begin(), logits.value().values().end());
  tape.backward(logits.cols() == 1 ? tensor::binary_cross_entropy(tape, logits, labels)
                                   : tensor::cross_entropy(tape, logits, labels));
  for (const auto& entry : model->parameters().entries()) {
    const auto values = entry.parameter.grad.values();
    pass.gradients.insert(pass.gradients.end(), values.begin(), values.end());
  }
  return pass;
}

double error_of(const std::vector<double>& found, const std::vector<double>& exact) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < exact.size(); ++i) {
    difference = std::max(difference, std::abs(found[i] - exact[i]));
    size = std::max(size, std::abs(exact[i]));
  }
  return difference / size;
}

}  // namespace

void print_precision_header() {
  fmt::print("\n{:<20}{:>10}{:>10}{:>8}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "graph", "precision",
             "step s", "faster", "GFLOP/s", "of sgemm", "of tiles", "logits", "gradients");
}

void run_precisions(const Case& c, const Setting& setting, double sgemm_rate, bool timed,
                    bool as_json) {
  constexpr int kRounds = 3;
  struct Row {
    const char* name;
    train::PrecisionChoice choice;
    tensor::Precision precision;
    std::vector<double> seconds = {};
  };
  Row rows[] = {{"f32", train::PrecisionChoice::kF32, tensor::Precision::kF32},
                {"bf16", train::PrecisionChoice::kBf16, tensor::Precision::kBf16}};
  for (int round = 0; timed && round < kRounds; ++round) {
    for (Row& row : rows) {
      train::Config config = setting.config;
      config.precision = row.choice;
      row.seconds.push_back(time_steps(setting, config).median);
    }
  }
  const double peak = timed ? tile_peak() : 0;
  const Pass exact = first_pass<double>(setting, tensor::Precision::kF32);
  const double work = step_work(*train::make_task_model(setting.task()), setting).done;
  double f32 = 0;
  for (Row& row : rows) {
    const Pass pass = first_pass<float>(setting, row.precision);
    const double logits = error_of(pass.logits, exact.logits),
                 gradients = error_of(pass.gradients, exact.gradients);
    nlohmann::ordered_json line = {{"dataset", c.name}, {"precision", row.name}};
    std::string timing = fmt::format("{:>10}{:>8}{:>10}{:>10}{:>10}", "-", "-", "-", "-", "-");
    if (timed) {
      std::sort(row.seconds.begin(), row.seconds.end());
      const double median = row.seconds[kRounds / 2], rate = work / median;
      if (f32 == 0) f32 = median;
      line.update({{"seconds", median}, {"faster", f32 / median}, {"rate", rate}});
      line.update({{"of_sgemm", rate / sgemm_rate}, {"of_tiles", rate / peak}});
      timing = fmt::format("{:>10.4f}{:>8.2f}{:>10.0f}{:>9.0f}%{:>9.0f}%", median, f32 / median,
                           rate / 1e9, 100 * rate / sgemm_rate, 100 * rate / peak);
    }
    line.update({{"logits", logits}, {"gradients", gradients}});
    fmt::print("{}\n", as_json ? line.dump()
                               : fmt::format("{:<20}{:>10}{}{:>10.1e}{:>10.1e}", c.name, row.name,
                                             timing, logits, gradients));
  }
}

}  // namespace dgat::bench
