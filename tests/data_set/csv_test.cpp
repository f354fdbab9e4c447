#include "dgat/data/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/data/text_file.h"
#include "support/same_dataset.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class Csv : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
  }
  Dataset read() { return read_csv(dir_.path()); }
  std::string error() {
    try {
      read();
    } catch (const InputError& e) {
      return std::string(e.what()).substr(dir_.path().string().size() + 1);
    }
    return "no error";
  }
  test::TempDir dir_;
};

TEST_F(Csv, NamesAreKeptAndNumbersFollowTheRows) {
  write("nodes.csv",
        "# people\r\nname,age,class,\"height, cm\"\r\n\"Doe, Jane\",31,red,170.5\r\n"
        "Bob,0,,180\r\n\"the \"\"boss\"\"\",50,blue,0\r\n");
  write("edges.csv",
        "source\ttarget\tweight\nBob\tDoe, Jane\t3\nBob\tthe \"boss\"\t1\nBob\tBob\t1\n");
  const Dataset data = read();
  EXPECT_THAT(data.node_ids, ElementsAre("Doe, Jane", "Bob", "the \"boss\""));
  EXPECT_THAT(data.class_names, ElementsAre("blue", "red"));
  EXPECT_THAT(data.feature_names, ElementsAre("age", "height, cm"));
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0));
  EXPECT_EQ(data.classes, 2);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(31, 170.5F, 0, 180, 50, 0));
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(graph::Edge{0, 1}, graph::Edge{1, 2}));
  EXPECT_EQ(data.dropped_self_loops, 1);
}

TEST_F(Csv, NumbersFromZeroAreNodeNumbersInAnyOrder) {
  write("nodes.csv", "2,7,20\n0,10,1\n1,9,10\n");
  write("edges.csv", "0,2\n");
  const Dataset data = read();
  EXPECT_THAT(data.node_ids, IsEmpty());
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 10, 20));
  // whole numbers sort by value: 7 < 9 < 10
  EXPECT_THAT(data.labels, ElementsAre(2, 1, 0));
  EXPECT_THAT(data.class_names, ElementsAre("7", "9", "10"));
  EXPECT_TRUE(data.graph.has_arc(0, 2));
}

TEST_F(Csv, OtherNumbersAreNames) {
  write("nodes.csv", "id,label\n1,0\n2,1\n3,0\n");
  write("edges.csv", "1,3\n");
  const Dataset data = read();
  EXPECT_THAT(data.node_ids, ElementsAre("1", "2", "3"));
  EXPECT_THAT(data.class_names, IsEmpty());
  EXPECT_TRUE(data.features.empty());
  EXPECT_TRUE(data.graph.has_arc(0, 2));
}

TEST_F(Csv, AHeaderWithoutALabelColumnMeansNoLabels) {
  write("nodes.csv", "id,x,y2\na,1,2\nb,3,4\n");
  write("edges.csv", "a,b\n");
  const Dataset data = read();
  EXPECT_THAT(data.labels, ElementsAre(-1, -1));
  EXPECT_EQ(data.classes, 0);
  EXPECT_EQ(data.features.cols(), 2);
}

TEST_F(Csv, ATextAboveANumberIsAHeader) {
  write("nodes.csv", "paper_id,class,year\np1,a,1999\np2,b,2001\n");
  write("edges.csv", "citing,cited\np1,p2\n");
  const Dataset data = read();
  EXPECT_THAT(data.node_ids, ElementsAre("p1", "p2"));
  EXPECT_THAT(data.class_names, ElementsAre("a", "b"));
  EXPECT_THAT(data.feature_names, ElementsAre("year"));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1999, 2001));
}

TEST_F(Csv, HeaderWordsThatAreNodesAreEdges) {
  write("nodes.csv", "u,0\nv,1\n");
  write("edges.csv", "u,v\n");
  EXPECT_EQ(read().graph.edges(), 1);
}

TEST_F(Csv, EdgesAloneMakeAGraph) {
  write("g.csv", "from,to\n10,9\n9,101\n");
  const Dataset data = read_csv(dir_ / "g.csv");
  EXPECT_EQ(data.name, "g");
  EXPECT_THAT(data.node_ids, ElementsAre("9", "10", "101"));
  EXPECT_TRUE(data.graph.has_arc(0, 1));
  EXPECT_TRUE(data.graph.has_arc(0, 2));
  EXPECT_THAT(data.labels, ElementsAre(-1, -1, -1));
}

TEST_F(Csv, EitherFileNamesThePairAndGzipIsSeenThrough) {
  write("x_nodes.csv", "a,0\nb,1\n");
  TextWriter out(dir_ / "x_edges.tsv.gz");
  out.print("a\tb\n");
  out.commit();
  for (const char* name : {"x_nodes.csv", "x_edges.tsv.gz"}) {
    const Dataset data = read_csv(dir_ / name);
    EXPECT_EQ(data.name, "x");
    EXPECT_EQ(data.graph.edges(), 1);
  }
}

TEST_F(Csv, DirectedKeepsArcs) {
  write("nodes.csv", "a,0\nb,1\n");
  write("edges.csv", "a,b\n");
  const Dataset data = read_csv(dir_.path(), {.directed = true});
  EXPECT_TRUE(data.graph.has_arc(1, 0));  // b receives from a
  EXPECT_FALSE(data.graph.has_arc(0, 1));
}

TEST_F(Csv, ErrorsNameFileAndLine) {
  write("edges.csv", "source,target\na,b\n\na,zz\n");
  write("nodes.csv", "a,0,1\nb,1,2\n");
  EXPECT_EQ(error(),
            "edges.csv:4: node id 'zz' is not in nodes.csv; add it there or drop the edge");
  write("nodes.csv", "person,group,age\na,0,1\n");
  EXPECT_EQ(error(),
            "nodes.csv:1: feature 0 must be a number, got 'age'; if this row is a header, call its "
            "first column id");
  write("nodes.csv", "id,label,age\na,0,1\nb,1,\n");
  EXPECT_EQ(error(), "nodes.csv:3: feature 'age' must be a number, got ''");
}

TEST_F(Csv, RoundTripsEverything) {
  Dataset data;
  data.graph = test::random_graph(30, 0.2, 1);
  for (int i = 0; i < 30; ++i) {
    data.node_ids.push_back("node, \"" + std::to_string(i) + "\"");
    data.labels.push_back(i % 4 - 1);
  }
  data.classes = 3;
  data.class_names = {"a b", "c,d", "e"};
  std::vector<float> values(60);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = i % 7 == 0 ? 0 : 1.0F / static_cast<float>(i);
  data.features = Features::compact(30, 2, values);
  data.feature_names = {"x", "#y"};
  data.splits = {Split{{1, 2}, {3}, {5, 6}}, Split{{5}, {}, {1}}};
  const auto folder = dir_ / "out";
  write_csv(data, folder);
  const Dataset back = read_csv(folder);
  EXPECT_EQ(back.name, "out");
  test::expect_same(back, data);
}

TEST_F(Csv, SparseFeaturesStaySparse) {
  std::string nodes;
  for (int i = 0; i < 50; ++i) {
    nodes += std::to_string(i) + ",0";
    for (int f = 0; f < 40; ++f) nodes += f == i % 40 ? ",2" : ",0";
    nodes += "\n";
  }
  write("nodes.csv", nodes);
  write("edges.csv", "0,1\n");
  const Dataset data = read();
  EXPECT_TRUE(data.features.is_sparse());
  EXPECT_EQ(data.features.nonzeros(), 50);
  EXPECT_EQ(data.features.cols(), 40);
}

}  // namespace
}  // namespace dgat::data
