#pragma once

#include <optional>
#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/eigensolver.h"
#include "dgat/spectral/laplacian.h"

namespace dgat::spectral {

/// A diffusion distance with its bounds. `lower <= true value <= upper`, up to the
/// accuracy of the eigenpairs; `value` is the sum over the known pairs, so value <= upper too.
struct DiffusionValue {
  double value = 0, lower = 0, upper = 0;
};

/// d_t(i,j)^2 = sum over k of exp(-2 t lambda_k) (phi_k(i) - phi_k(j))^2. It measures how much two
/// random walks that start at i and at j differ at time t.
///
/// Scaling: phi_k = M^(1/2-alpha) u_k with orthonormal eigenvectors u_k of S = L(1/2,gamma), not
/// phi_k of unit norm. Then sum over all k of phi_k(i) phi_k(j) = M_i^(1-2 alpha) delta_ij, and at
/// alpha = 1 d_t is the distance of the distributions in the norm weighted by 1/M. The sum leaves
/// out the stationary state M^(1-alpha) 1. In a disconnected graph the other zero eigenvalues stay
/// in, with a part in closed form. So the distance of nodes in different components does not tend
/// to 0.
///
/// Truncation: with the smallest K positive pairs known, what is missing of
/// sum_k (phi_k(i) - phi_k(j))^2 is known exactly: the rest
///   R = M_i^(1-2 alpha) + M_j^(1-2 alpha) - (null space and known pairs' share)
/// and its eigenvalues lie between lambda_K and Lambda = max_i 2 gamma d_i / M_i (2 max d_i at
/// gamma = 0), hence  d^2 + exp(-2 t Lambda) R <= d_t^2 <= d^2 + exp(-2 t lambda_K) R.
class DiffusionDistance {
 public:
  /// All pairs, by a dense decomposition: lower = value = upper to rounding.
  /// Cost: O(N^3) time, O(N^2) memory. Throws: InputError above kDenseNodes, for a directed graph
  /// and for alpha or gamma outside [0, 1].
  static DiffusionDistance exact(const graph::CsrGraph& graph, const LaplacianOptions& options);
  static constexpr int64_t kDenseNodes = 2000;

  /// From the k smallest positive pairs of the whole graph.
  /// Needs: a solve with the component policy kFirst (or any policy if the graph is connected).
  /// Throws: InputError for another policy or for pairs that did not converge.
  static DiffusionDistance truncated(const graph::CsrGraph& graph, const EigenResult& pairs,
                                     double alpha);

  /// Cost: O(pairs). Needs t >= 0.
  DiffusionValue operator()(graph::NodeId i, graph::NodeId j, double t) const;

  /// Theorem 3: if d_s(m,j) < d_s(i,j), then d_t(m,j) < d_t(i,j) for every t >= 0 beyond
  ///   C = log(a / b) / (2 (lambda_1 - lambda_2)),   a = d_s(i,j)^2 - d_s(m,j)^2,
  ///   b = sum over k >= 2 of |(phi_k(m) - phi_k(j))^2 - (phi_k(i) - phi_k(j))^2|
  /// (minus infinity when b = 0). With truncated pairs the rests are added to b, which can only
  /// enlarge C. Empty when the premise fails: d_s not in this order, lambda_1 a multiple eigenvalue
  /// (both up to a relative 1e-8), or a disconnected graph.
  std::optional<double> order_time(graph::NodeId m, graph::NodeId i, graph::NodeId j) const;

  const std::vector<double>& eigenvalues() const { return eigenvalues_; }  ///< positive, ascending

 private:
  DiffusionDistance(const graph::CsrGraph& graph, const LaplacianOptions& options,
                    std::vector<double> eigenvalues, std::vector<double> orthonormal);
  double difference(size_t k, graph::NodeId i, graph::NodeId j) const;
  /// Share of the zero eigenvalues: all of it, and without the stationary state.
  double null_share(graph::NodeId i, graph::NodeId j) const;
  double stationary_share(graph::NodeId i, graph::NodeId j) const;
  double rest(graph::NodeId i, graph::NodeId j) const;

  size_t nodes_ = 0;
  double largest_ = 0;  ///< Lambda
  bool connected_ = true;
  std::vector<double> eigenvalues_;  ///< K
  std::vector<double> vectors_;      ///< phi, nodes x K, column by column
  std::vector<double> total_;        ///< M_i^(1-2 alpha)
  std::vector<double> stationary_;   ///< M_i^(1-alpha)
  std::vector<graph::NodeId> component_;
  std::vector<double> volume_;  ///< sum of M over every component
  double whole_volume_ = 0;
};

}  // namespace dgat::spectral
