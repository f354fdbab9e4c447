#pragma once

#include <Eigen/Dense>
#include <cmath>

#include "dgat/graph/csr_graph.h"

/// The definitions of the spectral part written out with dense matrices.
namespace dgat::test {

inline Eigen::MatrixXd dense_laplacian(const graph::CsrGraph& graph, double alpha, double gamma) {
  const graph::NodeId n = graph.nodes();
  Eigen::MatrixXd difference = Eigen::MatrixXd::Zero(n, n);  // D - A
  Eigen::VectorXd mass(n);
  for (graph::NodeId i = 0; i < n; ++i) {
    double degree = 0;
    for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
      difference(i, graph.targets()[static_cast<size_t>(e)]) = -graph.weight(e);
      degree += graph.weight(e);
    }
    difference(i, i) = degree;
    mass[i] = gamma * degree + (1 - gamma);
    if (mass[i] == 0) mass[i] = 1;
  }
  if (gamma == 0) return difference;
  const Eigen::VectorXd left = mass.array().pow(-alpha), right = mass.array().pow(alpha - 1);
  return gamma * left.asDiagonal() * difference * right.asDiagonal();
}

/// All eigenvalues of S = L(1/2,gamma), increasing.
inline Eigen::VectorXd dense_eigenvalues(const graph::CsrGraph& graph, double gamma) {
  return Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(dense_laplacian(graph, 0.5, gamma))
      .eigenvalues();
}

}  // namespace dgat::test
