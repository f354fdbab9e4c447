#pragma once

#include <functional>

#include "dgat/dist/communicator.h"

namespace dgat::dist {

/// Calls body(ranks) on `count` threads of this process, each a rank of its own and current() on
/// its thread; returns when all have. For tests: the same calls as under MPI, without MPI.
/// Throws: what the first rank that failed threw; the others end with an error at their next call.
void run_ranks(int count, const std::function<void(Communicator&)>& body);

}  // namespace dgat::dist
