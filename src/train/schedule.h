#pragma once

#include <functional>
#include <optional>
#include <utility>

#include "dgat/core/parallel.h"
#include "dgat/core/side_task.h"
#include "dgat/nn/model.h"

/// When and where the parts of a training step run. This is the only place that knows; no number
/// depends on it.
///
/// A step has passes (forward, backward), an update of the weights and, as a rule, an evaluation
/// (another forward pass). Loops inside each of them are shared by all threads (core/parallel.h).
///
///   large graph    passes 1 | update 1 | evaluation 1 | passes 2 | update 2 | evaluation 2 | ...
///
/// On a small graph a loop ends before a second thread has done much of it. There the passes run
/// on the calling thread, and a second one evaluates the weights of the previous step:
///
///   small graph    passes 1 | update 1 | passes 2     | update 2 | passes 3     | update 3 | ...
///                                      | evaluation 1 |          | evaluation 2 |
///
/// Both only read the weights; the update waits for both. A model that keeps running statistics or
/// trains in two stages is treated like a large graph, because its passes change what an evaluation
/// reads. So is a graph that several ranks share, because all ranks must send their messages in the
/// same order, and training in cells, where a model is prepared for other inputs in turn. These are
/// `apart`.
namespace dgat::train {

class Schedule {
 public:
  Schedule(nn::Model<float>& model, int64_t nodes, bool apart = false)
      : side_by_side_(!apart && thread_count() > 1 && nodes * model.options().hidden <= kSmall &&
                      model.buffers().empty() && model.pretraining_share() == 0) {}

  /// The passes of a step.
  template <class Work>
  auto passes(const Work& work) const {
    std::optional<ThreadScope> alone;
    if (side_by_side_) alone.emplace(1);
    return work();
  }

  /// An evaluation: `measure` now or beside the next passes, then `report` on the calling thread.
  /// Needs: finish() since the last one.
  void evaluate(std::function<void()> measure, std::function<void()> report) {
    if (!side_by_side_) {
      measure();
      return report();
    }
    report_ = std::move(report);
    evaluation_.start(std::move(measure));
  }
  /// Waits for an evaluation that is not finished and reports it. Call it before the weights
  /// change.
  void finish() {
    if (!evaluation_.pending()) return;
    evaluation_.wait();
    report_();
  }

 private:
  static constexpr int64_t kSmall = int64_t{1} << 15;  // numbers in a hidden layer
  bool side_by_side_;
  std::function<void()> report_;
  SideTask evaluation_;
};

}  // namespace dgat::train
