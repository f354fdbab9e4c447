#pragma once

#include "dgat/train/config.h"

namespace dgat::train {

/// Throws: InputError when several ranks cannot train what the options ask for.
void check_over_ranks(const Config& config);

}  // namespace dgat::train
