#pragma once

#include <string>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// Why a stored result cannot be the answer to (graph, options); empty when nothing speaks against
/// it. Nothing in the result is trusted: lengths, ranges, components and masses are compared with
/// the graph, the summary with the parts, and residual, norm, sign and orthogonality of every
/// vector are computed again. (That no smaller eigenvalue exists is not: only a solve tells.)
///
/// Needs: an undirected graph and options that solve_spectrum() accepts.
/// Cost:  O((N + E) k + N k^2).
std::string what_is_wrong(const EigenResult& result, const graph::CsrGraph& graph,
                          const EigenOptions& options);

}  // namespace dgat::spectral
