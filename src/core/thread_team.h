#pragma once

#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "dgat/core/parallel.h"
#include "dgat/core/side_task.h"

/// The workers behind parallel.h.
namespace dgat::detail {

/// The threads of one caller, asleep between loops.
///
/// The caller takes blocks like everybody else and waits only for workers that are inside one. A
/// worker that the system has not scheduled yet is not waited for: its share is done by then. So a
/// loop on a busy machine is never much slower than on one thread (an OpenMP barrier waits for
/// every thread to arrive, and costs a time slice each time). Waiting spins for some microseconds,
/// because the next loop of a training step usually comes by then, and sleeps after that.
class ThreadTeam {
 public:
  using BlockFunction = void (*)(void* context, int64_t block);

  ThreadTeam();
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// function(context, b) for b in [0, blocks), on the calling thread and up to threads - 1 others:
  /// fewer where the system starts no more threads.
  /// Needs: function does not throw; only the owner of the team calls.
  void run(int64_t blocks, int threads, BlockFunction function, void* context);

  /// Hands the job to the first worker that is free; loops run without that worker until it is
  /// done. False: another job still waits for a worker, or there is no worker. Needs: the job's
  /// function does not throw; the job stays where it is until it is settled.
  bool post(Job& job);
  /// Returns when a worker has run the posted job: true. False when none had begun: the job is the
  /// caller's again.
  bool settle(Job& job);

 private:
  struct Shared;
  static void work(Shared& shared, int index);
  /// Starts workers until there are so many, or as many as the system allows; returns how many.
  int grow(int workers);

  std::unique_ptr<Shared> shared_;
  std::vector<std::thread> workers_;
  bool refused_ = false;  // the system refused a thread; it is not asked again
};

/// Counts the forks that made this process: threads do not survive one, so a team of an earlier
/// count must be left alone.
uint64_t fork_generation();

}  // namespace dgat::detail
