#pragma once

#include <cstddef>
#include <vector>

#include "dgat/graph/components.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// Pair m of the result is pair `pair` of part `part`.
struct Place {
  size_t part = 0, pair = 0;
};

/// Components that a policy solves: two or more nodes, largest first.
std::vector<graph::NodeId> solved_components(const graph::Components& components,
                                             ComponentPolicy policy);

/// Fills eigenvalues, residuals, gaps, angle bounds and multiplicity from the parts, as the policy
/// says. Returns where each pair stands; empty under kEach, where pair m is the m-th of every part.
std::vector<Place> summarise(EigenResult& result, double gap_tolerance);

}  // namespace dgat::spectral
