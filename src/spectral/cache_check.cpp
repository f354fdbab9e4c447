#include "cache_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "dgat/graph/components.h"
#include "dgat/spectral/laplacian.h"
#include "summary.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

constexpr double kNormError = 1e-9;      // of an entry, after scaling the vector again
constexpr double kOrthogonality = 1e-5;  // of two unit vectors of a component

bool finite_and_positive(std::span<const double> values) {
  return std::ranges::all_of(values, [](double x) { return std::isfinite(x) && x >= 0; });
}

/// Numbers about the whole graph.
std::string check_frame(const EigenResult& r, const CsrGraph& graph,
                        const graph::Components& components, const EigenOptions& options) {
  const auto n = static_cast<size_t>(graph.nodes()), k = static_cast<size_t>(options.k);
  if (r.nodes != graph.nodes()) return fmt::format("it has {} nodes", r.nodes);
  if (r.k != options.k) return fmt::format("it has {} eigenvectors", r.k);
  if (r.gamma != options.gamma) return fmt::format("its gamma is {}", r.gamma);
  if (r.policy != options.components) return "its component policy is another";
  if (!r.converged || r.iterations < 0 || !(r.seconds >= 0)) return "it is not a finished solve";
  if (r.vectors.size() != n * k || r.mass.size() != n || r.component_of.size() != n) {
    return "a list has the wrong length";
  }
  if (r.component_of != components.of_node || r.components != components.count() ||
      r.isolated != components.isolated()) {
    return "its components are not those of the graph";
  }
  const Laplacian S(graph, {.alpha = 0.5, .gamma = options.gamma});
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    if (r.mass[static_cast<size_t>(i)] != S.mass(i)) return "its masses are not those of the graph";
  }
  if (!std::ranges::all_of(r.vectors, [](double x) { return std::isfinite(x); })) {
    return "an entry of a vector is not a number";
  }
  return "";
}

std::string check_parts(const EigenResult& r, const graph::Components& components,
                        const EigenOptions& options) {
  const std::vector<NodeId> chosen = solved_components(components, options.components);
  if (r.parts.size() != chosen.size()) return "it has the wrong number of parts";
  for (size_t p = 0; p < chosen.size(); ++p) {
    const ComponentSpectrum& part = r.parts[p];
    const int64_t nodes = components.sizes[static_cast<size_t>(chosen[p])];
    if (part.component != chosen[p] || part.nodes != nodes) return "a part has another component";
    const auto pairs = static_cast<size_t>(std::min<int64_t>(options.k, nodes - 1));
    for (const auto* list : {&part.eigenvalues, &part.residuals, &part.gaps, &part.angle_bounds}) {
      if (list->size() != pairs) return "a list of a part has the wrong length";
      if (!finite_and_positive(*list)) return "a number of a part is out of range";
    }
    if (part.multiplicity.size() != pairs) return "a list of a part has the wrong length";
    for (const int copies : part.multiplicity) {
      if (copies < 1 || copies > nodes) return "a multiplicity is out of range";
    }
    if (!std::ranges::is_sorted(part.eigenvalues, [&](double a, double b) {
          return a < b * (1 - options.gap_tolerance);
        })) {
      return "eigenvalues are not in order";
    }
    if (part.solver < Solver::kDense || part.solver > Solver::kLanczos) return "no such solver";
    if (!part.converged || part.iterations < 0) return "a part is not a finished solve";
  }
  EigenResult again;
  again.k = r.k;
  again.policy = r.policy;
  again.parts = r.parts;
  summarise(again, options.gap_tolerance);
  if (again.eigenvalues != r.eigenvalues || again.residuals != r.residuals ||
      again.gaps != r.gaps || again.angle_bounds != r.angle_bounds ||
      again.multiplicity != r.multiplicity) {
    return "its summary differs from its parts";
  }
  return "";
}

/// Column sums of the components.
class ByComponent {
 public:
  explicit ByComponent(const EigenResult& result) : result_(result) {}
  template <class Term>
  std::vector<double> sum(Term&& term) const {
    std::vector<double> out(static_cast<size_t>(result_.components), 0.0);
    for (size_t i = 0; i < result_.component_of.size(); ++i) {
      out[static_cast<size_t>(result_.component_of[i])] += term(i);
    }
    return out;
  }

 private:
  const EigenResult& result_;
};

std::string check_vectors(const EigenResult& r, const CsrGraph& graph,
                          const EigenOptions& options) {
  const auto n = static_cast<size_t>(graph.nodes()), k = static_cast<size_t>(options.k);
  const Laplacian S(graph, {.alpha = 0.5, .gamma = options.gamma});
  const ByComponent by(r);
  const auto column = [&](size_t m) { return std::span(r.vectors).subspan(m * n, n); };
  // Residuals of D - A are relative to the largest degree of the component.
  std::vector<double> scale(static_cast<size_t>(r.components), 1.0);
  for (NodeId i = 0; i < graph.nodes() && options.gamma == 0; ++i) {
    double& most = scale[static_cast<size_t>(r.component_of[static_cast<size_t>(i)])];
    most = std::max(most, graph.strength(i) + (graph.weighted() ? 0 : 1));
  }
  std::vector<std::vector<double>> squares(k);
  std::vector<double> image(n);
  for (size_t m = 0; m < k; ++m) {
    const auto u = column(m);
    squares[m] = by.sum([&](size_t i) { return u[i] * u[i]; });
    std::vector<double> value(static_cast<size_t>(r.components), r.eigenvalues[m]);
    std::vector<bool> filled(value.size(), false);
    size_t support = 0;
    for (const ComponentSpectrum& part : r.parts) {
      const auto c = static_cast<size_t>(part.component);
      filled[c] = r.policy != ComponentPolicy::kEach || m < part.eigenvalues.size();
      if (r.policy == ComponentPolicy::kEach && filled[c]) {
        value[c] = part.eigenvalues[m];
        if (squares[m][c] == 0) return fmt::format("vector {} is zero on a component", m + 1);
      }
    }
    S.apply(u, image);
    const std::vector<double> wrong = by.sum([&](size_t i) {
      const double e = image[i] - value[static_cast<size_t>(r.component_of[i])] * u[i];
      return e * e;
    });
    for (size_t c = 0; c < wrong.size(); ++c) {
      if (squares[m][c] == 0) continue;
      ++support;
      if (!filled[c]) return fmt::format("vector {} is not zero where it must be", m + 1);
      const double residual = std::sqrt(wrong[c] / squares[m][c]) / scale[c];
      if (!(residual <= options.accept)) {
        return fmt::format("vector {} has a residual of {:.1e}", m + 1, residual);
      }
    }
    const bool one = r.policy != ComponentPolicy::kEach;
    if (one && support != (r.multiplicity[m] > 0 ? 1U : 0U)) {
      return fmt::format("vector {} lies on {} components", m + 1, support);
    }
    for (size_t other = 0; other < m; ++other) {
      const auto v = column(other);
      const std::vector<double> product = by.sum([&](size_t i) { return u[i] * v[i]; });
      for (size_t c = 0; c < product.size(); ++c) {
        const double norms = std::sqrt(squares[m][c] * squares[other][c]);
        if (std::abs(product[c]) > kOrthogonality * norms) {
          return fmt::format("vectors {} and {} are not orthogonal", other + 1, m + 1);
        }
      }
    }
  }
  const std::vector<double> scaled = r.phi(0.5);
  for (size_t i = 0; i < scaled.size(); ++i) {
    if (std::abs(scaled[i] - r.vectors[i]) > kNormError) return "a vector has another norm or sign";
  }
  return "";
}

}  // namespace

std::string what_is_wrong(const EigenResult& result, const CsrGraph& graph,
                          const EigenOptions& options) {
  const graph::Components components = graph::connected_components(graph);
  std::string wrong = check_frame(result, graph, components, options);
  if (wrong.empty()) wrong = check_parts(result, components, options);
  if (wrong.empty()) wrong = check_vectors(result, graph, options);
  return wrong;
}

}  // namespace dgat::spectral
