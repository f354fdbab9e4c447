#pragma once

#include <cstdint>
#include <span>

namespace dgat::spectral {

/// A view of `count` functions on the nodes (eigenvectors), one after the other: entry i of vector
/// c is values[c * nodes + i].
struct NodeVectors {
  std::span<const double> values;
  int64_t nodes = 0;
  int count = 0;

  NodeVectors() = default;
  NodeVectors(std::span<const double> entries, int64_t node_count, int vector_count)
      : values(entries), nodes(node_count), count(vector_count) {}
  /// One vector.
  explicit NodeVectors(std::span<const double> phi)
      : NodeVectors(phi, static_cast<int64_t>(phi.size()), 1) {}

  std::span<const double> vector(int c) const {
    return values.subspan(static_cast<size_t>(c * nodes), static_cast<size_t>(nodes));
  }
  double operator()(int c, int64_t i) const { return values[static_cast<size_t>(c * nodes + i)]; }
};

}  // namespace dgat::spectral
