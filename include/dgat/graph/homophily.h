#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/graph/csr_graph.h"

namespace dgat::graph {

struct HomophilyOptions {
  /// Leave nodes without neighbours out of `node`. Off: they count as 0, as in the paper's table.
  bool skip_isolated = false;
};

/// How alike neighbours are, measured in every way the literature uses. Notation: z_i is the class
/// of node i, n_c the nodes of class c, C the classes that have a node, d_i the degree,
/// p(c) = sum of d_i over class c / 2E, p(c1,c2) = arcs between c1 and c2 / 2E.
///
/// A measure that would divide zero by zero (no edges, a single class) is NaN.
struct Homophily {
  double node = 0;    ///< mean over nodes of the share of neighbours of the own class
  double edge = 0;    ///< share of edges that join equal classes
  double class_ = 0;  ///< 1/(C-1) sum_c max(0, h_c - n_c/N), h_c = edge homophily seen from c
  double adjusted_edge = 0;  ///< (edge - sum_c p(c)^2) / (1 - sum_c p(c)^2), can be negative
  /// I(z,z')/H(z) for the two ends of a uniform edge: 2 - sum p(c1,c2) log p(c1,c2) / sum p log p.
  double label_informativeness = 0;
  /// The same ratio for a uniform node that has a neighbour, and a uniform neighbour of it.
  double node_label_informativeness = 0;
  double aggregation = 0;      ///< max(0, 2 aggregation_raw - 1), the form in the paper's table
  double aggregation_raw = 0;  ///< share of nodes at least as similar to their own class, see below

  int64_t labelled_nodes = 0;         ///< nodes of the measured graph
  int64_t labelled_edges = 0;         ///< edges of the measured graph
  std::vector<int64_t> class_counts;  ///< n_c, one per class
  /// Row-major classes x classes: compatibility[c1 * classes + c2] = probability that a random
  /// neighbour-end seen from class c1 has class c2. Rows sum to 1; rows of classes without edges
  /// are zero.
  std::vector<double> compatibility;
};

inline constexpr int kMaxHomophilyClasses = 4096;

/// All measures on the undirected simple graph of the labelled nodes. Nodes with label -1 and their
/// edges are left out. A directed graph is symmetrised first.
///
/// Aggregation, with X = (A + I) Z: for every node i it compares the mean of X_i.X_j over the
/// class of i (i itself included) with the mean over all other nodes. It needs only the class
/// sums M_c = sum of X_j over class c, no N x N similarities. The sums are integers and the
/// comparison is exact, so ties count as the formula says. With a single class every node
/// counts.
///
/// Cost:   O(E + N + C^2); same bits at every thread count.
/// Throws: InputError when the number of labels is not the number of nodes, a label is outside
///         [-1, classes) or there are more than kMaxHomophilyClasses classes.
Homophily measure_homophily(const CsrGraph& graph, std::span<const int32_t> labels, int classes,
                            const HomophilyOptions& options = {});

}  // namespace dgat::graph
