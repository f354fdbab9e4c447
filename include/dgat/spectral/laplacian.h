#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::spectral {

/// Which member of the family to use.
struct LaplacianOptions {
  double alpha = 0.5;  ///< side balance in [0, 1]: 0.5 symmetric, 1 random walk
  double gamma = 1.0;  ///< degree weight in [0, 1]: 1 normalised, 0 the limit D - A
};

/// L(alpha,gamma) = gamma * M^-alpha * (D - A) * M^(alpha-1),   M = gamma*D + (1-gamma)*I,
/// as an operator; the matrix is never stored. gamma = 0 means the limit L/gamma -> D - A.
/// On a weighted graph A holds the weights and D their row sums (CsrGraph::strength).
///
/// Rows are summed over differences of neighbouring values. On a smooth vector the rounding error
/// is relative to these, so eigenvalues far below 1e-10 keep their digits. M is singular on an
/// isolated node at gamma = 1; its row of L is zero there, as in the limit.
///
/// Needs:  an undirected graph that outlives this object. One caller at a time (apply() uses a
///         scratch vector of the object); the loops inside are parallel.
/// Cost:   O(N) to build, O(N + E) per apply(); same bits at every thread count.
/// Throws: InputError when an option is out of range or the graph is directed.
class Laplacian {
 public:
  explicit Laplacian(const graph::CsrGraph& graph, const LaplacianOptions& options = {});
  Laplacian(graph::CsrGraph&&, const LaplacianOptions& = {}) = delete;  // would dangle

  graph::NodeId nodes() const { return graph_->nodes(); }
  const graph::CsrGraph& graph() const { return *graph_; }
  const LaplacianOptions& options() const { return options_; }

  void apply(std::span<const double> x, std::span<double> y) const;  ///< y = L x
  /// x^T S x for the symmetric member S (alpha = 1/2): gamma * sum over edges of
  /// (x_i/sqrt(m_i) - x_j/sqrt(m_j))^2, a sum without cancellation.
  double energy(std::span<const double> x) const;

  /// m_i, the diagonal of M; 1 where it would be 0 (an isolated node at gamma = 1).
  double mass(graph::NodeId i) const {
    const double m = options_.gamma * graph_->strength(i) + (1 - options_.gamma);
    return m > 0 ? m : 1;
  }
  double diagonal(graph::NodeId i) const;    ///< L_ii = gamma * d_i / m_i
  std::vector<double> null_vector() const;   ///< M^(1-alpha) 1, unit 2-norm: L times it is 0
  double factor() const { return factor_; }  ///< gamma, or 1 at gamma = 0
  /// The scale of residuals. It is 1 (S has norm at most 2). At gamma = 0 it is a lower bound of
  /// the norm of D - A: max degree + 1, with weights max D_ii.
  double scale() const { return scale_; }
  /// Row ranges of about equal work: block b is [row_blocks()[b], row_blocks()[b + 1]).
  std::span<const graph::NodeId> row_blocks() const { return block_begin_; }

 private:
  const graph::CsrGraph* graph_;
  LaplacianOptions options_;
  double factor_ = 1, scale_ = 1;
  std::vector<double> left_, right_;  // factor * m^-alpha and m^(alpha-1); empty when both are 1
  std::vector<graph::NodeId> block_begin_;  // row blocks of about equal work
  mutable std::vector<double> scratch_;
};

}  // namespace dgat::spectral
