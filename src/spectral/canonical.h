#pragma once

#include <span>
#include <vector>

#include "component_solver.h"
#include "dgat/spectral/laplacian.h"
#include "tall.h"

namespace dgat::spectral {

/// Orthonormal approximate eigenvectors in increasing order: the pairs wanted, all pairs equal to
/// the last of these, and one more unless the spectrum ends there.
struct Candidate {
  Basis vectors;
  std::vector<double> residuals;  ///< as the method saw them; only that of the last is used
  int last_multiplicity = 0;      ///< known lower bound where not all equal pairs are present
};

/// What a search for pairs returns.
struct FoundPairs {
  Candidate candidate;
  int64_t steps = 0;
  bool converged = false;
  bool many_equal = false;  ///< the last eigenvalue wanted has more copies than were looked for
};

/// Entry i is a Philox number of (seed, which, original[i]) in [-1/2, 1/2): the fixed vectors that
/// choose inside a repeated eigenvalue, and the first start vector.
std::vector<double> fixed_vector(std::span<const graph::NodeId> original, uint64_t seed, int which);

/// Whether two eigenvalues count as the same.
bool equal_values(double a, double b, double gap_tolerance);

/// Turns candidates into an answer: eigenvalues from the energy (no cancellation), repeated ones
/// resolved by projecting the fixed vectors in turn, residuals recomputed from the graph.
ComponentSolution finish(const Laplacian& S, std::span<const graph::NodeId> original,
                         const Candidate& candidate, const EigenOptions& options);

}  // namespace dgat::spectral
