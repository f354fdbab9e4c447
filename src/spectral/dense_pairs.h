#pragma once

#include <Eigen/Core>

namespace dgat::spectral {

/// All pairs of a dense symmetric matrix, values in increasing order, vectors orthonormal.
struct DensePairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;
  bool converged = false;
};

/// Cost: O(n^3). The one place that compiles Eigen's solver, which takes the compiler long.
DensePairs dense_pairs(const Eigen::MatrixXd& symmetric);

}  // namespace dgat::spectral
