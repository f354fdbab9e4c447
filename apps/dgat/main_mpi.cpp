// dgat-mpi: the same verbs under mpiexec. `train` shares every training between the ranks; studies
// spread their trials over them, as several processes with one ledger do; the other verbs are done
// by rank 0.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>

#include "dgat/core/parallel.h"
#include "dgat/core/progress.h"
#include "dgat/dist/mpi.h"
#include "program.h"

namespace {

constexpr std::array<std::string_view, 4> kStudies = {"compare", "ablate", "reproduce", "tune"};

/// Ranks behind the first neither print results nor progress. Most of their errors are errors of
/// rank 0, too, which ends the job before theirs are printed.
dgat::app::ProgramOptions follower(int rank) {
  dgat::set_quiet(true);
  if (std::freopen("/dev/null", "w", stdout) == nullptr) return {};
  return {fmt::format("dgat: rank {}", rank),
          [] { std::this_thread::sleep_for(std::chrono::seconds(2)); }};
}

}  // namespace

int main(int argc, char** argv) {
  setenv("NO_COLOR", "1", 0);  // mpiexec gives ranks a terminal, also where its output is a file
  dgat::dist::MpiSession mpi(argc, argv);
  dgat::dist::Communicator& ranks = mpi.ranks();
  dgat::set_thread_count(std::max(1, dgat::thread_count() / ranks.on_this_machine()));
  const std::string_view verb = argc > 1 ? argv[1] : "";
  const bool studies = std::ranges::find(kStudies, verb) != kStudies.end();
  dgat::app::ProgramOptions options;
  if (ranks.rank() > 0) options = follower(ranks.rank());
  int code = 0;
  if (verb == "train") {
    const dgat::dist::RankScope scope(ranks);
    code = dgat::app::run_program(argc, argv, options);
  } else if (studies || ranks.rank() == 0) {
    code = dgat::app::run_program(argc, argv, options);
  }
  if (code != 0) mpi.abort(code);
  return code;
}
