#pragma once

#include <Eigen/SparseCholesky>
#include <cstdint>
#include <span>
#include <vector>

#include "davidson.h"
#include "dgat/graph/csr_graph.h"

namespace dgat::spectral {

/// Sparse L diag(d) L^T of matrices diag(x) - A on the pattern of a graph, in an order of
/// approximate minimum degree (Eigen's SimplicialLDLT). Size and work are known before any number
/// is computed: Eigen counts without a limit, so the entries are counted here first.
class SparseLdl {
 public:
  /// Orders and counts; stops counting beyond max_entries (fits() is then false).
  SparseLdl(const graph::CsrGraph& graph, int64_t max_entries);

  bool fits() const { return fits_; }
  double operations() const { return operations_; }  ///< sum of squared column counts
  static int64_t bytes_per_entry() { return sizeof(double) + sizeof(graph::NodeId); }

  /// Factors diag(x) - A. With `grounded` the last pivot is left out: the factor of a Laplacian
  /// whose last node is held at zero.
  void factorise(std::span<const double> x, bool grounded);
  int64_t negative_pivots() const { return (pivots_.array() < 0).count(); }
  /// x = (L diag(d) L^T)^-1 b, zero on the grounded node.
  void solve(std::span<const double> b, std::span<double> x) const;

 private:
  using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, graph::NodeId>;
  void count(int64_t max_entries);

  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, graph::NodeId> order_;  // place -> node
  Matrix upper_;  // the upper triangle in this order
  Eigen::SimplicialLDLT<Matrix, Eigen::Upper, Eigen::NaturalOrdering<graph::NodeId>> ldlt_;
  Eigen::VectorXd pivots_;
  bool fits_ = false;
  double operations_ = 0;
};

/// t = S^+ r through a grounded factor of D - A, which serves every gamma:
/// S^+ = M^(1/2) (D - A)^+ M^(1/2) / gamma on vectors orthogonal to the null vector.
class FactorCorrection : public LinearCorrection {
 public:
  FactorCorrection(const Laplacian& S, SparseLdl& factor);
  void multiply(std::span<const double> r, std::span<double> t) override;

 private:
  SparseLdl& factor_;
  std::vector<double> root_mass_, work_;
};

/// Eigenvalues of S below `value`, zero included, by Sylvester's law of inertia. Overwrites the
/// numbers of the factor.
int64_t eigenvalues_below(const Laplacian& S, SparseLdl& factor, double value);

}  // namespace dgat::spectral
