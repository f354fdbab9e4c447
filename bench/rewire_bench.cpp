// Rewiring and directional edge features on a large power-law graph.
// Run:     build/release/bin/rewire_bench [--nodes 1000000] [--threads 2] [--json]
// Prints:  for every mode (--json: as an object) the median seconds of five runs, and two error
// columns: edges on which
//          the result differs from a plain count, and the worst row sum of B_dx (exactly 0 in
//          real arithmetic). The goal is 1 s in total for 5e6 edges on two threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/rewire/rewire.h"
#include "dgat/spectral/distances.h"

namespace {

using namespace dgat;
using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

constexpr int kEdgesPerNode = 5, kRuns = 5;

/// Preferential attachment: every new node joins ends of five edges drawn at random.
CsrGraph power_law_graph(NodeId nodes) {
  Random random(1);
  std::vector<Edge> edges;
  for (NodeId i = 1; i < nodes; ++i) {
    for (int e = 0; e < std::min(i, kEdgesPerNode); ++e) {
      const uint64_t end = random.below(2 * edges.size() + 1);
      const Edge drawn = end / 2 < edges.size() ? edges[end / 2] : Edge{0, 0};
      edges.push_back({i, end % 2 == 0 ? drawn.from : drawn.to});
    }
  }
  return graph::build_graph(nodes, edges).graph;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

int64_t wrongly_dropped(const CsrGraph& graph, const spectral::NodeVectors& phi,
                        const rewire::RewireReport& report) {
  int64_t dropped = 0;
  for (const Edge edge : graph.edge_list()) {
    const double distance = spectral::spectral_distance(phi, edge.from, edge.to);
    if (report.mode.prune == rewire::Prune::kNear && distance < report.epsilon) ++dropped;
    if (report.mode.prune == rewire::Prune::kFar && distance > report.epsilon) ++dropped;
  }
  return std::abs(dropped - report.dropped);
}

double worst_row_sum(const rewire::MessageGraph& graph) {
  double worst = 0;
  for (size_t i = 0; i + 1 < graph.offsets.size(); ++i) {
    double sum = 0;
    for (int64_t a = graph.offsets[i]; a < graph.offsets[i + 1]; ++a) {
      sum += graph.features[static_cast<size_t>(a * graph.feature_count + 1)];
    }
    worst = std::max(worst, std::abs(sum));
  }
  return worst;
}

}  // namespace

int main(int argc, char** argv) {
  NodeId nodes = 1'000'000;
  bool as_json = false;
  set_thread_count(2);
  for (int a = 1; a < argc; ++a) {
    const std::string_view argument = argv[a];
    if (argument == "--json") as_json = true;
    if (argument == "--nodes" && a + 1 < argc) nodes = std::atoi(argv[++a]);
    if (argument == "--threads" && a + 1 < argc) set_thread_count(std::atoi(argv[++a]));
  }
  const CsrGraph graph = power_law_graph(nodes);
  Random random(2);
  std::vector<double> values(static_cast<size_t>(nodes));
  std::vector<int32_t> labels(values.size());
  for (double& v : values) v = random.normal();
  for (int32_t& label : labels)
    label = random.below(2) == 0 ? -1 : static_cast<int32_t>(random.below(5));
  const spectral::NodeVectors phi(values);

  if (!as_json) {
    fmt::print("{} nodes, {} edges, {} threads\n", graph.nodes(), graph.edges(), thread_count());
    fmt::print("{:14} {:>9} {:>11} {:>9} {:>12} {:>13} {:>12}\n", "mode", "rewire s", "features s",
               "total s", "edges after", "wrong edges", "B_dx error");
  }
  for (const char* mode : {"none", "prune-near", "prune-far", "add", "prune-far+add", "hub"}) {
    std::vector<double> rewire_seconds, feature_seconds, total;
    rewire::RewireResult result;
    rewire::MessageGraph messages;
    for (int run = 0; run < kRuns; ++run) {
      result = {};
      messages = {};
      const auto start = std::chrono::steady_clock::now();
      result = rewire::rewire(graph, phi, {.mode = rewire::parse_mode(mode)}, labels);
      rewire_seconds.push_back(seconds_since(start));
      messages = rewire::message_graph(result.graph, phi);
      total.push_back(seconds_since(start));
      feature_seconds.push_back(total.back() - rewire_seconds.back());
    }
    const int64_t wrong = wrongly_dropped(graph, phi, result.report);
    const double error = worst_row_sum(messages);
    if (as_json) {
      const nlohmann::ordered_json row = {{"dataset", mode},
                                          {"nodes", graph.nodes()},
                                          {"edges", graph.edges()},
                                          {"rewire", median(rewire_seconds)},
                                          {"features", median(feature_seconds)},
                                          {"seconds", median(total)},
                                          {"edges_after", result.report.edges_after},
                                          {"wrong", wrong},
                                          {"error", error}};
      fmt::print("{}\n", row.dump());
    } else {
      fmt::print("{:14} {:9.3f} {:11.3f} {:9.3f} {:12} {:13} {:12.1e}\n", mode,
                 median(rewire_seconds), median(feature_seconds), median(total),
                 result.report.edges_after, wrong, error);
    }
  }
}
