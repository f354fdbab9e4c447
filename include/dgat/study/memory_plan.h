#pragma once

#include <cstdint>
#include <optional>

#include "dgat/data/dataset.h"
#include "dgat/train/config.h"

namespace dgat::study {

/// The memory that a training will need, before it starts.
struct MemoryPlan {
  int64_t present = 0;  ///< bytes of the process now: the data set, above all
  int64_t shared = 0;   ///< graph, messages, features in the kernels' form: once
  int64_t trial = 0;    ///< parameters, intermediate values, gradients: once per trial side by side
  int64_t jobs = 1;     ///< trials side by side, fewer than asked for where those do not fit
  int64_t wanted_jobs = 1;
  int64_t limit = 0;  ///< bytes that the process may have: --memory-budget, or what the system has

  int64_t peak_with(int64_t side_by_side) const { return present + shared + side_by_side * trial; }
  int64_t peak() const { return peak_with(jobs); }
  bool fits() const { return peak() <= limit; }
  /// Whether graph and features leave room for matrices that come from files (--spill).
  bool fits_with_files() const { return present + shared + (int64_t{1} << 26) <= limit; }
};

/// The plan for the deepest network of a configuration.
///
/// `trial` is measured, not derived: two steps of the same network are trained on random graphs of
/// kProbeNodes and half as many nodes, with the degree, features and training share of the data
/// set, and their bytes are extrapolated linearly. So every model and recipe
/// is covered, and a change of the code needs no change here. `shared` is counted.
///
/// In cells (--cells), a step is measured on its share of the nodes with all of their arcs and
/// neighbours. That is an upper bound: cells cut arcs.
///
/// Accuracy: the peak is within 15% on the graphs of docs/reliability.md. Nothing where the model
/// cannot be trained on a random graph.
/// Cost: four steps on at most kProbeNodes nodes.
std::optional<MemoryPlan> plan_memory(const data::Dataset& dataset, const train::Config& config);

inline constexpr int64_t kProbeNodes = 1024;

/// Throws: InputError that says what is needed, what there is, and which --hidden or --layers would
///         fit.
[[noreturn]] void throw_does_not_fit(const MemoryPlan& plan, const data::Dataset& dataset,
                                     const train::Config& config);

/// The bytes of matrices that two steps on a data set take, inputs not counted; `save_memory` as in
/// train::SplitTask.
int64_t training_bytes(const data::Dataset& dataset, const train::Config& config, int64_t layers,
                       std::optional<bool> save_memory = std::nullopt);

}  // namespace dgat::study
