#pragma once

#include "dgat/core/error.h"

namespace dgat::train {

/// A training whose numbers are no longer finite. The same options diverge again, so there is
/// nothing to continue from.
class Diverged : public ComputeError {
 public:
  using ComputeError::ComputeError;
};

}  // namespace dgat::train
