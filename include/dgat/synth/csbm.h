#pragma once

#include "dgat/data/dataset.h"
#include "dgat/data/splits.h"

namespace dgat::synth {

/// Contextual stochastic block model: communities in the edges, clusters in the features.
struct CsbmOptions {
  graph::NodeId nodes = 1000;
  int classes = 2;         ///< class sizes differ by one at the most
  double degree = 10;      ///< expected mean degree
  double homophily = 0.5;  ///< expected share of edges inside classes, in [0, 1]
  int features = 16;       ///< columns, at least `classes`
  double signal = 1;  ///< distance of every class centre from the origin; noise has deviation 1
  data::SplitFractions split = {};
  int splits = 10;  ///< how many; 0 for none
  uint64_t seed = 0;
};

/// Every pair of nodes is an edge independently, with one probability inside classes and one
/// between them. The expected number of edges is nodes * degree / 2, a share `homophily` of it
/// inside. Features: x_i = signal * e_(class of i) + standard normal noise. Any two centres are
/// signal * sqrt(2) apart. With two classes, the best guess from features has accuracy Phi(signal /
/// sqrt(2)).
///
/// Cost:   O(nodes * features + edges): pairs that are no edge are skipped, not visited.
/// Throws: InputError when an option is out of range or no probability gives that degree.
data::Dataset csbm(const CsbmOptions& options);

}  // namespace dgat::synth
