#include "dgat/data/edge_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "dgat/data/csv.h"
#include "dgat/data/text_file.h"
#include "support/heard_notices.h"
#include "support/same_dataset.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

using graph::Edge;
using testing::ElementsAre;
using testing::IsEmpty;

class EdgeList : public testing::Test {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::ofstream(dir_ / name, std::ios::binary) << text;
  }
  Dataset load(const std::string& name, const LoadOptions& options = {}) {
    return load_dataset((dir_ / name).string(), options);
  }
  std::string error(const std::string& name) {
    try {
      load(name);
    } catch (const InputError& e) {
      return std::string(e.what()).substr(dir_.path().string().size() + 1);
    }
    return "no error";
  }
  test::TempDir dir_;
};

TEST_F(EdgeList, TakesBlanksTabsCommasAndComments) {
  write("a.txt", "# SNAP\n0 1\n1   2\n");
  write("b.edgelist", "% KONECT\n0\t1\n1\t2\n");
  write("c.edges", "0,1\n1,2\n");
  for (const char* name : {"a.txt", "b.edgelist", "c.edges"}) {
    EXPECT_THAT(load(name).graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{1, 2})) << name;
    EXPECT_FALSE(load(name).graph.weighted()) << name;
  }
}

TEST_F(EdgeList, TakesLabelsFeaturesAndSplitsFromFilesBesideIt) {
  write("g.txt", "b a\na c\n");
  write("g.labels.csv", "id,label\na,red\nc,blue\nlonely,red\n");
  write("g.features.tsv", "lonely\t4\t0\na\t1\t0.5\nb\t2\t0\nc\t3\t0\n");
  write("g.splits.csv", "id,split0\na,train\nc,test\n");
  const Dataset data = load("g.txt");
  EXPECT_THAT(data.node_ids, ElementsAre("a", "b", "c", "lonely"));
  EXPECT_THAT(data.class_names, ElementsAre("blue", "red"));
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0, 1));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 0.5F, 2, 0, 3, 0, 4, 0));
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{0, 2}));
  EXPECT_EQ(data.splits, (std::vector<Split>{{{0}, {}, {2}}}));
}

TEST_F(EdgeList, ReadsWeightsOfTheThirdColumnAndOfNetworkX) {
  write("third.txt", "0 1 0.5\n1 2 3\n");
  write("networkx.edgelist", "0 1 {'color': 'red', 'weight': 0.5}\n1 2 {'weight': 3}\n");
  write("header.tsv", "source\ttarget\tyear\tweight\n0\t1\t1999\t0.5\n1\t2\t2000\t3\n");
  for (const char* name : {"third.txt", "networkx.edgelist", "header.tsv"}) {
    EXPECT_THAT(load(name).graph.edge_weights(), ElementsAre(0.5F, 3.0F)) << name;
    EXPECT_THAT(load(name, {.unweighted = true}).graph.edge_weights(), IsEmpty()) << name;
  }
  write("plain.edgelist", "0 1 {}\n1 2 {}\n");
  EXPECT_FALSE(load("plain.edgelist").graph.weighted());
  write("words.txt", "0 1 friend\n1 2 foe\n");
  EXPECT_FALSE(load("words.txt").graph.weighted());
}

TEST_F(EdgeList, RecognisesAHeaderByTheRowBelow) {
  write("cites.csv", "citing,cited\n10,20\n20,30\n");
  EXPECT_THAT(load("cites.csv").node_ids, ElementsAre("10", "20", "30"));
  write("names.csv", "anna,bob\nbob,eve\n");
  EXPECT_THAT(load("names.csv").node_ids, ElementsAre("anna", "bob", "eve"));
  // Ids that are words, too: headers of published files, and a word above a number.
  write("papers.csv", "citing,cited\nx1,x2\nx2,x3\n");
  EXPECT_THAT(load("papers.csv").node_ids, ElementsAre("x1", "x2", "x3"));
  write("weighted.csv", "a,b,weight\nx1,x2,0.5\nx2,x3,2\n");
  EXPECT_THAT(load("weighted.csv").node_ids, ElementsAre("x1", "x2", "x3"));
  EXPECT_THAT(load("weighted.csv").graph.edge_weights(), ElementsAre(0.5F, 2.0F));
  // With a nodes file: neither word is an id, those of the next row are.
  std::filesystem::create_directory(dir_ / "pair");
  write("pair/nodes.csv", "id,label\na,0\nb,1\n");
  write("pair/edges.csv", "citing,cited\na,b\n");
  EXPECT_THAT(load("pair").graph.edge_list(), ElementsAre(Edge{0, 1}));
}

TEST_F(EdgeList, QuestionsAFirstRowWhoseIdsOccurNowhereElse) {
  const auto notices = [&](const char* text) {
    write("d.csv", text);
    const test::HeardNotices heard;
    load("d.csv");
    return heard.text;
  };
  EXPECT_THAT(notices("reader,book\nanna,emma\nbob,emma\n"),
              testing::HasSubstr("d.csv:1: its two ids occur in no other row"));
  EXPECT_EQ(notices("anna,ulysses\nanna,emma\nbob,emma\n"), "");
  EXPECT_EQ(notices("1,2\n3,4\n5,6\n"), "");
}

TEST_F(EdgeList, RefusesWeightsThatAreNotPositive) {
  write("negative.txt", "0 1 1\n1 2 -2\n");
  EXPECT_EQ(error("negative.txt"),
            "negative.txt:2: the weight must be positive, got '-2'; drop the edge or the column");
  write("missing.txt", "0 1 1\n1 2\n");
  EXPECT_EQ(error("missing.txt"),
            "missing.txt:2: the row has no weight, but the first row has one; every edge needs one "
            "or none");
  write("infinite.txt", "0 1 1\n1 2 inf\n");
  EXPECT_THAT(error("infinite.txt"), testing::StartsWith("infinite.txt:2: the weight must be a "));
}

TEST_F(EdgeList, SaysWhichFeaturesAreMissing) {
  write("g.txt", "0 1\n1 2\n");
  write("g.features.csv", "0,1\n2,5\n");
  EXPECT_EQ(error("g.txt"),
            "g.features.csv: has no row for 1 of the 3 nodes; every node needs its features");
}

TEST_F(EdgeList, IsReadBackAsItWasWritten) {
  write("g.txt", "b a 2\na c 0.25\n");
  write("g.labels.csv", "a,red\nc,blue\nlonely,red\n");
  write("g.features.csv", "id,x y\nlonely,4\na,0.1\nb,0\nc,3\n");
  const Dataset before = load("g.txt");
  for (const char* name : {"copy.txt", "copy.edgelist.gz"}) {
    save_dataset(before, dir_ / name);
    const Dataset after = load(name);
    SCOPED_TRACE(name);
    test::expect_same(after, before);
  }
}

}  // namespace
}  // namespace dgat::data
