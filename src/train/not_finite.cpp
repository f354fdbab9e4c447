#include "not_finite.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "dgat/train/diverged.h"

namespace dgat::train {
namespace {

bool all_finite(const nn::NodeFeatures<float>& features) {
  if (!features.is_sparse()) return tensor::all_finite(features.dense());
  const auto& values = features.sparse().csr().values;
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

std::string origin(const SplitTask& task, const nn::Model<float>& model) {
  for (const auto& entry : model.parameters().entries()) {
    if (!tensor::all_finite(entry.parameter.value)) {
      return fmt::format("parameter {} is not finite", entry.parameter.name);
    }
  }
  if (!all_finite(*task.input.features)) return "the node features are not finite";
  return "parameters and features are finite, so the layers overflow";
}

}  // namespace

void throw_not_finite(const SplitTask& task, const nn::Model<float>& model, int64_t step,
                      const std::string& what) {
  throw Diverged(fmt::format(
      "train: the training diverged: split {}, step {}: {}; {}; scale the features, lower --lr "
      "or set --clip",
      task.split, step, what, origin(task, model)));
}

}  // namespace dgat::train
