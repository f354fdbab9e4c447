#include <algorithm>

#include "dgat/graph/builder.h"
#include "run_analysis.h"

namespace dgat::report {
namespace {

// More eigenvectors than the model reads: two to draw with, a few more to show the spectrum where
// they cost little.
constexpr int64_t kSmallGraph = 20000;
constexpr int kShownSmall = 6, kShownLarge = 2;

}  // namespace

GraphAnalysis analyse_graph(const data::Dataset& dataset, const train::Config& config,
                            train::Directions* directions, const train::GraphChoice& choice,
                            int64_t split, int64_t work_limit, spectral::SpectralCache& cache) {
  GraphAnalysis a{dataset, graph::symmetrised(dataset.graph)};
  a.alpha = choice.alpha;
  a.vectors = static_cast<int>(config.eigenvectors);
  a.used_by_model = directions != nullptr;
  a.split = split;

  spectral::EigenOptions options = train::eigen_options(config);
  options.gamma = choice.gamma;
  options.alpha = choice.alpha;
  spectral::EigenOptions more = options;
  more.k = std::max(options.k, a.graph.nodes() <= kSmallGraph ? kShownSmall : kShownLarge);
  more.work_limit = work_limit;
  a.spectrum = cache.solve(a.graph, more);
  if (!a.spectrum->converged) a.spectrum = cache.solve(a.graph, options);  // what training had
  a.phi = a.spectrum->phi(a.alpha);
  std::vector<int32_t>& labels = a.training_labels;
  labels.assign(dataset.labels.size(), -1);
  if (static_cast<size_t>(split) < dataset.splits.size()) {
    labels =
        rewire::training_labels(dataset.labels, dataset.splits[static_cast<size_t>(split)].train);
  }
  if (directions == nullptr) {
    a.rewired = rewire::rewire(
        a.graph, spectral::NodeVectors(a.phi, a.graph.nodes(), a.spectrum->k), {}, labels);
    return a;
  }
  const std::span<const double> read = directions->phi().values;
  std::copy(read.begin(), read.end(), a.phi.begin());
  const rewire::Mode& mode = choice.mode;
  a.rewired = {directions->rewired(mode), directions->report(mode, labels)};
  return a;
}

}  // namespace dgat::report
