// 04_train_own_arrays.cpp: train DGAT on edges, features and labels that are in memory.
// Two worlds of 40 nodes with two roles each. Neighbours have opposite roles, and features show
// only the role. The class is (world, role), so the network needs edges and features.
// Run:     cmake -S examples/installed -B build/own -DCMAKE_PREFIX_PATH=<where dgat is installed>
//          cmake --build build/own && build/own/04_train_own_arrays
// Prints:
//   80 nodes, 321 edges, edge homophily 0.00
//   rewiring add: 79 edges added
//   test accuracy 100.0 %
#include <cstdio>
#include <vector>

#include "dgat/graph/builder.h"
#include "dgat/graph/homophily.h"
#include "dgat/study/run.h"

using namespace dgat;

/// Edges, features, labels and one split: what your own program has.
data::Dataset two_worlds() {
  data::Dataset set;
  set.name = "two worlds";
  std::vector<graph::Edge> edges = {{0, 41}};  // the only way from one world to the other
  std::vector<float> features;
  data::Split split;
  for (int32_t i = 0; i < 80; ++i) {
    const int32_t world = i / 40, role = i % 2;
    for (const int32_t step : {1, 3, 5, 7}) edges.push_back({i, 40 * world + (i + step) % 40});
    features.push_back(role == 0 ? -1.0F : 1.0F);
    set.labels.push_back(2 * world + role);
    (i % 10 < 2 ? split.train : i % 10 < 4 ? split.val : split.test).push_back(i);
  }
  set.graph = graph::build_graph(80, edges).graph;
  set.features = data::Features::dense(80, 1, std::move(features));
  set.classes = 4;
  set.splits = {split};
  return set;
}

int main() {
  const data::Dataset set = two_worlds();
  std::printf("%d nodes, %d edges, edge homophily %.2f\n", static_cast<int>(set.graph.nodes()),
              static_cast<int>(set.graph.edges()),
              graph::measure_homophily(set.graph, set.labels, set.classes).edge);

  // Options have the names of the command line; what is not given has its default.
  const train::Config config = train::resolve({{"rewire", "add"},
                                               {"hidden", "32"},
                                               {"heads", "4"},
                                               {"layers", "2"},
                                               {"lr", "0.01"},
                                               {"steps", "150"}});
  spectral::SpectralCache cache;
  const study::Run run = study::run_training(study::trial_data(set), config, cache);
  std::printf("rewiring %s: %d edges added\n",
              rewire::to_string(run.inputs.builder->choice_of(0).mode).c_str(),
              static_cast<int>(run.inputs.builder->rewirings().at(0).added));
  std::printf("test accuracy %.1f %%\n", 100 * run.row.test.mean);
}
