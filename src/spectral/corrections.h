#pragma once

#include <vector>

#include "davidson.h"

namespace dgat::spectral {

/// t = r: the search space is a Krylov space.
class NoCorrection : public Correction {
 public:
  void apply(const Basis&, double, std::span<const double> r, std::span<double> t) override {
    std::copy(r.begin(), r.end(), t.begin());
  }
};

/// Jacobi-Davidson: a few CG steps for (S - theta) t = r in the complement of the known vectors,
/// preconditioned by the diagonal of S - theta (projected, so that the preconditioner does not lead
/// back into them). Stops early at a tenth of the residual or at a direction of no curvature.
class ConjugateGradientCorrection : public Correction {
 public:
  ConjugateGradientCorrection(const Laplacian& S, int steps);
  void apply(const Basis& known, double theta, std::span<const double> r,
             std::span<double> t) override;
  int64_t products() const { return products_; }

 private:
  void precondition(const Basis& known, std::span<const double> g, std::span<double> z);

  const Laplacian& S_;
  int steps_;
  bool constant_diagonal_;
  std::vector<double> inverse_;  // of the diagonal of S - theta, kept positive
  std::vector<double> g_, z_, p_, q_;
  Eigen::MatrixXd gram_;
  std::unique_ptr<Basis> scaled_;
  int64_t products_ = 0;
};

}  // namespace dgat::spectral
