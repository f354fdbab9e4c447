#include "cell_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "dgat/core/error.h"
#include "dgat/core/random.h"

namespace dgat::train {
namespace {
constexpr uint64_t kOrder = 0x43454C4C, kInstead = 0x494E5354;  // streams of random numbers
}  // namespace

uint64_t split_seed(uint64_t seed, int64_t split) {
  const Philox::Block words = Philox(seed, 0x53504C4954)(static_cast<uint64_t>(split));
  return (uint64_t{words[0]} << 32) | words[1];
}

CellBatches::CellBatches(const SplitTask& task, std::vector<int32_t> labels)
    : input_(task.input),
      labels_(std::move(labels)),
      per_step_(std::min(task.config.per_step, task.input.cells->count())),
      seed_(split_seed(task.config.seed, task.split)) {
  const graph::Cells& cells = *input_.cells;
  for (int64_t c = 0; c < cells.count(); ++c) {
    labelled_.push_back(std::ranges::any_of(
        cells.cell(c), [&](graph::NodeId i) { return labels_[static_cast<size_t>(i)] >= 0; }));
    if (labelled_.back()) labelled_cells_.push_back(c);
  }
  expects(!labelled_cells_.empty(), "CellBatches: a training node has a label");
}

std::vector<int64_t> CellBatches::cells_of(int64_t step) const {
  const int64_t count = input_.cells->count(), steps = (count + per_step_ - 1) / per_step_;
  const int64_t round = (step - 1) / steps, first = (step - 1) % steps * per_step_;
  std::vector<int64_t> order(static_cast<size_t>(count));
  std::iota(order.begin(), order.end(), int64_t{0});
  Random(seed_ + static_cast<uint64_t>(round), kOrder).shuffle(order);
  std::vector<int64_t> chosen(order.begin() + first,
                              order.begin() + std::min(first + per_step_, count));
  if (std::ranges::none_of(chosen, [&](int64_t c) { return labelled_[static_cast<size_t>(c)]; })) {
    Random random(seed_ + static_cast<uint64_t>(step), kInstead);
    chosen.front() = labelled_cells_[random.below(labelled_cells_.size())];
  }
  std::ranges::sort(chosen);
  return chosen;
}

Batch CellBatches::batch(int64_t step) const {
  std::vector<graph::NodeId> nodes;
  for (const int64_t c : cells_of(step)) {
    const auto cell = input_.cells->cell(c);
    nodes.insert(nodes.end(), cell.begin(), cell.end());
  }
  std::ranges::sort(nodes);
  Batch batch{nn::induced_input(input_, nodes), {}, {}};
  for (size_t k = 0; k < nodes.size(); ++k) {
    const int32_t label = labels_[static_cast<size_t>(nodes[k])];
    if (label < 0) continue;
    batch.nodes.push_back(static_cast<graph::NodeId>(k));
    batch.labels.push_back(label);
  }
  return batch;
}

}  // namespace dgat::train
