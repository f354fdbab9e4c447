#include "dgat/spectral/distances.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "support/tiny_graphs.h"

namespace dgat::spectral {

using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

TEST(SpectralDistance, OfOneVectorIsTheDifference) {
  const std::vector<double> phi{0.25, -1, 2};
  EXPECT_EQ(spectral_distance(NodeVectors(phi), 0, 1), 1.25);
  EXPECT_EQ(spectral_distance(NodeVectors(phi), 1, 2), 3);
  EXPECT_EQ(spectral_distance(NodeVectors(phi), 2, 2), 0);
}

TEST(SpectralDistance, OfSeveralVectorsIsEuclidean) {
  const std::vector<double> phi{0, 3, /*second*/ 0, 4, /*third*/ 0, 12};
  EXPECT_DOUBLE_EQ(spectral_distance(NodeVectors(phi, 2, 2), 0, 1), 5);
  EXPECT_DOUBLE_EQ(spectral_distance(NodeVectors(phi, 2, 3), 0, 1), 13);
}

TEST(SpectralDistance, IsSymmetricToTheBit) {
  Random random(1);
  std::vector<double> phi(3 * 50);
  for (double& v : phi) v = random.normal();
  const NodeVectors view(phi, 50, 3);
  for (NodeId i = 0; i < 50; ++i) {
    for (NodeId j = 0; j < 50; ++j) {
      EXPECT_EQ(spectral_distance(view, i, j), spectral_distance(view, j, i));
    }
  }
}

TEST(EdgeDistances, FollowTheEdgeList) {
  Random random(2);
  std::vector<double> phi(60);
  for (double& v : phi) v = random.normal();
  const CsrGraph undirected = test::random_graph(60, 0.1, 3);
  const CsrGraph directed =
      graph::build_graph(60, undirected.edge_list(), {.directed = true}).graph;
  for (const CsrGraph* graph : {&undirected, &directed}) {
    const auto edges = graph->edge_list();
    const auto distances = edge_distances(*graph, NodeVectors(phi));
    ASSERT_EQ(distances.size(), edges.size());
    for (size_t e = 0; e < edges.size(); ++e) {
      EXPECT_EQ(distances[e], std::abs(phi[static_cast<size_t>(edges[e].from)] -
                                       phi[static_cast<size_t>(edges[e].to)]));
    }
  }
  EXPECT_TRUE(edge_distances(CsrGraph(), NodeVectors({}, 0, 1)).empty());
}

}  // namespace dgat::spectral
