// dgat verify: checks every file of a run.
#include "dgat/study/verify.h"

#include <fmt/format.h>

#include <memory>

#include "../verbs.h"
#include "dgat/core/error.h"

namespace dgat::app {
namespace {

struct Verify {
  CommonOptions common;
  std::string run;
  bool files_only = false;
};

void run(const Verify& options) {
  spectral::SpectralCache cache(spectral::default_cache_folder());
  const study::Verification found = study::verify_run(options.run, cache, !options.files_only);
  if (options.common.json) {
    print_json({{"run", options.run},
                {"ok", found.ok()},
                {"finished", found.finished},
                {"files", found.files},
                {"predicted", found.predicted},
                {"problems", found.problems}});
  } else {
    for (const std::string& problem : found.problems) fmt::print("{}\n", problem);
    if (found.ok()) {
      fmt::print("{}: {} files are sound{}{}\n", options.run, found.files,
                 found.predicted ? ", and the networks predict what summary.json says" : "",
                 found.finished ? "" : "; the run is not finished");
    }
  }
  if (found.ok()) return;
  throw_compute("{}: {} of {} checks failed; train again, or copy the run from where it is whole",
                options.run, found.problems.size(), found.files);
}

}  // namespace

void add_verify(CLI::App& app) {
  auto options = std::make_shared<Verify>();
  CLI::App* verb = app.add_subcommand("verify", "Check every file of a run");
  verb->add_option("RUN", options->run, "folder that `dgat train` wrote")->required();
  verb->add_flag("--files-only", options->files_only,
                 "do not load the data set and do not run the networks");
  add_common_options(*verb, options->common);
  verb->footer(
      "Checks checksums, names and shapes of the weights, that numbers are finite, that the files\n"
      "agree on the options, that means are those of the splits, and the evaluations in the log.\n"
      "Then it runs the networks on the data set. Their metrics must equal those of summary.json,\n"
      "to the last bit on a machine with the instruction set of the training.\n"
      "Exit code 0: no problem; 1: a line for each problem.\n"
      "  dgat verify runs/dgat\n"
      "  dgat verify runs/dgat --files-only --json");
  verb->callback([options] { run(*options); });
}

}  // namespace dgat::app
