#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "packing.h"

namespace dgat::report {
namespace {

/// Weights in [0, 1] as 16 bits of their square root: small weights keep three digits.
std::string packed_weights(const std::vector<float>& weights) {
  std::vector<uint16_t> codes(weights.size());
  std::transform(weights.begin(), weights.end(), codes.begin(), [](float weight) {
    return static_cast<uint16_t>(std::lround(65535 * std::sqrt(std::clamp(weight, 0.0F, 1.0F))));
  });
  return packed("u16:", codes);
}

void check(const Drawing& drawing) {
  const size_t nodes = drawing.id.size();
  const auto fits = [](size_t size, size_t wanted) { return size == 0 || size == wanted; };
  expects(drawing.label.size() == nodes && drawing.degree.size() == nodes,
          "a drawing has a label and a degree for every node");
  expects(fits(drawing.prediction.size(), nodes) && fits(drawing.part.size(), nodes) &&
              fits(drawing.phi.size(), nodes) && fits(drawing.names.size(), nodes),
          "node arrays of a drawing are empty or complete");
  expects(drawing.from.size() == drawing.to.size() && drawing.from.size() == drawing.state.size(),
          "edge arrays of a drawing have equal lengths");
  expects(fits(drawing.offsets.size(), nodes + 1), "arc rows of a drawing cover its nodes");
  expects(!drawing.layouts.empty(), "a drawing has a layout");
  for (const auto& layout : drawing.layouts) {
    expects(layout.x.size() == nodes && layout.y.size() == nodes, "a layout places every node");
  }
  for (const auto& layer : drawing.layers) {
    expects(layer.weights.size() == drawing.senders.size() * static_cast<size_t>(layer.heads),
            "a layer has a weight for every arc and head");
  }
}

}  // namespace

Json to_json(const Drawing& drawing) {
  check(drawing);
  Json layouts = Json::array(), layers = Json::array();
  for (const auto& layout : drawing.layouts) {
    layouts.push_back(
        {{"name", layout.name}, {"x", packed("f32:", layout.x)}, {"y", packed("f32:", layout.y)}});
  }
  for (const auto& layer : drawing.layers) {
    layers.push_back(
        {{"name", layer.name}, {"heads", layer.heads}, {"weights", packed_weights(layer.weights)}});
  }
  return {{"type", "drawing"},
          {"title", drawing.title},
          {"note", drawing.note},
          {"layouts", std::move(layouts)},
          {"id", packed("i32:", drawing.id)},
          {"names", drawing.names},
          {"classNames", drawing.class_names},
          {"label", packed("i32:", drawing.label)},
          {"prediction", packed("i32:", drawing.prediction)},
          {"part", packed_bytes(drawing.part)},
          {"phi", packed("f32:", drawing.phi)},
          {"degree", packed("i32:", drawing.degree)},
          {"from", packed("i32:", drawing.from)},
          {"to", packed("i32:", drawing.to)},
          {"state", packed_bytes(drawing.state)},
          {"offsets", packed("i32:", drawing.offsets)},
          {"senders", packed("i32:", drawing.senders)},
          {"layers", std::move(layers)}};
}

}  // namespace dgat::report
