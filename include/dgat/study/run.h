#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dgat/study/study.h"
#include "dgat/train/run_directory.h"

namespace dgat::study {

/// What a run trains on.
struct RunInputs {
  TrialData data;
  std::shared_ptr<const train::Config> config;
  std::shared_ptr<train::InputBuilder> builder;  ///< eigenvectors, rewired graphs, features
};

/// A run of `dgat train`: a study of one row that keeps its weights.
struct Run {
  RunInputs inputs;
  RowResult row;  ///< the depths are row.choices, the trials of the chosen one row.splits
  int64_t peak_rss_bytes = 0;  ///< of the process
};

/// Trains every depth of `config.layers` on every split and chooses the depth (see run_studies()).
///
/// With a directory, every trial keeps a checkpoint there and a second call continues. At the end
/// the checkpoints are removed and split-K.safetensors has the weights of the chosen depth. Nothing
/// is written before the graph is ready and every split can be measured. With `splits`, only these
/// are trained; a split keeps its number, so it has the same weights.
///
/// Throws: as train_split(). Interrupted leaves a directory that can be resumed.
Run run_training(const TrialData& data, const train::Config& config, spectral::SpectralCache& cache,
                 const train::RunDirectory* directory = nullptr,
                 const std::vector<int64_t>& splits = {});

/// What the run in a folder trained on, made again from its config.yaml without notices.
/// Throws: InputError when the data set is gone or is not usable.
RunInputs open_run(const std::filesystem::path& folder, spectral::SpectralCache& cache);

/// DIR/summary.json.
std::string to_json(const Run& run);

}  // namespace dgat::study
