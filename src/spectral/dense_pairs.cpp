#include "dense_pairs.h"

#include <Eigen/Eigenvalues>

namespace dgat::spectral {

DensePairs dense_pairs(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.info() == Eigen::Success};
}

}  // namespace dgat::spectral
