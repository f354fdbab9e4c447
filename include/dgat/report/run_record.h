#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "dgat/train/trainer.h"

namespace dgat::report {

struct SplitRecord {
  int64_t split = 0, best_step = 0;
  double train = 0, val = 0, test = 0, seconds = 0;
  /// Of the chosen depth, in step order; empty without a log, not-a-number where it has none.
  std::vector<train::StepRecord> curve;
};

struct DepthRecord {
  int64_t layers = 0;
  double val_mean = 0, val_std = 0, test_mean = 0, test_std = 0;
};

/// The contents of a run directory (summary.json, log.jsonl) as plain data.
struct RunRecord {
  std::filesystem::path directory;
  std::string model, dataset, metric;
  int64_t layers = 0, parameters = 0, peak_rss_bytes = 0;
  double test_mean = 0, test_std = 0, val_mean = 0, val_std = 0, seconds_per_step = 0;
  std::vector<SplitRecord> splits;
  std::vector<DepthRecord> depths;
  std::vector<std::pair<std::string, std::string>> options;  ///< resolved, in the file's order

  /// The value of an option, or `otherwise`.
  std::string option(const std::string& key, const std::string& otherwise = {}) const;
};

/// Reads a run directory. If the log is missing or cut off, the curves are missing; the rest is
/// read. Throws: InputError that names the file and the key when there is no usable summary.json.
RunRecord read_run(const std::filesystem::path& directory);

/// The command line that repeats a run, quoted for a shell, without the options in `left_out`.
std::string command_line(const RunRecord& run, const std::vector<std::string>& left_out = {});

}  // namespace dgat::report
