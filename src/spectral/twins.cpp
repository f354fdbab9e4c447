#include "twins.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

/// Eigenvalues closer than this (relatively) may share an eigenspace: their entries stay.
constexpr double kApart = 1e-3;

uint64_t scramble(uint64_t x) {  // the finaliser of splitmix64
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// N(i) = N(j) up to i and j themselves, with equal weights.
bool are_twins(const CsrGraph& graph, NodeId i, NodeId j) {
  const auto a = graph.neighbors(i), b = graph.neighbors(j);
  const auto weight = [&](NodeId row, std::ptrdiff_t at) {
    return graph.weight(graph.begin(row) + at);
  };
  if (a.size() != b.size()) return false;
  auto x = a.begin();
  auto y = b.begin();
  while (true) {
    if (x != a.end() && *x == j) ++x;
    if (y != b.end() && *y == i) ++y;
    if (x == a.end() || y == b.end()) return x == a.end() && y == b.end();
    if (*x != *y || weight(i, x - a.begin()) != weight(j, y - b.begin())) return false;
    ++x;
    ++y;
  }
}

/// Weight of the arc between two nodes, 1 without weights.
double weight_between(const CsrGraph& graph, NodeId i, NodeId j) {
  if (!graph.weighted() || !graph.has_arc(i, j)) return 1;
  const auto row = graph.neighbors(i);
  return graph.weight(graph.begin(i) + (std::ranges::lower_bound(row, j) - row.begin()));
}

/// Nodes sorted by a hash of their neighbours, without or with themselves.
std::vector<std::pair<uint64_t, NodeId>> by_neighbors(const CsrGraph& graph, bool with_self) {
  std::vector<std::pair<uint64_t, NodeId>> keys(static_cast<size_t>(graph.nodes()));
  parallel_for(graph.nodes(), 1 << 12, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const auto i = static_cast<NodeId>(row);
      uint64_t sum = with_self ? scramble(static_cast<uint64_t>(i)) : 0;
      for (const NodeId j : graph.neighbors(i)) sum += scramble(static_cast<uint64_t>(j));
      if (graph.weighted() && !with_self) {
        for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
          const auto j = static_cast<uint64_t>(graph.targets()[static_cast<size_t>(e)]);
          sum +=
              scramble(j << 32 | std::bit_cast<uint32_t>(graph.weights()[static_cast<size_t>(e)]));
        }
      }
      keys[static_cast<size_t>(row)] = {sum, i};
    }
  });
  std::sort(keys.begin(), keys.end());
  return keys;
}

void average(std::span<const NodeId> nodes, std::span<double> x) {
  double sum = 0;
  for (const NodeId i : nodes) sum += x[static_cast<size_t>(i)];
  const double mean = sum / static_cast<double>(nodes.size());
  for (const NodeId i : nodes) x[static_cast<size_t>(i)] = mean;
}

}  // namespace

void equalise_twins(const CsrGraph& graph, double gamma, std::span<const double> eigenvalues,
                    std::span<double> vectors) {
  const auto n = static_cast<size_t>(graph.nodes());
  std::vector<NodeId> twins;
  for (const bool adjacent : {false, true}) {
    const auto keys = by_neighbors(graph, adjacent);
    for (size_t begin = 0, end = 0; begin < n; begin = end) {
      const NodeId first = keys[begin].second;
      twins.assign(1, first);
      for (end = begin + 1; end < n && keys[end].first == keys[begin].first; ++end) {
        if (are_twins(graph, first, keys[end].second)) twins.push_back(keys[end].second);
      }
      if (twins.size() < 2) continue;
      const double degree = graph.strength(first);
      const double factor = gamma == 0 ? 1 : gamma / (gamma * degree + 1 - gamma);
      const double antisymmetric =
          factor * (adjacent ? degree + weight_between(graph, first, twins[1]) : degree);
      for (size_t m = 0; m < eigenvalues.size(); ++m) {
        if (std::abs(eigenvalues[m] - antisymmetric) <= kApart * antisymmetric) continue;
        average(twins, vectors.subspan(m * n, n));
      }
    }
  }
}

}  // namespace dgat::spectral
