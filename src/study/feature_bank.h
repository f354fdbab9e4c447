#pragma once

#include <cstdint>
#include <span>

#include "dgat/data/features.h"
#include "dgat/graph/csr_graph.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/tensor/matrix.h"

namespace dgat::study {

using Rows = tensor::Matrix<float>;

/// Node features in at most `width` columns. Narrow ones are taken as they are; of wide ones the
/// leading principal directions are kept, found by subspace iteration (Halko et al. 2011) on a
/// sample of the rows. Only the span matters to a ridge regression, so axes are not sorted.
///
/// Cost: O(rows * columns * width), once per data set. The same bits at every thread count.
Rows reduce_features(const data::Features& features, int64_t width, uint64_t seed);

/// Which aggregations of the features a linear classifier gets to see.
struct BankOptions {
  bool own = true;  ///< the node's own features: the network has residuals or a -sep form
  bool second_hop = true;
};

/// What one directional layer can make of the features, without its weights. Softmax attention
/// that listens to the edge features f = [B_av, B_dx] alone is, to first order, the mean over
/// N(i) + {i} plus multiples of B_av X and B_dx X; so the bank of node i is
///   [ x_i | mean x_j | sum_j B_av(i,j) x_j | sum_j B_dx(i,j) x_j | mean of the means ]
/// with every block centred over the nodes asked for and scaled to rows of mean square 1.
///
/// Messages without features leave the two directional blocks out.
///
/// Needs:  messages with the features of at most one eigenvector; one row of `features` per node.
/// Cost:   O(arcs * columns).
Rows feature_bank(const rewire::MessageGraph& messages, const Rows& features,
                  std::span<const graph::NodeId> nodes, const BankOptions& options);

}  // namespace dgat::study
