#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>

#include "dgat/report/page.h"
#include "dgat/study/run.h"

namespace dgat::report {

struct RunPageOptions {
  /// The split whose rewiring, drawing and attention are shown; without one the first of the run.
  std::optional<int64_t> split = std::nullopt;
  /// What the run trained on; without it, study::open_run() makes it again.
  const study::RunInputs* inputs = nullptr;
};

/// The page of one run directory: what was run, results, learning curves, predictions, graph,
/// spectrum and rewiring, drawing, attention.
///
/// The networks of all splits predict once. When the data set is gone (or cannot be used), the page
/// shows what the directory holds and a notice says what is missing.
///
/// Cost:   one forward pass per split, and an eigensolve unless the cache has it.
/// Throws: InputError when the directory is not a finished run, or has no such split.
Page run_page(const std::filesystem::path& run, spectral::SpectralCache& cache,
              const RunPageOptions& options = {});

/// One page about several runs: comparison charts, then results and curves of each.
/// Throws: as run_page().
Page runs_page(std::span<const std::filesystem::path> runs);

}  // namespace dgat::report
