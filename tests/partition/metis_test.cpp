#include "dgat/partition/metis.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"

namespace dgat::partition {
namespace {
using graph::Cells;
using graph::CsrGraph;
using graph::Edge;
using graph::NodeId;

/// A board of height x width squares with the four neighbours.
CsrGraph board(int height, int width) {
  std::vector<Edge> edges;
  for (int i = 0; i < height; ++i) {
    for (int j = 0; j < width; ++j) {
      if (j + 1 < width) edges.push_back({i * width + j, i * width + j + 1});
      if (i + 1 < height) edges.push_back({i * width + j, (i + 1) * width + j});
    }
  }
  return graph::build_graph(height * width, edges).graph;
}

/// Every node once, in increasing order within its cell.
void expect_division(const Cells& cells, NodeId nodes) {
  std::vector<NodeId> all = cells.nodes;
  std::ranges::sort(all);
  std::vector<NodeId> expected(static_cast<size_t>(nodes));
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(all, expected);
  for (int64_t c = 0; c < cells.count(); ++c) {
    EXPECT_TRUE(std::ranges::is_sorted(cells.cell(c))) << c;
  }
}

TEST(MetisCells, DivideTheNodesEvenlyAndCutFewEdges) {
  const CsrGraph graph = board(40, 50);
  const Cells cells = metis_cells(graph, 8);
  ASSERT_EQ(cells.count(), 8);
  expect_division(cells, graph.nodes());
  const graph::Cut cut = graph::cut_of(graph, cells);
  EXPECT_LE(cut.largest_cell, 2000 / 8 * 1.1);
  EXPECT_LT(cut.edges, graph.edges() / 10);  // cells of 250 squares have about 64 sides: 8 * 64 / 2
  EXPECT_GT(cut.edges, 0);
}

TEST(MetisCells, AreTheSameAtEveryThreadCountAndInEveryRun) {
  const CsrGraph graph = board(30, 31);
  const Cells first = metis_cells(graph, 7);
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    EXPECT_EQ(metis_cells(graph, 7), first) << threads;
  }
}

TEST(MetisCells, FollowTheCommunitiesOfAGraph) {
  std::vector<Edge> edges;  // two complete graphs, joined by one edge
  for (NodeId i = 0; i < 10; ++i) {
    for (NodeId j = 0; j < i; ++j) {
      edges.push_back({i, j});
      edges.push_back({10 + i, 10 + j});
    }
  }
  edges.push_back({3, 14});
  const CsrGraph graph = graph::build_graph(20, edges).graph;
  const Cells cells = metis_cells(graph, 2);
  const graph::Cut cut = graph::cut_of(graph, cells);
  EXPECT_EQ(cut.edges, 1);
  EXPECT_EQ(cut.halo, 2);
  EXPECT_EQ(cut.largest_cell, 10);
}

TEST(MetisCells, OneCellHasAllNodesAndManyMayBeEmpty) {
  const CsrGraph graph = board(5, 5);
  EXPECT_EQ(metis_cells(graph, 1).cell(0).size(), 25U);
  const Cells many = metis_cells(graph, 25);
  EXPECT_EQ(many.count(), 25);
  expect_division(many, 25);
}

TEST(MetisCells, CutGraphsWithoutEdgesAndDirectedOnes) {
  const CsrGraph none = graph::build_graph(10, std::vector<Edge>{}).graph;
  const Cells apart = metis_cells(none, 3);
  expect_division(apart, 10);
  EXPECT_LE(graph::cut_of(none, apart).largest_cell, 4);
  std::vector<Edge> ring;
  for (NodeId i = 0; i < 60; ++i) ring.push_back({i, (i + 1) % 60});
  const CsrGraph directed = graph::build_graph(60, ring, {.directed = true}).graph;
  EXPECT_EQ(metis_cells(directed, 4), metis_cells(graph::symmetrised(directed), 4));
}

TEST(MetisCells, RefuseANumberOutsideTheNodes) {
  const CsrGraph graph = board(2, 2);
  EXPECT_THROW(metis_cells(graph, 0), InputError);
  EXPECT_THROW(metis_cells(graph, 5), InputError);
}

TEST(Cells, CountTheEdgesBetweenThem) {
  const CsrGraph path = graph::build_graph(4, std::vector<Edge>{{0, 1}, {1, 2}, {2, 3}}).graph;
  const std::vector<int32_t> cell_of = {0, 1, 1, 0};
  const Cells cells = graph::cells_of(cell_of, 2);
  EXPECT_EQ(cells.nodes, (std::vector<NodeId>{0, 3, 1, 2}));
  const graph::Cut cut = graph::cut_of(path, cells);
  EXPECT_EQ(cut.edges, 2);
  EXPECT_EQ(cut.halo, 4);  // cell 0 reads 1 and 2, cell 1 reads 0 and 3
}

}  // namespace
}  // namespace dgat::partition
