#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/rewire/options.h"
#include "dgat/spectral/node_vectors.h"

namespace dgat::rewire {

/// What a rewiring did. An edge that pruning drops and `add` or `hub` brings back counts in both
/// figures, so edges_before - dropped + added = edges_after.
struct RewireReport {
  Mode mode;           ///< what ran: never automatic
  double epsilon = 0;  ///< the threshold in use, quantiles resolved; 0 without pruning
  int64_t edges_before = 0, dropped = 0, added = 0, edges_after = 0;
  int64_t isolated_before = 0, isolated_after = 0;  ///< nodes with no neighbour
  int64_t components_before = 0, components_after = 0;
  /// edge_homophily() of the two graphs.
  double homophily_before = 0, homophily_after = 0;
};

struct RewireResult {
  graph::CsrGraph graph;
  RewireReport report;
};

/// Rewires a graph along the eigenvectors phi of its Laplacian, by the spectral distance
/// d_s(i,j) = ||phi(i) - phi(j)||_2 over the vectors given.
///
///   prune-near  drops edges with d_s < epsilon,   prune-far  drops edges with d_s > epsilon
///   add         m = argmin phi, n = argmax phi (smallest index on a tie), mid = (phi_m + phi_n)/2:
///               nodes with phi < mid are joined to n, nodes with phi > mid to m, nodes at mid to
///               none; inside each component when options.per_component
///   hub         joins every node to argmax phi (smallest index on a tie); inside each component
///               when options.per_component
///   auto        resolve_mode() first
///
/// Joining uses the first vector and never makes self loops or duplicates; pruning uses all.
/// `training_labels` has one label per node, -1 for every node that is not a training node
/// (training_labels()). So no validation or test label can be read here.
///
/// Cost:   O(N + E) (a quantile is selected, not sorted); rows of N/2 entries are fast, too.
///         Parallel; the same graph at every thread count.
/// Throws: InputError for a directed graph, and for `auto` as resolve_mode().
RewireResult rewire(const graph::CsrGraph& graph, const spectral::NodeVectors& phi,
                    const RewireOptions& options, std::span<const int32_t> training_labels);

/// Share of equal labels over the edges whose both ends are labelled; NaN without such edges.
double edge_homophily(const graph::CsrGraph& graph, std::span<const int32_t> training_labels);

/// What `auto` means on this graph: prune-near when the adjusted homophily of the edges between
/// training nodes is at least kHomophilous, otherwise prune-far+add. Other modes are returned as
/// they are.
///
/// Throws: InputError for an advised mode, and when no edge joins two training nodes, or all such
/// edges lie in one class.
Mode resolve_mode(const Mode& mode, const graph::CsrGraph& graph,
                  std::span<const int32_t> training_labels);

/// Adjusted homophily is 0 when labels are independent of the edges and 1 when all edges join equal
/// labels. 0.5 separates the known data sets: homophilic ones have 0.67 and more, others 0.14 and
/// less.
inline constexpr double kHomophilous = 0.5;

/// The labels with -1 on every node outside `training_nodes`.
std::vector<int32_t> training_labels(std::span<const int32_t> labels,
                                     std::span<const graph::NodeId> training_nodes);

}  // namespace dgat::rewire
