#include "dgat/train/all_logits.h"

#include <algorithm>
#include <utility>

namespace dgat::train {
namespace {

std::vector<std::vector<int32_t>> parts_of(const graph::Cells& cells, int64_t at_a_time) {
  std::vector<std::vector<int32_t>> parts;
  for (int64_t first = 0; first < cells.count(); first += at_a_time) {
    const int64_t last = std::min(first + at_a_time, cells.count());
    std::vector<int32_t> nodes(cells.nodes.begin() + cells.offsets[static_cast<size_t>(first)],
                               cells.nodes.begin() + cells.offsets[static_cast<size_t>(last)]);
    std::ranges::sort(nodes);
    if (!nodes.empty()) parts.push_back(std::move(nodes));
  }
  return parts;
}

}  // namespace

tensor::Var<float> all_logits(tensor::Tape<float>& tape, nn::Model<float>& model,
                              const nn::GraphInput<float>& input, const Config& config) {
  if (!input.cells) return model.forward(tape, input);
  const int64_t at_a_time = std::max<int64_t>(1, config.per_step);
  return tape.constant(model.forward_by_parts(tape, input, parts_of(*input.cells, at_a_time)));
}

}  // namespace dgat::train
