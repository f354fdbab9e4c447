#include "dgat/spectral/diffusion.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dense_pairs.h"
#include "dgat/core/error.h"
#include "dgat/graph/components.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

/// M_i; isolated nodes, where M may vanish, take part with weight 1 (their row of L is zero).
double mass_of(const CsrGraph& graph, NodeId i, double gamma) {
  const double degree = graph.strength(i);
  return degree == 0 ? 1 : gamma * degree + (1 - gamma);
}

constexpr double kEqual = 1e-8;  ///< relative; what order_time() takes as a tie

double square(double x) {
  return x * x;
}

Eigen::MatrixXd dense_symmetric(const CsrGraph& graph, double gamma) {
  const NodeId n = graph.nodes();
  const double factor = gamma == 0 ? 1 : gamma;
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(n, n);
  for (NodeId i = 0; i < n; ++i) {
    const double mass = mass_of(graph, i, gamma);
    matrix(i, i) = factor * graph.strength(i) / mass;
    for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
      const NodeId j = graph.targets()[static_cast<size_t>(e)];
      matrix(i, j) = -factor * graph.weight(e) / std::sqrt(mass * mass_of(graph, j, gamma));
    }
  }
  return matrix;
}

void check(const CsrGraph& graph, const LaplacianOptions& options) {
  if (graph.directed()) throw_input("diffusion distance: needs an undirected graph");
  for (const auto& [name, value] :
       {std::pair("alpha", options.alpha), std::pair("gamma", options.gamma)}) {
    if (!(value >= 0 && value <= 1)) {
      throw_input("diffusion distance: {} must lie in [0, 1], got {}", name, value);
    }
  }
}

}  // namespace

DiffusionDistance DiffusionDistance::exact(const CsrGraph& graph, const LaplacianOptions& options) {
  check(graph, options);
  const auto n = static_cast<size_t>(graph.nodes());
  if (graph.nodes() > kDenseNodes) {
    throw_input(
        "diffusion distance: exact values need all eigenpairs, which is for at most {} nodes, got "
        "{}; truncate to the smallest pairs instead",
        kDenseNodes, n);
  }
  if (n == 0) return {graph, options, {}, {}};
  const DensePairs pairs = dense_pairs(dense_symmetric(graph, options.gamma));
  if (!pairs.converged) {
    throw_compute("diffusion distance: the dense eigensolver failed on {} nodes", n);
  }
  // One zero per component comes first; it stands in closed form.
  const auto zeros = static_cast<size_t>(connected_components(graph).count());
  const double* values = pairs.values.data();
  const double* vectors = pairs.vectors.data();
  return {graph, options, std::vector(values + zeros, values + n),
          std::vector(vectors + zeros * n, vectors + n * n)};
}

DiffusionDistance DiffusionDistance::truncated(const CsrGraph& graph, const EigenResult& pairs,
                                               double alpha) {
  const LaplacianOptions options{.alpha = alpha, .gamma = pairs.gamma};
  check(graph, options);
  expects(pairs.nodes == graph.nodes(), "eigenpairs of this graph");
  if (pairs.components > 1 && pairs.policy != ComponentPolicy::kFirst) {
    throw_input(
        "diffusion distance: the graph has {} components; solve with the component policy 'first'",
        pairs.components);
  }
  if (!pairs.converged) throw_input("diffusion distance: the eigenpairs did not converge");
  // Pairs that the graph does not have (k too large) have eigenvalue zero and come last.
  const auto real = static_cast<size_t>(std::count_if(
      pairs.eigenvalues.begin(), pairs.eigenvalues.end(), [](double v) { return v > 0; }));
  const auto values = pairs.eigenvalues.begin();
  const auto vectors = pairs.vectors.begin();
  const auto end = static_cast<std::ptrdiff_t>(real);
  return {graph, options, std::vector(values, values + end),
          std::vector(vectors, vectors + end * graph.nodes())};
}

DiffusionDistance::DiffusionDistance(const CsrGraph& graph, const LaplacianOptions& options,
                                     std::vector<double> eigenvalues,
                                     std::vector<double> orthonormal)
    : nodes_(static_cast<size_t>(graph.nodes())),
      eigenvalues_(std::move(eigenvalues)),
      vectors_(std::move(orthonormal)),
      total_(nodes_),
      stationary_(nodes_) {
  const graph::Components components = connected_components(graph);
  component_ = components.of_node;
  connected_ = components.count() <= 1;
  volume_.assign(components.sizes.size(), 0);
  for (size_t i = 0; i < nodes_; ++i) {
    const auto node = static_cast<NodeId>(i);
    const double mass = mass_of(graph, node, options.gamma);
    const double factor = options.gamma == 0 ? 1 : options.gamma;
    largest_ = std::max(largest_, 2 * factor * graph.strength(node) / mass);
    total_[i] = std::pow(mass, 1 - 2 * options.alpha);
    stationary_[i] = std::pow(mass, 1 - options.alpha);
    volume_[static_cast<size_t>(component_[i])] += mass;
    const double scale = std::pow(mass, 0.5 - options.alpha);
    for (size_t k = 0; k < eigenvalues_.size(); ++k) vectors_[k * nodes_ + i] *= scale;
  }
  whole_volume_ = std::accumulate(volume_.begin(), volume_.end(), 0.0);
}

double DiffusionDistance::difference(size_t k, NodeId i, NodeId j) const {
  const double* phi = vectors_.data() + k * nodes_;
  return phi[static_cast<size_t>(i)] - phi[static_cast<size_t>(j)];
}

double DiffusionDistance::null_share(NodeId i, NodeId j) const {
  const auto a = static_cast<size_t>(i), b = static_cast<size_t>(j);
  const double volume_i = volume_[static_cast<size_t>(component_[a])];
  const double volume_j = volume_[static_cast<size_t>(component_[b])];
  if (component_[a] == component_[b]) return square(stationary_[a] - stationary_[b]) / volume_i;
  return square(stationary_[a]) / volume_i + square(stationary_[b]) / volume_j;
}

double DiffusionDistance::stationary_share(NodeId i, NodeId j) const {
  return square(stationary_[static_cast<size_t>(i)] - stationary_[static_cast<size_t>(j)]) /
         whole_volume_;
}

double DiffusionDistance::rest(NodeId i, NodeId j) const {
  const bool complete = eigenvalues_.size() + volume_.size() == nodes_;
  if (i == j || complete) return 0;
  double rest = total_[static_cast<size_t>(i)] + total_[static_cast<size_t>(j)] - null_share(i, j);
  for (size_t k = 0; k < eigenvalues_.size(); ++k) rest -= square(difference(k, i, j));
  return std::max(rest, 0.0);
}

DiffusionValue DiffusionDistance::operator()(NodeId i, NodeId j, double t) const {
  expects(t >= 0, "diffusion runs forwards in time");
  // Connected graphs have nothing between the null space and the stationary state but rounding.
  double known = connected_ ? 0 : std::max(null_share(i, j) - stationary_share(i, j), 0.0);
  for (size_t k = 0; k < eigenvalues_.size(); ++k) {
    known += std::exp(-2 * t * eigenvalues_[k]) * square(difference(k, i, j));
  }
  const double missing = rest(i, j);
  const double smallest = eigenvalues_.empty() ? 0 : eigenvalues_.back();
  return {.value = std::sqrt(known),
          .lower = std::sqrt(known + std::exp(-2 * t * largest_) * missing),
          .upper = std::sqrt(known + std::exp(-2 * t * smallest) * missing)};
}

std::optional<double> DiffusionDistance::order_time(NodeId m, NodeId i, NodeId j) const {
  if (!connected_ || eigenvalues_.size() < 2) return std::nullopt;
  const double gap = eigenvalues_[1] - eigenvalues_[0];
  const double far = std::abs(difference(0, i, j)), near = std::abs(difference(0, m, j));
  const double scale = std::sqrt(total_[static_cast<size_t>(i)] + total_[static_cast<size_t>(j)]);
  // Twins (nodes with equal neighbours) differ by rounding only: that is no order.
  if (far - near <= kEqual * scale || gap <= kEqual * eigenvalues_[1]) return std::nullopt;
  const double lead = (far - near) * (far + near);
  double others = rest(m, j) + rest(i, j);
  for (size_t k = 1; k < eigenvalues_.size(); ++k) {
    others += std::abs(square(difference(k, m, j)) - square(difference(k, i, j)));
  }
  if (others == 0) return -std::numeric_limits<double>::infinity();
  return -std::log(lead / others) / (2 * gap);
}

}  // namespace dgat::spectral
