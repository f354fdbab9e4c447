#include "dgat/data/matrix_market.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

using graph::Edge;
using testing::ElementsAre;

class MatrixMarket : public testing::Test {
 protected:
  Dataset read(const std::string& text, const LoadOptions& options = {}) {
    std::ofstream(dir_ / "g.mtx", std::ios::binary) << text;
    return read_matrix_market(dir_ / "g.mtx", options);
  }
  test::TempDir dir_;
};

TEST_F(MatrixMarket, ReadsEveryFieldAndSymmetry) {
  const std::string entries = "% comment\n\n3 3 2\n2 1";
  EXPECT_THAT(read("%%MatrixMarket matrix coordinate pattern symmetric\n" + entries + "\n3 2\n")
                  .graph.edge_list(),
              ElementsAre(Edge{0, 1}, Edge{1, 2}));
  EXPECT_THAT(read("%%matrixmarket MATRIX Coordinate Real General\n" + entries + " 0.5\n3\t2 1e3\n")
                  .graph.edge_weights(),
              ElementsAre(0.5F, 1000.0F));
  // An explicit zero is no edge.
  EXPECT_THAT(read("%%MatrixMarket matrix coordinate integer general\r\n" + entries + " 0\n3 2 1\n")
                  .graph.edge_list(),
              ElementsAre(Edge{1, 2}));
}

TEST_F(MatrixMarket, TheTransposedEntryIsNoDuplicateARepeatedOneIs) {
  const std::string banner = "%%MatrixMarket matrix coordinate pattern ";
  const Dataset both = read(banner + "general\n3 3 4\n1 2\n2 1\n2 3\n3 3\n");
  EXPECT_THAT(both.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{1, 2}));
  EXPECT_EQ(both.dropped_duplicates, 0);
  EXPECT_EQ(both.dropped_self_loops, 1);
  EXPECT_EQ(read(banner + "general\n3 3 4\n1 2\n2 1\n2 1\n2 1\n").dropped_duplicates, 2);
  EXPECT_EQ(read(banner + "symmetric\n3 3 2\n1 2\n2 1\n").dropped_duplicates, 1);
}

TEST_F(MatrixMarket, IsAGraphWithoutLabels) {
  const Dataset data = read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n");
  EXPECT_EQ(data.name, "g");
  EXPECT_THAT(data.labels, ElementsAre(-1, -1));
  EXPECT_EQ(data.classes, 0);
  EXPECT_TRUE(data.features.empty());
}

TEST_F(MatrixMarket, DirectedKeepsGeneralArcsAndBothOfSymmetricOnes) {
  const LoadOptions directed{.directed = true};
  const Dataset general =
      read("%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n", directed);
  EXPECT_TRUE(general.graph.has_arc(1, 0));
  EXPECT_FALSE(general.graph.has_arc(0, 1));
  const Dataset symmetric =
      read("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", directed);
  EXPECT_EQ(symmetric.graph.arcs(), 2);
}

TEST_F(MatrixMarket, RefusesWhatIsNoGraph) {
  for (const char* banner :
       {"matrix array real general", "matrix coordinate complex general",
        "matrix coordinate real skew-symmetric", "matrix coordinate real hermitian",
        "vector coordinate real general", "matrix coordinate real"}) {
    EXPECT_THROW(read(std::string("%%MatrixMarket ") + banner + "\n1 1 0\n"), InputError) << banner;
  }
  EXPECT_THROW(read("%%MatrixMarket matrix coordinate pattern general\n2 3 0\n"), InputError);
}

TEST_F(MatrixMarket, WhatIsWrittenReadsBack) {
  for (const char* name : {"a.mtx", "a.mtx.gz"}) {
    Dataset data;
    data.graph = test::random_graph(40, 0.1, 3);
    data.labels.assign(40, -1);
    write_matrix_market(data, dir_ / name);
    const Dataset back = read_matrix_market(dir_ / name);
    EXPECT_EQ(back.graph, data.graph);
    EXPECT_EQ(back.name, "a");
  }
  Dataset arcs;
  arcs.graph =
      graph::build_graph(3, std::vector<Edge>{{0, 1}, {1, 0}, {2, 1}}, {.directed = true}).graph;
  arcs.labels.assign(3, -1);
  write_matrix_market(arcs, dir_ / "d.mtx");
  EXPECT_EQ(read_matrix_market(dir_ / "d.mtx", {.directed = true}).graph, arcs.graph);
}

}  // namespace
}  // namespace dgat::data
