#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "dgat/data/features.h"
#include "dgat/graph/csr_graph.h"
#include "dgat/rewire/edge_features.h"
#include "dgat/tensor/matrix.h"

namespace dgat::study {

using Rows = tensor::Matrix<float>;

/// Node features in at most `width` columns, centred and scaled to rows of mean square 1. Of wide
/// ones the leading principal directions are kept, found by subspace iteration (Halko et al. 2011)
/// on a sample of the rows; only their span matters here, so they are not sorted.
///
/// Cost: O(rows * columns * width), once per data set. The same bits at every thread count.
Rows reduce_features(const data::Features& features, int64_t width, uint64_t seed);

/// Two small networks with random weights that run on a candidate graph; what they compute is what
/// a trained network of that shape has to work with. With r(x) = ReLU(W x + b), W and b standard
/// normal, mean = the mean over N(i) + {i}, and directed_a,b = the average with the weights
/// softmax(a B_av + b B_dx) that attention would have if it read the edge features alone:
///
///   one layer   mean of r(x_j)
///   two layers  mean of r([mean x | directed x in four directions, a or b = 3 or -3])
///
/// Weights of attention are never negative. That matters: read-outs of the signed sums B_dx X,
/// which tell a node from its neighbours by subtraction, do not predict trained networks at all
/// (docs/advise.md). `own` adds [x | r(x)] of the node: a network with residuals or a -sep form
/// keeps it.
class Probes {
 public:
  static constexpr int64_t kUnits = 64;

  /// `features` as reduce_features() makes them.
  Probes(Rows features, bool own, uint64_t seed);

  /// Rows of both networks for the nodes asked for, blocks of mean square 1. Messages without
  /// features leave the directed averages out.
  /// Needs: messages with the features of at most one eigenvector.
  /// Cost:  O(arcs * columns + nodes * columns * kUnits).
  std::vector<Rows> run(const rewire::MessageGraph& messages,
                        std::span<const graph::NodeId> nodes) const;

 private:
  Rows read_out(const rewire::MessageGraph& messages, const Rows& hidden,
                std::span<const graph::NodeId> nodes) const;

  Rows features_, hidden_;
  Rows weights_, bias_;  // of the second layer's r, for five blocks
  bool own_;
};

}  // namespace dgat::study
