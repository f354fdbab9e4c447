#pragma once

#include <cstdint>

namespace dgat::train {

/// Raised by every change after which the same options, data and seed give other weights on the
/// same processor. Ledger lines and checkpoints carry it; those of another version are not used.
/// tests/train/results_version_test.cpp fails when it was not raised.
///
///   1  before versions were recorded
///   2  the scheduling devices of a training step were removed
///   3  several eigenvectors are found with other steps where eigenvalues are small
inline constexpr int64_t kResultsVersion = 3;

}  // namespace dgat::train
