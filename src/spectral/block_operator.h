#pragma once

#include <span>
#include <vector>

#include "davidson.h"
#include "dgat/spectral/laplacian.h"
#include "tall.h"

namespace dgat::spectral {

/// S times several vectors: columns are beside each other in memory, so a neighbour is fetched
/// once for kWidth of them.
class BlockOperator {
 public:
  static constexpr int kWidth = 8;
  explicit BlockOperator(const Laplacian& S);
  /// Appends S x for the columns [first, X.count()) of X to Y.
  void apply(const Basis& X, int first, Basis& Y);
  /// Entries of the graph that all calls have visited.
  int64_t work() const { return work_; }

 private:
  const Laplacian& S_;
  std::vector<double> inverse_root_, z_;  // M^(-1/2); kWidth columns row by row
  int64_t work_ = 0;
};

/// Turns residuals of several Ritz pairs into search directions. The same linear function for every
/// column of a call.
class BlockCorrection {
 public:
  virtual ~BlockCorrection() = default;
  /// Replaces `directions` by t ~ (S - shift)^-1 r for every residual r. `top`: about the largest
  /// of the eigenvalues that are searched for.
  virtual void apply(const Basis& residuals, double shift, double top, Basis& directions) = 0;
  /// Entries of the graph visited, in units of BlockOperator::work().
  virtual int64_t work() const { return 0; }
};

/// A LinearCorrection, column by column: t ~ S^+ r, or t = r.
class ColumnCorrection : public BlockCorrection {
 public:
  ColumnCorrection(const Laplacian& S, LinearCorrection& correction, int64_t cost)
      : arcs_(S.graph().arcs()), correction_(correction), cost_(cost) {}
  void apply(const Basis& residuals, double shift, double top, Basis& directions) override;
  int64_t work() const override { return work_; }

 private:
  int64_t arcs_;
  LinearCorrection& correction_;
  int64_t cost_;  // of a column, in passes over the graph
  int64_t work_ = 0;
};

/// Chebyshev steps for (S - shift) t = r, preconditioned by the diagonal of S, in
/// single precision. With z = M^(-1/2) t the system is (gamma (D - A) - shift M) z = M^(1/2) r, and
/// (gamma D)^-1 times its matrix has no eigenvalue above 2. The polynomial damps the interval
/// [low, 2] evenly and magnifies what lies below: the pairs near the shift. Low falls with the
/// number of steps; there are as many as bring it down to `top`, within bounds.
class ChebyshevCorrection : public BlockCorrection {
 public:
  explicit ChebyshevCorrection(const Laplacian& S);
  void apply(const Basis& residuals, double shift, double top, Basis& directions) override;
  int64_t work() const override { return work_; }

 private:
  static constexpr int kWidth = BlockOperator::kWidth;
  void multiply(float shift, float keep, float add);
  int steps_for(double top) const;

  const Laplacian& S_;
  double mass_per_diagonal_ = 0;  // at most: an eigenvalue of the system is so much above that of S
  std::vector<double> root_mass_;
  std::vector<float> mass_, inverse_diagonal_;
  std::vector<float> z_, r_, d_, next_;  // kWidth columns row by row
  int64_t work_ = 0;
};

}  // namespace dgat::spectral
