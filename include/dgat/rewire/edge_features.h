#pragma once

#include <cstdint>
#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/node_vectors.h"

namespace dgat::rewire {

/// The graph that attention runs on, as compressed rows of receivers. The senders of a row are in
/// increasing order, with the receiver itself among them (its self loop). An arc may have
/// directional features. Plain arrays, so that kernels and files take them as they are.
struct MessageGraph {
  std::vector<int64_t> offsets = {0};  ///< nodes + 1
  std::vector<int32_t> senders;        ///< one per arc
  std::vector<float> features;         ///< arcs x feature_count, row by row
  int feature_count = 0;               ///< 2k for k eigenvectors, 0 without directions

  int64_t nodes() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t arcs() const { return static_cast<int64_t>(senders.size()); }
  friend bool operator==(const MessageGraph&, const MessageGraph&) = default;
};

/// The graph with self loops and no features.
MessageGraph message_graph(const graph::CsrGraph& graph);

/// The graph with self loops, and on every arc (i <- j) for each vector phi of the k given
///   g_ij = (phi_j - phi_i) / (sum over the neighbours m of i of |phi_m - phi_i| + 1e-8)
///   B_av = |g_ij|, B_dx = g_ij;   on the self loop  B_av = 0, B_dx = -(sum over j of g_ij)
/// in the order [av_1, dx_1, av_2, dx_2, ...]. Sums run over the rows of this graph (the rewired
/// one) in double; the result is stored in float.
///
/// Cost: O(k E), parallel over rows, the same bits at every thread count.
MessageGraph message_graph(const graph::CsrGraph& graph, const spectral::NodeVectors& phi);

/// The same arcs and features without the self loops: the row of an isolated node is empty.
MessageGraph without_self_loops(const MessageGraph& messages);

}  // namespace dgat::rewire
