#pragma once

#include <vector>

#include "component_solver.h"

namespace dgat::spectral {

/// The operator that the code of the paper's authors builds, for comparison with the formula:
///   L = gamma M^-alpha K M^(1-alpha),   K = D - A + I,   M = gamma (D + 2I) + (1-gamma) I,
/// the graph with self loops counted twice and a right exponent of 1-alpha. It is similar to
/// B = gamma M^(1/2-alpha) K M^(1/2-alpha), which is positive definite for gamma > 0.
///
/// Returns the pairs after the first: eigenvalues 2 .. k+1 of L in increasing order with unit
/// eigenvectors u of B; those of L are M^(-1/2) u. Of a repeated eigenvalue, Lanczos finds the
/// projection of its start, a function of the seed, and counts one copy.
///
/// Needs:  a connected undirected graph of two or more nodes, gamma > 0.
/// Cost:   O(n^3) up to kAuthorsDense nodes; beyond, Lanczos with B^-1 by conjugate gradients.
ComponentSolution solve_authors(const graph::CsrGraph& graph, const EigenOptions& options);

inline constexpr int64_t kAuthorsDense = 600;

/// m_i of that operator.
double authors_mass(const graph::CsrGraph& graph, graph::NodeId i, double gamma);

}  // namespace dgat::spectral
