#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/eigensolver.h"
#include "ldl.h"

namespace dgat::spectral {

/// The methods that suit a connected graph, found by a few breadth-first searches and, where it may
/// pay, a symbolic factorisation.
struct SolverPlan {
  int64_t depth = 0;  ///< levels of a breadth-first search from a node at the rim
  /// Depth far beyond log N: a mesh or a chain. It has small separators (a factor has little fill)
  /// and tiny eigenvalues (Krylov methods without help do not converge).
  bool deep = false;
  std::unique_ptr<SparseLdl> factor;  ///< ordered and counted, when its cost is within reason
  std::vector<Solver> methods;        ///< in the order in which to try them
};

/// Needs: a connected graph of two or more nodes that outlives the result.
SolverPlan plan_solvers(const graph::CsrGraph& graph, const EigenOptions& options);

}  // namespace dgat::spectral
