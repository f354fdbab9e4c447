#pragma once

#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

namespace dgat::synth {

/// Communities that only φ shows, roles that only features show; a class is one of each.
struct WorldsOptions {
  graph::NodeId nodes = 1000;
  int worlds = 2;           ///< communities in a chain; class sizes differ by one at the most
  double degree = 8;        ///< mean degree, exact up to rounding
  double crossing = 0.03;   ///< probability that an edge leads to a neighbouring community
  double homophily = 0.05;  ///< probability that an edge joins equal roles
  int features = 8;         ///< columns
  double noise = 1;         ///< deviation of every feature
  data::SplitFractions split{.train = 0.03, .val = 0.17, .test = 0.8};
  int splits = 10;  ///< how many; 0 for none
  uint64_t seed = 0;
};

/// A graph that shows what directions are for. The class of a node is 2 * community + role.
///
/// One node after the other draws a partner until there are nodes * degree / 2 different edges.
/// The partner is in the same community, or with probability `crossing` in the next or previous one
/// of the chain. The ends of the chain have one neighbour; with one community no edge crosses. It
/// has the opposite role, or with probability `homophily` the same one. So an edge joins equal
/// classes with probability homophily * (1 - crossing). Taking turns gives every node at least
/// about degree / 2 edges, hence a connected graph at the usual degrees, where crossing > 0.
///
/// Features: noise * standard normal, and in column 0 plus 1 for role 1, minus 1 for role 0. They
/// say nothing about the community.
///
/// Cost:   O(nodes * features + edges * log(edges)).
/// Throws: InputError when an option is out of range, or when a role of a community has fewer than
///         2 * degree + 1 nodes: equal draws would become too frequent.
data::Dataset worlds(const WorldsOptions& options);

}  // namespace dgat::synth
