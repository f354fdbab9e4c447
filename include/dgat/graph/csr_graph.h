#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace dgat::graph {

using NodeId = int32_t;    ///< a node, 0-based
using ArcIndex = int64_t;  ///< a position in the arc array

struct Edge {
  NodeId from = 0;
  NodeId to = 0;
  friend bool operator==(const Edge&, const Edge&) = default;
};

/// An immutable graph in compressed sparse rows. Row i is the receiver; its columns, in increasing
/// order, are the senders N(i). An undirected graph holds both directions of every edge. Arcs may
/// carry positive weights; without them every weight is 1.
class CsrGraph {
 public:
  CsrGraph() = default;
  /// Takes finished arrays. offsets has nodes+1 entries. Every row is sorted, without repeats and
  /// self loops (build_graph makes them so). Weights are empty, or positive and finite, one per
  /// arc. Throws InternalError otherwise.
  CsrGraph(std::vector<ArcIndex> offsets, std::vector<NodeId> targets, bool directed,
           std::vector<float> weights = {});

  NodeId nodes() const { return static_cast<NodeId>(offsets_.size()) - 1; }
  ArcIndex arcs() const { return static_cast<ArcIndex>(targets_.size()); }
  /// Undirected edges, or arcs of a directed graph.
  int64_t edges() const { return directed_ ? arcs() : arcs() / 2; }
  bool directed() const { return directed_; }

  int64_t degree(NodeId i) const { return end(i) - begin(i); }
  ArcIndex begin(NodeId i) const { return offsets_[static_cast<size_t>(i)]; }
  ArcIndex end(NodeId i) const { return offsets_[static_cast<size_t>(i) + 1]; }
  std::span<const NodeId> neighbors(NodeId i) const {
    return std::span(targets_).subspan(static_cast<size_t>(begin(i)),
                                       static_cast<size_t>(degree(i)));
  }
  bool has_arc(NodeId receiver, NodeId sender) const;  ///< O(log degree)

  bool weighted() const { return !weights_.empty(); }
  /// One per arc, in the order of targets(); empty when the graph is not weighted.
  std::span<const float> weights() const { return weights_; }
  double weight(ArcIndex e) const {
    return weights_.empty() ? 1.0 : double{weights_[static_cast<size_t>(e)]};
  }
  /// D_ii: the sum of the weights of row i, which is degree(i) when the graph is not weighted.
  double strength(NodeId i) const {
    return strengths_.empty() ? static_cast<double>(degree(i)) : strengths_[static_cast<size_t>(i)];
  }

  std::span<const ArcIndex> offsets() const { return offsets_; }
  std::span<const NodeId> targets() const { return targets_; }

  /// Every undirected edge once (from < to), or every arc of a directed graph, in row order.
  std::vector<Edge> edge_list() const;
  /// The weights of edge_list(); empty when the graph is not weighted.
  std::vector<float> edge_weights() const;

  friend bool operator==(const CsrGraph&, const CsrGraph&) = default;

 private:
  std::vector<ArcIndex> offsets_ = {0};
  std::vector<NodeId> targets_;
  std::vector<float> weights_;     // empty: all 1
  std::vector<double> strengths_;  // empty: the degrees
  bool directed_ = false;
};

}  // namespace dgat::graph
