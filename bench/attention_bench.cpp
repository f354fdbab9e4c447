// Fused attention next to the same thing composed of edge operations: forward + backward seconds,
// the largest relative difference of output and gradients, and the peak memory of each.
// Run:     build/release/bin/attention_bench [nodes] [average degree] [hidden] [heads]
// Prints:  one line per form of attention; the last column must stay below 1e-4.
#include <fmt/core.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/tensor/attention.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/pool.h"
#include "dgat/tensor/simd.h"

namespace {
using namespace dgat;
using namespace dgat::tensor;
using F = Var<float>;
using Inputs = std::vector<F>;

Parameter<float> random_parameter(int64_t rows, int64_t cols, uint64_t seed) {
  Parameter<float> result;
  result.value = Matrix<float>(rows, cols);
  Random random(seed);
  for (float& value : result.value.values()) value = static_cast<float>(random.uniform() - 0.5);
  return result;
}

/// A random graph whose first node is joined to half of the others, as rewiring does.
MessageGraph hub_graph(graph::NodeId nodes, double degree) {
  Random random(1);
  std::vector<graph::Edge> edges;
  const auto n = static_cast<uint64_t>(nodes);
  const auto count = static_cast<int64_t>(degree * static_cast<double>(nodes) / 2);
  for (int64_t e = 0; e < count; ++e) {
    edges.push_back(
        {static_cast<graph::NodeId>(random.below(n)), static_cast<graph::NodeId>(random.below(n))});
  }
  for (graph::NodeId i = 2; i < nodes; i += 2) edges.push_back({0, i});
  return MessageGraph::from(graph::build_graph(nodes, edges).graph, true);
}

struct Result {
  double seconds = 1e9;
  double megabytes = 0;
  std::vector<Matrix<float>> values;  ///< output and gradients
};

Result measure(std::vector<Parameter<float>>& parameters,
               const std::function<F(Tape<float>&, const Inputs&)>& run) {
  constexpr int kRepeats = 4;
  Result result;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    Tape<float> tape({.training = true});
    Inputs inputs;
    for (auto& parameter : parameters) {
      parameter.clear_grad();
      inputs.push_back(tape.parameter(parameter));
    }
    const size_t before = pool_statistics().bytes_in_use;
    reset_pool_peak();
    const auto start = std::chrono::steady_clock::now();
    F out = run(tape, inputs);
    F loss = mean(tape, multiply(tape, out, out));
    tape.backward(loss);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    result.seconds = std::min(result.seconds, took.count());
    result.megabytes =
        static_cast<double>(pool_statistics().peak_bytes_in_use - before) / (1 << 20);
    if (repeat + 1 < kRepeats) continue;
    result.values.push_back(out.value().clone());
    for (const auto& parameter : parameters) result.values.push_back(parameter.grad.clone());
  }
  return result;
}

/// Largest difference over the largest value, separately for the output and for all gradients.
double largest_difference(const Result& a, const Result& b) {
  double worst = 0;
  for (const bool output : {true, false}) {
    double difference = 0, size = 0;
    for (size_t i = output ? 0 : 1; i < (output ? 1 : a.values.size()); ++i) {
      for (int64_t e = 0; e < a.values[i].size(); ++e) {
        const double x = a.values[i].data()[e], y = b.values[i].data()[e];
        difference = std::max(difference, std::abs(x - y));
        size = std::max(size, std::abs(y));
      }
    }
    worst = std::max(worst, difference / size);
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int at, const char* fallback) {
    return std::atof(argc > at ? argv[at] : fallback);
  };
  const auto nodes = static_cast<graph::NodeId>(argument(1, "10000"));
  const double degree = argument(2, "10");
  const auto hidden = static_cast<int64_t>(argument(3, "512"));
  const auto heads = static_cast<int64_t>(argument(4, "8"));
  const MessageGraph graph = hub_graph(nodes, degree);
  const Parameter<float> features = random_parameter(graph.arcs(), 2, 9);
  const AttentionOptions options{.heads = heads};

  fmt::print("{} nodes, {} arcs, hidden {}, {} heads, {} threads, {}\n", nodes, graph.arcs(),
             hidden, heads, thread_count(), to_string(simd_level()));
  fmt::print("{:<10} {:>10} {:>10} {:>8} {:>10} {:>12} {:>12}\n", "form", "fused s", "composed s",
             "ratio", "fused MB", "composed MB", "difference");
  const auto report = [&](const char* name, std::vector<Parameter<float>> parameters,
                          const std::function<F(Tape<float>&, const Inputs&)>& fused,
                          const std::function<F(Tape<float>&, const Inputs&)>& scores, int values) {
    const Result a = measure(parameters, fused);
    const Result b = measure(parameters, [&](Tape<float>& t, const Inputs& v) {
      return edge_aggregate(t, graph, edge_softmax(t, graph, scores(t, v)),
                            v[static_cast<size_t>(values)]);
    });
    fmt::print("{:<10} {:>10.4f} {:>10.4f} {:>8.2f} {:>10.0f} {:>12.0f} {:>12.1e}\n", name,
               a.seconds, b.seconds, b.seconds / a.seconds, a.megabytes, b.megabytes,
               largest_difference(a, b));
  };
  const auto inputs = [&](std::initializer_list<std::pair<int64_t, int64_t>> shapes) {
    std::vector<Parameter<float>> result;
    for (const auto& [rows, cols] : shapes) {
      result.push_back(random_parameter(rows, cols, result.size() + 1));
    }
    result.push_back(random_parameter(heads, 2, 20));
    result.push_back(random_parameter(1, heads, 21));
    return result;
  };
  const auto edge = [&](const Inputs& v) { return EdgeTerm<float>{&features.value, v[3], v[4]}; };
  const auto edge_scores = [&](Tape<float>& t, const Inputs& v) {
    return linear(t, t.reference(features.value), v[3], v[4]);
  };

  report(
      "additive", inputs({{nodes, hidden}, {nodes, heads}, {nodes, heads}}),
      [&](Tape<float>& t, const Inputs& v) {
        return additive_attention(t, graph, v[0], v[1], v[2], edge(v), options);
      },
      [&](Tape<float>& t, const Inputs& v) {
        return activate(t, add(t, edge_additive_scores(t, graph, v[1], v[2]), edge_scores(t, v)),
                        Activation::kLeakyRelu);
      },
      0);
  report(
      "gatv2", inputs({{nodes, hidden}, {nodes, hidden}, {heads, hidden / heads}}),
      [&](Tape<float>& t, const Inputs& v) {
        return gatv2_attention(t, graph, v[0], v[1], v[2], edge(v), options);
      },
      [&](Tape<float>& t, const Inputs& v) {
        return add(t, edge_gatv2_scores(t, graph, v[0], v[1], v[2]), edge_scores(t, v));
      },
      1);
  report(
      "dot", inputs({{nodes, hidden}, {nodes, hidden}, {nodes, hidden}}),
      [&](Tape<float>& t, const Inputs& v) {
        return dot_attention(t, graph, v[0], v[1], v[2], edge(v), options);
      },
      [&](Tape<float>& t, const Inputs& v) {
        const double factor = 1 / std::sqrt(static_cast<double>(hidden / heads));
        return add(t, edge_dot_scores(t, graph, v[0], v[1], heads, factor), edge_scores(t, v));
      },
      2);
  return 0;
}
