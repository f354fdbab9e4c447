#include <algorithm>

#include "analysis.h"
#include "dgat/graph/builder.h"

namespace dgat::report {
namespace {

// More eigenvectors than the model reads: two to draw with, a few more to show the spectrum where
// they cost little.
constexpr int64_t kSmallGraph = 20000;
constexpr int kShownSmall = 6, kShownLarge = 2;

}  // namespace

GraphAnalysis analyse_graph(data::Dataset dataset, const GraphQuestion& question,
                            spectral::SpectralCache& cache) {
  GraphAnalysis a;
  a.dataset = std::move(dataset);
  a.graph = graph::symmetrised(a.dataset.graph);
  a.alpha = question.alpha;
  a.gamma = question.gamma;
  a.vectors = question.vectors;
  a.used_by_model = question.used_by_model;
  a.split = question.split;

  spectral::EigenOptions options;
  options.gamma = question.gamma;
  options.components = question.components;
  options.seed = question.seed;
  options.k =
      std::max(question.vectors, a.graph.nodes() <= kSmallGraph ? kShownSmall : kShownLarge);
  a.spectrum = cache.solve(a.graph, options);
  a.phi = a.spectrum->phi(question.alpha);

  std::vector<int32_t> labels(a.dataset.labels.size(), -1);
  if (static_cast<size_t>(a.split) < a.dataset.splits.size()) {
    labels = rewire::training_labels(a.dataset.labels,
                                     a.dataset.splits[static_cast<size_t>(a.split)].train);
  }
  const auto nodes = static_cast<int64_t>(a.graph.nodes());
  const spectral::NodeVectors phi(std::span(a.phi).first(static_cast<size_t>(nodes * a.vectors)),
                                  nodes, a.vectors);
  a.rewired = rewire::rewire(a.graph, phi, question.rewiring, labels);
  return a;
}

}  // namespace dgat::report
