#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "block_operator.h"
#include "canonical.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// The `wanted` smallest pairs in the complement of the null vector, all that equal the last of
/// these, and one more: all in one search space, which starts as kGuard vectors more than are
/// wanted. Every step widens it by the corrected residuals of the lowest pairs that are not yet
/// good enough. Pairs that are stay in the space: nothing is deflated, so neither the error of one
/// pair nor a small distance between two keeps another from its residual. A full space is cut back
/// to its best Ritz vectors.
///
/// The first vectors are the fixed ones of canonical.h. Where the correction is a function of S,
/// the space then holds their projections onto every eigenspace, however large that is.
/// `krylov` is such a correction: it serves when the last eigenvalue has more copies than fit.
/// Stops without convergence when nothing has improved for a while, or when `work_limit` visits of
/// graph entries are spent.
FoundPairs block_davidson(const Laplacian& S, std::span<const graph::NodeId> original, int wanted,
                          BlockCorrection& correction, LinearCorrection& krylov,
                          const EigenOptions& options);

}  // namespace dgat::spectral
