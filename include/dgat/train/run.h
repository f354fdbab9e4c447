#pragma once

#include <string>
#include <vector>

#include "dgat/data/load.h"
#include "dgat/train/inputs.h"
#include "dgat/train/run_directory.h"
#include "dgat/train/trainer.h"

namespace dgat::train {

/// One depth of a range, over all splits.
struct DepthResult {
  int64_t layers = 0;
  MeanStd train, val, test;
  std::vector<SplitResult> splits;
};

/// The outcome of a run. Metrics are fractions in [0, 1].
struct RunSummary {
  Config config;
  std::string dataset;
  MetricKind metric = MetricKind::kAccuracy;
  int64_t parameters = 0;           ///< of the chosen depth
  size_t chosen = 0;                ///< index into depths
  std::vector<DepthResult> depths;  ///< every depth that was tried
  double seconds_per_step = 0;      ///< of the chosen depth
  int64_t peak_rss_bytes = 0;
  std::vector<SpectrumReport> spectrum;               ///< empty, or one
  std::map<int64_t, rewire::RewireReport> rewirings;  ///< by split; see InputBuilder

  const DepthResult& best() const { return depths.at(chosen); }
};

/// The protocol. Every depth of `config.layers` is trained on every split; the depth with the
/// highest mean validation metric over the splits is chosen (the smaller one on a tie), never by
/// its test metric; its best steps give mean and sample standard deviation.
///
/// Splits run one after another or `config.jobs` at a time, with the same results. With a
/// directory, every loop keeps a checkpoint there and a second call continues; at the end the
/// weights of the chosen depth are in split-K.safetensors and the checkpoints are gone.
///
/// Throws: as train_split(). Interrupted leaves a directory that can be resumed.
RunSummary run_training(const data::Dataset& dataset, const Config& config,
                        spectral::SpectralCache& cache, const RunDirectory* directory = nullptr);

/// Whether hidden layers are so small that two splits side by side use the cores better than two
/// threads on one split.
bool small_enough_for_jobs(const Config& config, const data::Dataset& dataset);

/// Reads the data set of a configuration with the splits it asks for; a set that has none gets
/// random ones 60/20/20.
data::Dataset load_for(const Config& config);

/// DIR/summary.json.
std::string to_json(const RunSummary& summary);

}  // namespace dgat::train
