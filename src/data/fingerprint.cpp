#include "dgat/data/fingerprint.h"

#include <fmt/format.h>

#include "dgat/data/sha256.h"

namespace dgat::data {

std::string fingerprint(const Dataset& dataset) {
  Sha256 hash;
  hash.update(
      fmt::format("{} {} {} ", dataset.graph.directed(), dataset.classes, dataset.features.cols()));
  hash.update_list(dataset.graph.offsets());
  hash.update_list(dataset.graph.targets());
  if (dataset.graph.weighted()) hash.update_list(dataset.graph.weights());
  hash.update_list(std::span<const int32_t>(dataset.labels));
  hash.update_list(dataset.features.values());
  hash.update_list(dataset.features.offsets());
  hash.update_list(dataset.features.columns());
  return hash.finish();
}

std::string fingerprint(const Split& split) {
  Sha256 hash;
  for (const auto* part : {&split.train, &split.val, &split.test}) {
    hash.update_list(std::span<const graph::NodeId>(*part));
  }
  return hash.finish();
}

}  // namespace dgat::data
