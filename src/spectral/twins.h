#pragma once

#include <span>

#include "dgat/graph/csr_graph.h"

namespace dgat::spectral {

/// Makes entries equal that must be equal: nodes i, j with the same neighbours (except each other)
/// and weights have equal entries in every eigenvector of S = L(1/2,gamma) whose eigenvalue differs
/// from that of e_i - e_j, which is gamma d / M (gamma (d+1) / M where i and j are neighbours).
/// Solvers leave rounding between them; then argmax phi, and which edges lie beyond a quantile,
/// would depend on the method. Averaging over twins commutes with S, so no residual grows.
///
/// `vectors` holds one vector per eigenvalue, one after the other.
/// Cost: O(E + N log N).
void equalise_twins(const graph::CsrGraph& graph, double gamma, std::span<const double> eigenvalues,
                    std::span<double> vectors);

}  // namespace dgat::spectral
