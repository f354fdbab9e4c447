#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "dgat/data/dataset.h"
#include "dgat/nn/model.h"
#include "dgat/tensor/spill.h"
#include "dgat/train/config.h"
#include "dgat/train/metrics.h"

namespace dgat::train {

/// Metrics after the update of a step; loss is that of the training pass of the step.
struct StepRecord {
  int64_t step = 0;
  double loss = 0, train = 0, val = 0, test = 0;
};

/// One network on one split.
struct SplitTask {
  const Config& config;
  const data::Dataset& dataset;
  const nn::GraphInput<float>& input;
  int64_t split = 0;
  int64_t layers = 1;
  /// Whether memory comes before time; nothing: saves_memory() decides. No result depends on it.
  std::optional<bool> save_memory = std::nullopt;
};

/// Whether a training is so large that it computes cheap intermediate values twice instead of
/// keeping them: above about a gigabyte of them.
bool saves_memory(const Config& config, int64_t nodes, int64_t layers);

struct SplitResult {
  int64_t split = 0, layers = 0;
  StepRecord best;         ///< the first step with the highest validation metric
  int64_t steps = 0;       ///< steps run
  double seconds = 0;      ///< of training and evaluation, over all sessions of a resumed run
  int64_t parameters = 0;  ///< numbers trained
};

/// Checkpoint and callbacks of a training loop. All are optional.
struct TrainHooks {
  std::filesystem::path checkpoint;  ///< where the state is kept; continued from when it exists
  std::string data;  ///< data::fingerprint of the data; a checkpoint of other data is refused
  /// A notice instead of an error when the checkpoint is damaged (the loop starts again) or cannot
  /// be written (training continues without it).
  bool checkpoint_is_optional = false;
  std::function<void(const StepRecord&)> on_evaluation;
  std::function<void()> before_checkpoint;  ///< for example to flush logs
  const std::atomic<bool>* stop = nullptr;  ///< another job failed: save and throw Interrupted
};

/// Trains with full batches: forward, loss on the training nodes, backward, update; evaluation
/// after the update every `eval_every` steps and after the last. Keeps the weights of the first
/// step with the highest validation metric and leaves them in `model`. Models of two stages
/// (Model::pretraining_share) are pre-trained first; those steps are reported, but none of them is
/// the best.
///
/// Random numbers are a function of (seed, split, step). So a run continued from a checkpoint gives
/// the bits of an uninterrupted one, at any thread count.
///
/// Throws: InputError when a part of the split cannot be measured; ComputeError naming step and
///         tensor when a value is not finite; Interrupted on Ctrl-C, after saving the checkpoint.
SplitResult train_split(const SplitTask& task, nn::Model<float>& model,
                        const TrainHooks& hooks = {});

/// Bytes that this process may have: --memory-budget, or its share of what the system has left
/// beside `present`. Ranks on one machine share that.
int64_t memory_limit(const Config& config, int64_t present);

/// While it lives, large matrices come from files, as --spill asks; null without that option.
std::unique_ptr<tensor::SpillScope> spill_scope(const Config& config);

/// The model of a task with its initial weights, prepared for the task's input.
std::unique_ptr<nn::Model<float>> make_task_model(const SplitTask& task);

}  // namespace dgat::train
