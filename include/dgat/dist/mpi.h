#pragma once

#include <memory>

#include "dgat/dist/communicator.h"

namespace dgat::dist {

/// MPI from its start to its end; one object per process, in the main thread. Only programs that
/// link dgat_dist_mpi have it.
class MpiSession {
 public:
  MpiSession(int& argc, char**& argv);
  ~MpiSession();  ///< waits for all ranks
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  Communicator& ranks() { return *ranks_; }
  /// Ends all ranks of the job with this exit code.
  [[noreturn]] void abort(int code);

 private:
  std::unique_ptr<Communicator> ranks_;
};

}  // namespace dgat::dist
