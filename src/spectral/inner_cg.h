#pragma once

#include <array>
#include <vector>

#include "davidson.h"

namespace dgat::spectral {

/// Jacobi-Davidson: a few CG steps for (S - theta) t = r in the complement of the known vectors,
/// for two residuals side by side: both columns are beside each other in memory, so a neighbour
/// is fetched once for both.
///
/// With z = M^(-1/2) t the system is (gamma (D - A) - theta M) z = M^(1/2) r, which needs no
/// scaling of neighbours. Its diagonal N is the preconditioner, constrained to the complement:
///   z = N^-1 (g - K y),  K = M^(1/2) known,  y such that K^T z = 0.
/// Every column stops at a tenth of its residual or at a direction of no curvature. T = float
/// suffices where theta is not tiny (residuals are scaled to one); it halves the memory traffic.
template <class T>
class InnerCg : public Correction {
 public:
  InnerCg(const Laplacian& S, int steps);
  void apply(const Basis& known, std::span<const double> theta, const Basis& residuals,
             Basis& directions) override;

 private:
  static constexpr int kColumns = 2;
  struct Scalars {
    double theta = 0, energy = 0, first = 0;  // energy: g^T z
    T step = 0, turn = 0;                     // t += step p, p = z + turn p
    bool active = false;
  };
  using Columns = std::array<Scalars, kColumns>;

  void load(const Basis& known, std::span<const double> theta, const Basis& residuals);
  void multiply();  ///< q = (gamma (D - A) - theta M) p and the step lengths
  void descend();   ///< t, g, and the projection of the new z
  void turn();      ///< g, p

  const Laplacian& S_;
  int steps_, known_ = 0;
  Columns columns_;
  std::vector<T> k_;                  // known vectors times M^(1/2), row by row
  std::vector<T> w_, g_, p_, q_, t_;  // two columns, row by row; w = N^-1, kept positive
  Eigen::MatrixXd gram_[kColumns];    // K^T N^-1 K
  Eigen::VectorXd multiplier_[kColumns];
};

}  // namespace dgat::spectral
