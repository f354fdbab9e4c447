#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "dgat/data/dataset.h"
#include "dgat/nn/model.h"
#include "dgat/train/config.h"

/// Weight files: parameters and buffers as safetensors. Their metadata has all that is needed to
/// use them: options by key, and dgat.* for the data set and the trial.
namespace dgat::train {

/// Which trial the weights of a file come from.
struct TrainedOn {
  int64_t split = 0, layers = 0, best_step = 0;
  GraphChoice graph;  ///< that of the split: neither automatic nor advised
};

/// Whole or not at all.
void save_trained(const std::filesystem::path& path, nn::Model<float>& model, const Config& config,
                  const data::Dataset& dataset, const TrainedOn& on);

/// Weights with all that is needed to use them, read from one file.
struct TrainedModel {
  Config config;
  int64_t split = 0, layers = 0, features = 0, classes = 0;
  int64_t nodes = 0;                     ///< for models that learn a row per node
  GraphChoice graph;                     ///< what it was trained on
  std::string dataset;                   ///< name of the data set it was trained on
  std::vector<std::string> class_names;  ///< of that data set; empty where it had numbers
  std::unique_ptr<nn::Model<float>> model;
};

/// Reads `run`: a run directory (then split K) or a weight file.
/// Throws: InputError when there is no such run or split, or the file is damaged.
TrainedModel load_trained(const std::filesystem::path& run, int64_t split);

}  // namespace dgat::train
