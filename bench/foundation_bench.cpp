// Building, measuring and generating graphs. Error columns are printed with the times.
#include <benchmark/benchmark.h>

#include <cmath>

#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/graph/components.h"
#include "dgat/graph/homophily.h"
#include "dgat/synth/csbm.h"
#include "dgat/synth/minesweeper.h"
#include "dgat/synth/mixhop.h"

namespace {

using dgat::graph::Edge;
using dgat::graph::NodeId;

std::vector<Edge> random_edges(NodeId nodes, int64_t edges) {
  dgat::Random random(1);
  std::vector<Edge> list(static_cast<size_t>(edges));
  const auto n = static_cast<uint64_t>(nodes);
  for (Edge& e : list) {
    e = {static_cast<NodeId>(random.below(n)), static_cast<NodeId>(random.below(n))};
  }
  return list;
}

void build_from_edge_list(benchmark::State& state) {
  const auto nodes = static_cast<NodeId>(state.range(0));
  const auto edges = random_edges(nodes, state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(dgat::graph::build_graph(nodes, edges));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(build_from_edge_list)
    ->Args({18660, 790777})
    ->Args({1000000, 10000000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void connected_components(benchmark::State& state) {
  const auto nodes = static_cast<NodeId>(state.range(0));
  const auto graph = dgat::graph::build_graph(nodes, random_edges(nodes, state.range(1))).graph;
  for (auto _ : state) benchmark::DoNotOptimize(dgat::graph::connected_components(graph));
}
BENCHMARK(connected_components)
    ->Args({18660, 790777})
    ->Args({1000000, 10000000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

/// All measures on a block model of the size of fb100_cornell5, and on ten million edges.
void homophily_measures(benchmark::State& state) {
  const auto nodes = static_cast<NodeId>(state.range(0));
  const double degree = 2.0 * static_cast<double>(state.range(1)) / static_cast<double>(nodes);
  const auto set = dgat::synth::csbm({.nodes = nodes,
                                      .classes = 5,
                                      .degree = degree,
                                      .homophily = 0.3,
                                      .features = 5,
                                      .splits = 0});
  double edge = 0;
  for (auto _ : state) {
    edge = dgat::graph::measure_homophily(set.graph, set.labels, set.classes).edge;
    benchmark::DoNotOptimize(edge);
  }
  state.counters["homophily_error"] = std::abs(edge - 0.3);
}
BENCHMARK(homophily_measures)
    ->Args({18660, 790777})
    ->Args({1000000, 10000000})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void generate_mixhop(benchmark::State& state) {
  const double mu = 0.3;
  double error = 0;
  for (auto _ : state) {
    const auto set = dgat::synth::mixhop({.mu = mu, .nodes = static_cast<NodeId>(state.range(0))});
    state.PauseTiming();
    error = std::abs(dgat::graph::measure_homophily(set.graph, set.labels, set.classes).edge - mu);
    state.ResumeTiming();
  }
  state.counters["homophily_error"] = error;
}
BENCHMARK(generate_mixhop)
    ->Arg(5000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void generate_minesweeper(benchmark::State& state) {
  const auto side = static_cast<NodeId>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(dgat::synth::minesweeper({.height = side, .width = side}));
  }
}
BENCHMARK(generate_minesweeper)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond)->UseRealTime();

void generate_csbm(benchmark::State& state) {
  const auto nodes = static_cast<NodeId>(state.range(0));
  double error = 0;
  for (auto _ : state) {
    const auto set = dgat::synth::csbm({.nodes = nodes, .homophily = 0.3});
    const double expected = 5.0 * static_cast<double>(nodes);
    error = std::abs(static_cast<double>(set.graph.edges()) / expected - 1);
  }
  state.counters["edges_error"] = error;
}
BENCHMARK(generate_csbm)->Arg(100000)->Arg(1000000)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
