#pragma once

#include "dgat/data/dataset.h"
#include "dgat/spectral/cache.h"
#include "dgat/train/config.h"

/// Node features made from the graph, for data sets that have none.
namespace dgat::train {

/// Puts features made from the graph into a data set where `source` asks for them, or `auto` and
/// there are none; a notice says which. `labels` and splits are not looked at.
///
///   degree       log(1 + d_i)
///   phi          the first eight eigenvectors of L(1, 0.3), whatever alpha and gamma the model has
///   clustering   share of the pairs of neighbours of i that are neighbours, 0 below degree 2
///
/// Columns have mean 0 and variance 1; a constant column is 0. onehot is the identity matrix, none
/// a column of ones.
///
/// Cost: an eigen-solve for eight pairs (cached); clustering O(sum over the edges of the smaller
///       degree of their ends, times log degree).
void make_node_features(data::Dataset& dataset, FeatureSource source,
                        spectral::SpectralCache& cache);

/// Local clustering coefficient of every node.
std::vector<double> local_clustering(const graph::CsrGraph& graph);

}  // namespace dgat::train
