#pragma once

#include <algorithm>
#include <limits>
#include <span>
#include <vector>

#include "dgat/core/progress.h"
#include "dgat/spectral/laplacian.h"
#include "tall.h"

namespace dgat::spectral {

/// Turns the residuals r = (S - theta) u of one or two Ritz pairs into new search directions
/// t ~ (S - theta)^-1 r. `known` holds orthonormal vectors that t need not contain: the null
/// vector, the pairs already found and, last, the vectors u.
class Correction {
 public:
  virtual ~Correction() = default;
  virtual void apply(const Basis& known, std::span<const double> theta, const Basis& residuals,
                     Basis& directions) = 0;
};

/// A correction that is the same linear function for every residual: t = B r.
class LinearCorrection : public Correction {
 public:
  void apply(const Basis&, std::span<const double>, const Basis& residuals,
             Basis& directions) final {
    directions.truncate(0);
    for (int c = 0; c < residuals.count(); ++c) multiply(residuals.column(c), directions.push());
  }
  virtual void multiply(std::span<const double> r, std::span<double> t) = 0;
};

/// t = r: the search space is a Krylov space.
class NoCorrection : public LinearCorrection {
 public:
  void multiply(std::span<const double> r, std::span<double> t) override {
    std::copy(r.begin(), r.end(), t.begin());
  }
};

struct DavidsonOptions {
  int block = 2;   ///< Ritz pairs whose residuals widen the space in a step, 1 or 2
  int basis = 24;  ///< search directions before a restart
  int keep = 8;    ///< Ritz vectors kept by a restart
  int max_steps = 1000;
  double tolerance = 1e-10;  ///< on the residual, absolute
  double rounding = 1e-15;   ///< residuals below this are rounding errors, absolute
  double gap_tolerance = 1e-8;
};

/// When a pair is good enough.
struct DavidsonGoal {
  /// Residual over gap to reach; the gap is that of the Ritz values unless one is given.
  double angle = 1e-7;
  double gap = std::numeric_limits<double>::infinity();
  /// A pair above this value is only asked for its value: it may stop at a fiftieth of the
  /// distance. Its vector then holds at most a fiftieth of anything below.
  double beyond = std::numeric_limits<double>::infinity();
};

struct DavidsonResult {
  bool converged = false;
  double value = 0, residual = 0;
  std::vector<double> vector;
  Basis others;  ///< the next Ritz vectors, good starts for the next pairs
  int steps = 0;
};

/// The smallest eigenpair of the symmetric S (alpha = 1/2) of a connected graph in the complement
/// of the orthonormal `deflated` (the null vector, pairs found before).
///
/// A search space is widened by the corrected residuals of its first pairs and cut back to its best
/// Ritz vectors when full. With t = r it is a Krylov space (thick-restart Lanczos), with t = S^+ r
/// shift-invert Lanczos, with t from a few CG steps Jacobi-Davidson. Where the correction is a
/// function of S and there is one start vector b (block 1), the space holds only functions of S
/// times b, and the vector found is the projection of b onto the eigenspace, however large that is.
DavidsonResult davidson(const Laplacian& S, const Basis& deflated, const Basis& start,
                        Correction& correction, const DavidsonOptions& options,
                        const DavidsonGoal& goal, Progress& progress);

}  // namespace dgat::spectral
