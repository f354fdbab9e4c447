#include "dgat/train/directions.h"

#include <fmt/format.h>

#include "dgat/core/progress.h"

namespace dgat::train {
namespace {

void notify(const spectral::EigenResult& result, double participation) {
  if (!result.converged) {
    notice(
        fmt::format("train: the eigenvector did not converge (residual {:.1e}); directions are "
                    "approximate",
                    result.residuals.empty() ? 0.0 : result.residuals.front()));
  }
  if (result.repeated(0) > 1) {
    notice(
        fmt::format("train: the first eigenvalue{} is {}-fold; one of its eigenvectors was chosen "
                    "by a fixed rule",
                    result.multiplicity.front() > 1 ? "" : " of a component", result.repeated(0)));
  }
  if (participation < spectral::kLocalised) {
    notice(fmt::format(
        "train: the eigenvector is concentrated on {:.2g}% of the nodes; try another --gamma",
        100 * participation));
  }
}

}  // namespace

spectral::EigenOptions eigen_options(const Config& config) {
  spectral::EigenOptions options;
  const spectral::LaplacianOptions laplacian = laplacian_of(config);
  if (config.laplacian == LaplacianKind::kAuthors) options.formula = spectral::Formula::kAuthors;
  options.gamma = laplacian.gamma;
  options.alpha = laplacian.alpha;
  options.k = static_cast<int>(config.eigenvectors);
  options.components = config.components;
  options.seed = config.seed;
  return options;
}

Directions::Directions(const graph::CsrGraph& graph, const Config& config,
                       const GraphChoice& choice, spectral::SpectralCache& cache)
    : graph_(graph), mode_(choice.mode), alpha_(choice.alpha) {
  options_.epsilon = choice.epsilon;
  options_.per_component = config.components == spectral::ComponentPolicy::kEach;
  spectral::EigenOptions request = eigen_options(config);
  request.gamma = choice.gamma;
  request.alpha = choice.alpha;
  spectrum_ = cache.solve(graph, request);
  phi_ = spectrum_->phi(alpha_);
  notify(*spectrum_, participation_ratio());
}

double Directions::participation_ratio() const {
  return spectral::participation_ratio(phi().vector(0));
}

rewire::Mode Directions::mode_under(std::span<const int32_t> training_labels) const {
  return rewire::resolve_mode(mode_, graph_, training_labels);
}

const rewire::RewireResult& Directions::result(const rewire::Mode& mode) {
  const std::string name = rewire::to_string(mode);
  if (const auto at = results_.find(name); at != results_.end()) return at->second;
  rewire::RewireOptions options = options_;
  options.mode = mode;
  const std::vector<int32_t> unlabelled(static_cast<size_t>(graph_.nodes()), -1);
  rewire::RewireResult result = rewire::rewire(graph_, phi(), options, unlabelled);
  if (mode != rewire::Mode{}) {
    notice(fmt::format("train: rewiring {}: {} edges, {} dropped, {} added, {} left", name,
                       result.report.edges_before, result.report.dropped, result.report.added,
                       result.report.edges_after));
  }
  return results_[name] = std::move(result);
}

const graph::CsrGraph& Directions::rewired(const rewire::Mode& mode) {
  return mode == rewire::Mode{} ? graph_ : result(mode).graph;
}

rewire::RewireReport Directions::report(const rewire::Mode& mode,
                                        std::span<const int32_t> training_labels) {
  rewire::RewireReport report = result(mode).report;
  report.homophily_before = rewire::edge_homophily(graph_, training_labels);
  report.homophily_after = rewire::edge_homophily(rewired(mode), training_labels);
  return report;
}

}  // namespace dgat::train
