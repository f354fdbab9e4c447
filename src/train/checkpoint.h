#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dgat/tensor/adam.h"
#include "dgat/train/trainer.h"
#include "dgat/train/weights.h"

/// The state of one training loop between two steps. Random numbers need no state: they are a
/// function of the step.
namespace dgat::train {

struct LoopState {
  int64_t step = 0;  ///< steps done
  bool finished = false;
  /// The loss of the last step when Ctrl-C came before its evaluation was over.
  std::optional<double> unevaluated_loss;
  StepRecord best;  ///< best.step 0: nothing evaluated yet
  double seconds = 0;
  Snapshot best_weights;
  std::vector<tensor::AdamMoments<float>> moments;  ///< one per parameter
};

/// Whole or not at all. A finished loop keeps the best weights only. `identity` is the text of the
/// options that change results.
void save_checkpoint(const std::filesystem::path& path, nn::Model<float>& model,
                     const LoopState& state, const std::string& identity);

/// Sets model and state from a file. Throws: InputError when the file is damaged or belongs to a
/// run with other options.
void load_checkpoint(const std::filesystem::path& path, nn::Model<float>& model, LoopState& state,
                     const std::string& identity);

/// Where the checkpoint before the last one is kept: what a damaged one falls back on.
std::filesystem::path previous_checkpoint(const std::filesystem::path& checkpoint);

/// Where one loop keeps its state, as TrainHooks asks. Without a path it keeps nothing.
class Checkpoints {
 public:
  Checkpoints(const SplitTask& task, const TrainHooks& hooks);
  bool due(int64_t step) const { return step % every_ == 0; }
  /// Sets model and state from the checkpoint, or with a notice from the one before it if it is
  /// damaged, and returns true; false when the loop starts from step 0.
  bool load(nn::Model<float>& model, LoopState& state) const;
  void save(nn::Model<float>& model, const LoopState& state) const;

 private:
  const TrainHooks& hooks_;
  int64_t every_;
  std::string identity_;  // of the options, the split and the data
};

/// The step from which a loop with this checkpoint continues; 0 without one. Used to cut the log
/// back to it.
int64_t checkpoint_step(const std::filesystem::path& path);

}  // namespace dgat::train
