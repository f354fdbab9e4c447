#pragma once

#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

namespace dgat::synth {

/// Growing graphs with a chosen homophily (the MixHop generator, after Karimi et al. 2018).
struct MixhopOptions {
  double mu = 0.5;                  ///< homophily coefficient in [0, 1]
  graph::NodeId nodes = 5000;       ///< total, start included
  int classes = 10;                 ///< at least 2; class sizes differ by one at the most
  int edges_per_node = 6;           ///< edges of a new node
  graph::NodeId start = 40;         ///< nodes before the growth begins, at least one of every class
  data::SplitFractions split = {};  ///< stratified random splits
  int splits = 10;                  ///< how many; 0 for none
  uint64_t seed = 0;
};

/// Nodes arrive one by one. A new node i draws its neighbours without replacement among the nodes
/// that are there, with probability proportional to
///
///   d_j * mu                          when j has the class of i,
///   d_j * (1 - mu) * w[dist(z_i,z_j)] otherwise,
///
/// where dist is the distance on the circle of classes and w halves with every step, normalised
/// to sum 1 over the other classes. Classes being equal in degree, the edge homophily of the
/// result is close to mu, and degrees have the tail of preferential attachment, k^-3.
///
/// The paper's description leaves some choices open. Ours: The start nodes form a path, on which
/// the classes take turns, so that they have degrees. mu = 0 gives edge homophily exactly 0. With
/// mu = 1 only the start - 1 edges of the path join classes. While fewer than `edges_per_node`
/// nodes have positive probability (mu = 1, early on), a node takes them all.
///
/// Features: class k has a 2-d Gaussian around (300 sin t, 300 cos t), t = 2 pi k / classes, with
/// variance 70*350 along the circle and 20*350 across it.
///
/// Cost:   O(nodes * (edges_per_node + classes)); about 2 s and 0.3 GB for a million nodes.
/// Throws: InputError when an option is out of range.
data::Dataset mixhop(const MixhopOptions& options);

}  // namespace dgat::synth
