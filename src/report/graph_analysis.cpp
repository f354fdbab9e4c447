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

GraphAnalysis analyse_graph(const data::Dataset& dataset, const train::Config& config,
                            train::Directions* directions, int64_t split,
                            spectral::SpectralCache& cache) {
  GraphAnalysis a{dataset, graph::symmetrised(dataset.graph)};
  a.alpha = train::laplacian_of(config).alpha;
  a.vectors = static_cast<int>(config.eigenvectors);
  a.used_by_model = directions != nullptr;
  a.split = split;

  spectral::EigenOptions options = train::eigen_options(config);
  options.k = std::max(options.k, a.graph.nodes() <= kSmallGraph ? kShownSmall : kShownLarge);
  a.spectrum = cache.solve(a.graph, options);
  a.phi = a.spectrum->phi(a.alpha);
  std::vector<int32_t> labels(dataset.labels.size(), -1);
  if (static_cast<size_t>(split) < dataset.splits.size()) {
    labels =
        rewire::training_labels(dataset.labels, dataset.splits[static_cast<size_t>(split)].train);
  }
  if (directions == nullptr) {
    a.rewired = rewire::rewire(a.graph, spectral::NodeVectors(a.phi, a.graph.nodes(), options.k),
                               {}, labels);
    return a;
  }
  const std::span<const double> read = directions->phi().values;
  std::copy(read.begin(), read.end(), a.phi.begin());
  const rewire::Mode mode = directions->mode_under(labels);
  a.rewired = {directions->rewired(mode), directions->report(mode, labels)};
  return a;
}

}  // namespace dgat::report
