#pragma once

#include <span>

#include "canonical.h"
#include "davidson.h"
#include "dgat/spectral/eigensolver.h"

namespace dgat::spectral {

/// The pairs that an answer needs, found one after the other, each in the complement of those
/// before: the `wanted` smallest, all that are equal to the last of these, and one more. Every
/// search works on two Ritz pairs at once, grown from two random vectors, so that a second copy of
/// an eigenvalue, or a smaller one that was passed over, grows beside the pair in work and is met
/// by the next search. They end only when one that could have shown another copy finds larger
/// values alone.
///
/// `krylov` is a correction that is a function of S, for eigenvalues with more than kMaxEqual
/// copies.
FoundPairs find_pairs(const Laplacian& S, std::span<const graph::NodeId> original, int wanted,
                      Correction& correction, Correction& krylov, const DavidsonOptions& search,
                      const EigenOptions& options);

}  // namespace dgat::spectral
