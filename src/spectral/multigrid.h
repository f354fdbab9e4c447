#pragma once

#include <Eigen/Cholesky>
#include <memory>
#include <span>
#include <vector>

#include "davidson.h"
#include "dgat/graph/csr_graph.h"

namespace dgat::spectral {

/// An approximation of (D - A)^+ by aggregation multigrid. Every coarse level is a weighted graph:
/// nodes are paired twice along their heaviest edges, so four become about one. Between levels a
/// Chebyshev polynomial of degree two smooths; coarse problems are solved by two CG steps that are
/// preconditioned by the next level (a K-cycle), which keeps the quality independent of the size.
///
/// Needs:  a connected graph that outlives this object.
/// Cost:   O(N + E) to build and per apply(); same bits at every thread count.
class Multigrid {
 public:
  explicit Multigrid(const graph::CsrGraph& graph);
  /// x ~ (D - A)^+ b for b with zero sum.
  void apply(std::span<const double> b, std::span<double> x);
  int levels() const { return static_cast<int>(levels_.size()); }

  /// A weighted graph Laplacian: rows of (neighbour, weight), weights 1 where none are stored.
  struct Level {
    std::span<const graph::ArcIndex> offsets;
    std::span<const graph::NodeId> targets;
    std::vector<graph::ArcIndex> own_offsets;  // empty on the finest level, which is the graph's
    std::vector<graph::NodeId> own_targets;
    std::vector<double> weights;
    std::vector<double> degree;               // weighted
    std::vector<graph::NodeId> aggregate;     // node of the next level; empty on the coarsest
    std::vector<double> r, t;                 // scratch of cycle(): residual, product
    std::vector<double> b, x, p, q, s, best;  // scratch of the CG steps one level down
    graph::NodeId nodes() const { return static_cast<graph::NodeId>(degree.size()); }
  };

 private:
  void cycle(size_t level, std::span<const double> b, std::span<double> x);
  void solve_coarse(size_t level, std::span<const double> b, std::span<double> x);

  std::vector<Level> levels_;
  Eigen::LLT<Eigen::MatrixXd> coarsest_;
};

/// t ~ S^+ r = M^(1/2) (D - A)^+ M^(1/2) r / gamma.
class MultigridCorrection : public LinearCorrection {
 public:
  explicit MultigridCorrection(const Laplacian& S);
  void multiply(std::span<const double> r, std::span<double> t) override;

 private:
  Multigrid multigrid_;
  std::vector<double> root_mass_, work_;
};

}  // namespace dgat::spectral
