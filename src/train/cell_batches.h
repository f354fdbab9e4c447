#pragma once

#include <cstdint>
#include <vector>

#include "dgat/train/trainer.h"

namespace dgat::train {

/// A seed of its own for every split, for weights, dropout and cells.
uint64_t split_seed(uint64_t seed, int64_t split);

/// What one step reads: an input, and the labelled training nodes as nodes of it.
struct Batch {
  nn::GraphInput<float> input;
  std::vector<graph::NodeId> nodes;
  std::vector<int32_t> labels;  ///< one per node of `nodes`
};

/// The batches of a training in cells (Cluster-GCN, Chiang et al. 2019): the union of some random
/// cells, with the edges and messages among its nodes.
///
/// Steps go through all cells in a random order, then in another one. The last step of such a round
/// may have fewer cells. Where none of a step's cells has a labelled training node, a random cell
/// that has one takes the place of the first. A batch is a function of (seed, split, step).
class CellBatches {
 public:
  /// `labels`: that of every labelled training node, -1 elsewhere. Needs: one such node, and cells.
  CellBatches(const SplitTask& task, std::vector<int32_t> labels);

  /// The cells of a step, which counts from 1, in increasing order.
  std::vector<int64_t> cells_of(int64_t step) const;
  /// The batch of a step.
  Batch batch(int64_t step) const;

 private:
  const nn::GraphInput<float>& input_;
  std::vector<int32_t> labels_;
  std::vector<bool> labelled_;  // by cell
  std::vector<int64_t> labelled_cells_;
  int64_t per_step_;
  uint64_t seed_;
};

}  // namespace dgat::train
