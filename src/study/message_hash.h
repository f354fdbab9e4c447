#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "dgat/core/random.h"
#include "dgat/rewire/edge_features.h"

namespace dgat::study {

/// 128 bits of what a network is given of a graph: rows, senders, directions. Equal inputs are
/// tried once.
using MessageHash = std::array<uint64_t, 2>;

inline MessageHash hash_messages(const rewire::MessageGraph& messages) {
  MessageHash hash = {static_cast<uint64_t>(messages.nodes()),
                      static_cast<uint64_t>(messages.feature_count)};
  const auto mix = [&hash](uint64_t word) {
    const Philox::Block block = Philox(hash[0], hash[1])(word);
    hash = {(uint64_t{block[0]} << 32) | block[1], (uint64_t{block[2]} << 32) | block[3]};
  };
  for (const int64_t offset : messages.offsets) mix(static_cast<uint64_t>(offset));
  for (const int32_t sender : messages.senders) mix(static_cast<uint64_t>(sender));
  for (const float feature : messages.features) mix(std::bit_cast<uint32_t>(feature));
  return hash;
}

}  // namespace dgat::study
