#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "dgat/data/load.h"
#include "dgat/data/npz.h"
#include "support/dgat_json.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::test {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

/// Two cliques of six, joined by one edge, and a node apart; classes are the cliques. Split 0
/// trains on everything but the last node, split 1 on two nodes that share no edge.
data::Dataset cliques() {
  data::Dataset set;
  set.name = "cliques";
  set.graph = disjoint_union(barbell(6, 0), graph::CsrGraph({0, 0}, {}, false));
  set.labels = {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 0};
  set.classes = 2;
  std::vector<float> features(26);
  for (size_t f = 0; f < features.size(); ++f) features[f] = static_cast<float>(f) / 2;
  set.features = data::Features::dense(13, 2, std::move(features));
  set.splits = {{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {10, 11}, {12}}, {{0, 11}, {3}, {4}}};
  return set;
}

class RewireVerb : public testing::Test {
 protected:
  RewireVerb() : in_((folder_ / "cliques.npz").string()), out_((folder_ / "out.npz").string()) {
    data::save_dataset(cliques(), in_);
  }
  json run_json(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"rewire", in_});
    return dgat_json(arguments);
  }
  TempDir folder_;
  std::string in_, out_;
};

TEST_F(RewireVerb, CutsTheBridgeAndReportsIt) {
  // The bridge is by far the longest of the 31 edges.
  const json report = run_json({"--rewire", "prune-far", "--epsilon", "q0.99"});
  expect_fields(report, {{"mode", "prune-far"},
                         {"edges_before", 31},
                         {"dropped", 1},
                         {"added", 0},
                         {"edges_after", 30},
                         {"components_before", 2},
                         {"components_after", 3},
                         {"isolated_after", 1}});
  EXPECT_DOUBLE_EQ(report["homophily_before"], 21.0 / 22);
  EXPECT_DOUBLE_EQ(report["homophily_after"], 1);
}

TEST_F(RewireVerb, WritesTheDataSetOnItsNewEdgesWithDirections) {
  const json report = run_json({"--rewire", "prune-far+add", "--out", out_});
  const data::Dataset before = cliques(), after = data::load_dataset(out_);
  EXPECT_EQ(after.graph.edges(), report["edges_after"]);
  EXPECT_NE(after.graph, before.graph);
  EXPECT_EQ(after.features, before.features);
  EXPECT_EQ(after.labels, before.labels);
  EXPECT_EQ(after.splits, before.splits);

  const data::NpzReader archive(out_);
  const int64_t arcs = after.graph.arcs() + 13;
  EXPECT_EQ(archive.info("edges").dtype, data::DType::kInt64);
  EXPECT_EQ(archive.info("edge_index").dtype, data::DType::kInt64);
  EXPECT_THAT(archive.info("edge_index").shape, ElementsAre(2, arcs));
  EXPECT_EQ(archive.info("edge_attr").dtype, data::DType::kFloat32);
  EXPECT_THAT(archive.info("edge_attr").shape, ElementsAre(arcs, 2));
  const auto index = archive.read<int64_t>("edge_index");
  const auto attr = archive.read<float>("edge_attr");
  std::vector<double> row_sum(13, 0);
  for (int64_t a = 0; a < arcs; ++a) {
    const auto receiver = static_cast<graph::NodeId>(index[static_cast<size_t>(a)]);
    const auto sender = static_cast<graph::NodeId>(index[static_cast<size_t>(arcs + a)]);
    EXPECT_TRUE(receiver == sender || after.graph.has_arc(receiver, sender));
    row_sum[static_cast<size_t>(receiver)] += attr[static_cast<size_t>(2 * a + 1)];
  }
  EXPECT_THAT(row_sum, testing::Each(testing::DoubleNear(0, 1e-6)));
}

TEST_F(RewireVerb, SeveralEigenvectorsWidenTheFeatures) {
  run_json({"--rewire", "none", "-k", "3", "--out", out_});
  EXPECT_THAT(data::NpzReader(out_).info("edge_attr").shape, ElementsAre(62 + 13, 6));
}

TEST_F(RewireVerb, AutoFollowsTheChosenSplit) {
  EXPECT_EQ(run_json({"--rewire", "auto"})["mode"], "prune-near");
  EXPECT_EQ(run_json({"--rewire", "auto", "--split", "0"})["mode"], "prune-near");
  const RunResult run = run_dgat({"rewire", in_, "--rewire", "auto", "--split", "1"});
  EXPECT_EQ(run.exit, 2);
  EXPECT_THAT(run.err, HasSubstr("auto needs edges between training nodes"));
}

TEST_F(RewireVerb, HomophilyIsNullWithoutTrainingEdges) {
  const json report = run_json({"--rewire", "add", "--split", "1"});
  EXPECT_TRUE(report["homophily_before"].is_null());
}

TEST_F(RewireVerb, ShowsTheRandomSplitsThatTrainingWouldMake) {
  data::Dataset set = cliques();
  set.splits.clear();
  data::save_dataset(set, in_);
  EXPECT_EQ(run_json({"--rewire", "auto", "--quiet"})["mode"], "prune-near");
  EXPECT_EQ(run_json({"--rewire", "none", "--split", "60/20/20"})["mode"], "none");
  set.labels.assign(set.labels.size(), -1);
  data::save_dataset(set, in_);
  EXPECT_THAT(run_dgat({"rewire", in_, "--rewire", "auto"}).err,
              HasSubstr("auto reads training labels"));
  EXPECT_EQ(run_json({})["mode"], "none");
  EXPECT_EQ(run_json({"--rewire", "add"})["mode"], "add");
}

TEST_F(RewireVerb, TheRandomWalkLaplacianHasNoGamma) {
  const json report = run_json({"--laplacian", "default", "--rewire", "none"});
  expect_fields(report, {{"alpha", 1.0}, {"gamma", 1.0}});
  const RunResult run =
      run_dgat({"rewire", in_, "--laplacian", "default", "--gamma", "0.5", "--rewire", "none"});
  EXPECT_THAT(run.err, HasSubstr("--gamma 0.5 is ignored"));
}

TEST_F(RewireVerb, PrintsATable) {
  expect_printed({"rewire", in_, "--rewire", "hub"},
                 {"cliques: hub", "edge homophily (training labels)"});
}

TEST_F(RewireVerb, RefusesNonsenseWithoutLeavingAFile) {
  const auto fault = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"rewire", in_, "--out", out_});
    const RunResult run = run_dgat(arguments);
    EXPECT_EQ(run.exit, 2) << run.err;
    EXPECT_EQ(run.out, "");
    EXPECT_FALSE(std::filesystem::exists(out_));
    return run.err;
  };
  EXPECT_THAT(fault({"--rewire", "prune"}), HasSubstr("unknown mode 'prune'"));
  EXPECT_THAT(fault({"--epsilon", "q2"}), HasSubstr("got 'q2'"));
  EXPECT_THAT(fault({"--split", "2"}), HasSubstr("--split 2 is outside [0, 2)"));
  EXPECT_THAT(fault({"--directed"}), HasSubstr("undirected"));
  fault({"--components", "all"});
  fault({"--gamma", "1.5"});
  fault({"-k", "0"});
}

}  // namespace
}  // namespace dgat::test
