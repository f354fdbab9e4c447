#pragma once

#include <cstdint>

#include "dgat/core/random.h"
#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

/// Private to synth: what the generators share.
namespace dgat::synth {

/// Which random numbers serve which purpose. A purpose owns 2^48 streams, one per node where a
/// loop runs in parallel.
enum class Purpose : uint64_t { kLabels = 1, kEdges, kFeatures, kUnknown };

inline Random random_for(uint64_t seed, Purpose purpose, uint64_t item = 0) {
  return Random(seed, (static_cast<uint64_t>(purpose) << 48) | item);
}

/// Stratified random splits as the options of any generator ask for them.
template <class Options>
void add_splits(data::Dataset& set, const Options& options) {
  if (options.splits == 0) return;
  set.splits =
      data::random_splits(set.labels, set.classes, options.split, options.splits, options.seed);
}

}  // namespace dgat::synth
