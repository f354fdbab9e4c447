#pragma once

#include "dgat/dist/communicator.h"
#include "dgat/study/trial.h"

namespace dgat::study {

/// Compares program, processor kernels, data and options of all ranks.
/// Throws: InputError on every rank that names the first difference.
void check_same_on_ranks(dist::Communicator& ranks, const TrialData& data,
                         const train::Config& config);

}  // namespace dgat::study
