#include "dgat/data/ogb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dgat/core/error.h"
#include "dgat/data/text_file.h"
#include "support/heard_notices.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

namespace fs = std::filesystem;
using graph::Edge;
using testing::ElementsAre;
using testing::HasSubstr;

/// A folder as the archive of ogbn-arxiv unpacks.
class Ogb : public testing::Test {
 protected:
  Ogb() {
    put("raw/edge.csv.gz", "0,1\n2,1\n3,2\n1,1\n");
    put("raw/num-node-list.csv.gz", "5\n");
    put("raw/num-edge-list.csv.gz", "4\n");
    put("raw/node-feat.csv.gz", "0.5,1\n2,3\n4,5\n6,7\n8,-9\n");
    put("raw/node-label.csv.gz", "1\n0\n2\nnan\n0\n");
    put("raw/node_year.csv.gz", "2001\n2002\n2003\n2004\n2005\n");
    put("split/time/train.csv.gz", "4\n0\n");
    put("split/time/valid.csv.gz", "1\n");
    put("split/time/test.csv.gz", "2\n3\n");
  }
  void put(const std::string& name, const std::string& text) {
    const fs::path path = dir_ / "arxiv" / name;
    fs::create_directories(path.parent_path());
    TextWriter out(path);
    out.print("{}", text);
    out.commit();
  }
  Dataset read(const LoadOptions& options = {}) {
    return load_dataset((dir_ / "arxiv").string(), options);
  }
  std::string error() {
    try {
      read();
    } catch (const InputError& e) {
      return std::string(e.what()).substr((dir_ / "arxiv").string().size() + 1);
    }
    return "no error";
  }
  test::TempDir dir_;
};

TEST_F(Ogb, ReadsEveryPart) {
  const test::HeardNotices heard;
  const Dataset data = read();
  EXPECT_THAT(heard.text, HasSubstr("raw: not read: node_year.csv.gz\n"));
  EXPECT_THAT(heard.text, HasSubstr("took 1 unlabelled entries out of the splits"));
  EXPECT_EQ(data.name, "arxiv");
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{1, 2}, Edge{2, 3}));
  EXPECT_EQ(data.graph.nodes(), 5);
  EXPECT_EQ(data.dropped_self_loops, 1);
  EXPECT_THAT(data.labels, ElementsAre(1, 0, 2, -1, 0));
  EXPECT_EQ(data.classes, 3);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(0.5F, 1, 2, 3, 4, 5, 6, 7, 8, -9));
  EXPECT_EQ(data.splits, (std::vector<Split>{{{0, 4}, {1}, {2}}}));
  EXPECT_TRUE(read({.directed = true}).graph.has_arc(1, 0)) << "node 1 receives from node 0";
  const Dataset raw = load_dataset((dir_ / "arxiv/raw").string());
  EXPECT_EQ(raw.name, "arxiv");
  EXPECT_EQ(raw.splits, data.splits);
}

TEST_F(Ogb, UnpackedFilesAndMissingOnes) {
  fs::remove(dir_ / "arxiv/raw/node-feat.csv.gz");
  fs::remove(dir_ / "arxiv/raw/node-label.csv.gz");
  fs::remove_all(dir_ / "arxiv/split");
  fs::remove(dir_ / "arxiv/raw/edge.csv.gz");
  put("raw/edge.csv", "0,1\n");
  const Dataset data = read();
  EXPECT_TRUE(data.features.empty());
  EXPECT_THAT(data.labels, ElementsAre(-1, -1, -1, -1, -1));
  EXPECT_TRUE(data.splits.empty());
  EXPECT_EQ(data.graph.edges(), 1);
}

TEST_F(Ogb, DamagedFoldersAreNamedByFileAndLine) {
  const auto with = [&](const std::string& name, const std::string& text) {
    const std::string before = read_text(dir_ / "arxiv" / name);
    put(name, text);
    const std::string message = error();
    put(name, before);
    return message;
  };
  EXPECT_EQ(with("raw/edge.csv.gz", "0,1\n0,5\n"),
            "raw/edge.csv.gz:2: node id 5 is outside [0, 5): the graph has 5 nodes");
  EXPECT_EQ(with("raw/edge.csv.gz", "0,1,2\n"),
            "raw/edge.csv.gz:1: two node ids were expected, got 3 fields");
  EXPECT_EQ(with("raw/node-label.csv.gz", "0\n1\n"),
            "raw/node-label.csv.gz: has 2 rows for 5 nodes");
  EXPECT_EQ(with("raw/node-label.csv.gz", "0,1\n"),
            "raw/node-label.csv.gz:1: 2 labels in a row; dgat predicts one class per node");
  EXPECT_THAT(with("raw/node-label.csv.gz", "0.5\n"),
              HasSubstr(":1: label 0.5 is not a whole number"));
  EXPECT_THAT(with("raw/node-feat.csv.gz", "1,2\n3\n"), HasSubstr("node-feat.csv.gz:2: 1 numbers"));
  EXPECT_THAT(with("raw/node-feat.csv.gz", "1\n1\n1\n1\n1\n1\n"),
              HasSubstr("has 6 rows for 5 nodes"));
  EXPECT_EQ(with("raw/num-node-list.csv.gz", "5\n7\n"),
            "raw/num-node-list.csv.gz:2: there are several graphs; node classification reads "
            "folders of one graph");
  EXPECT_THAT(with("raw/num-node-list.csv.gz", "2000000000\n"),
              HasSubstr("a graph of 2000000000 nodes needs"));
  EXPECT_EQ(with("split/time/valid.csv.gz", "1\n1\n"),
            "split/time/valid.csv.gz: lists a node twice");
  EXPECT_THAT(with("split/time/valid.csv.gz", "0\n"), HasSubstr("node 0"));
  fs::remove(dir_ / "arxiv/split/time/valid.csv.gz");
  EXPECT_EQ(error(), "split/time: has no valid.csv.gz");
  put("raw/triplet-type-list.csv.gz", "author,writes,paper\n");
  EXPECT_EQ(error(), "raw: has several types of nodes and edges; dgat reads graphs of one type");
}

}  // namespace
}  // namespace dgat::data
