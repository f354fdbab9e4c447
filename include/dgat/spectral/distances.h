#pragma once

#include <vector>

#include "dgat/graph/csr_graph.h"
#include "dgat/spectral/node_vectors.h"

namespace dgat::spectral {

/// d_s(i,j) = sqrt(sum over c of (phi_c(i) - phi_c(j))^2): |phi_i - phi_j| for one vector. The
/// same bits for (i,j) and (j,i).
double spectral_distance(const NodeVectors& phi, graph::NodeId i, graph::NodeId j);

/// d_s of every edge, in the order of CsrGraph::edge_list().
std::vector<double> edge_distances(const graph::CsrGraph& graph, const NodeVectors& phi);

}  // namespace dgat::spectral
