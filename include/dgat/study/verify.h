#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dgat/spectral/cache.h"

namespace dgat::study {

/// What was found out about a run directory.
struct Verification {
  bool finished = false;   ///< the run has a summary.json
  int64_t files = 0;       ///< files that were read
  bool predicted = false;  ///< the networks were run on the data and compared with summary.json
  std::vector<std::string> problems;  ///< "file: what is wrong"; none: the run is sound

  bool ok() const { return problems.empty(); }
};

/// Checks every file of a run of `dgat train`:
///
///   config.yaml           is readable and its options resolve
///   summary.json          has its keys, finite numbers, the options of config.yaml, and means and
///                         deviations that are those of its splits
///   log.jsonl             one evaluation per line; the best step of every split has the metrics of
///                         summary.json
///   split-K.safetensors   one per split: checksum, names and shapes of the model, finite numbers,
///                         split, depth and best step of summary.json
///   checkpoints/          (unfinished run) checksum and finite numbers
///   tensorboard/          the checksums of the records
///   report.html           is complete
///
/// With `predict`, the networks are run on the data set of config.yaml: the metrics must be those
/// of summary.json, to the last bit where the weights were trained with the instruction set of this
/// machine, and within kOtherInstructions otherwise.
///
/// Throws: InputError when the folder holds no run.
Verification verify_run(const std::filesystem::path& folder, spectral::SpectralCache& cache,
                        bool predict = true);

/// How far a metric may differ where the weights were trained with other instructions: the last
/// bits of the scores differ, and a node whose two best scores are equal may change sides.
inline constexpr double kOtherInstructions = 0.005;

}  // namespace dgat::study
