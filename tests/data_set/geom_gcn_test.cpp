#include "dgat/data/geom_gcn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "dgat/core/error.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class GeomGcn : public testing::Test {
 protected:
  GeomGcn() : folder_(dir_ / "g") { fs::create_directory(folder_); }
  void write(const std::string& nodes, const std::string& edges = "node_id\tnode_id\n0\t1\n") {
    std::ofstream(folder_ / "out1_node_feature_label.txt", std::ios::binary) << nodes;
    std::ofstream(folder_ / "out1_graph_edges.txt", std::ios::binary) << edges;
  }
  std::string error() {
    try {
      read_geom_gcn(folder_);
    } catch (const InputError& e) {
      return e.what();
    }
    return "no error";
  }
  test::TempDir dir_;
  fs::path folder_;
};

TEST_F(GeomGcn, LinesOfEqualLengthAreValues) {
  write("node_id\tfeature\tlabel\r\n1\t0,1,0.5\t2\r\n0\t1,0,0\t0\r\n");
  const Dataset data = read_geom_gcn(folder_);
  EXPECT_EQ(data.name, "g");
  EXPECT_THAT(data.labels, ElementsAre(0, 2));
  EXPECT_EQ(data.classes, 3);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 0, 0, 0, 1, 0.5F));
  EXPECT_TRUE(data.graph.has_arc(0, 1));
  EXPECT_TRUE(data.splits.empty());
}

TEST_F(GeomGcn, AFeatureAmountMeansIndicesWhateverTheLengths) {
  write("node_id\tfeature(feature_amount:4)\tlabel\n0\t1,0\t0\n1\t3,1\t1\n2\t\t0\n");
  const Dataset data = read_geom_gcn(folder_);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0));
}

TEST_F(GeomGcn, AnIndexBeyondTheFeatureAmountWidensTheMatrix) {
  write("node_id\tfeature(feature_amount:2)\tlabel\n0\t2,2\t0\n1\t0\t1\n");
  const Dataset data = read_geom_gcn(folder_);
  EXPECT_EQ(data.features.cols(), 3);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(0, 0, 1, 1, 0, 0));
}

TEST_F(GeomGcn, LinesOfUnequalLengthAreIndicesOnlyWhenTheyCanBe) {
  write("node_id\tfeature\tlabel\n0\t5,0\t0\n1\t3\t1\n");
  EXPECT_EQ(read_geom_gcn(folder_).features.cols(), 6);
  const std::string cut = "out1_node_feature_label.txt:3: 2 features, but the first line has 3";
  write("node_id\tfeature\tlabel\n0\t0,1,1\t0\n1\t1,0\t1\n");  // 0/1 values
  EXPECT_THAT(error(), HasSubstr(cut));
  write("node_id\tfeature\tlabel\n0\t0,0,5\t0\n1\t0,5\t1\n");  // counts: 0 comes twice
  EXPECT_THAT(error(), HasSubstr(cut));
  write("node_id\tfeature\tlabel\n0\t0.5,2,3\t0\n1\t1,2\t1\n");  // reals
  EXPECT_THAT(error(), HasSubstr(cut));
}

TEST_F(GeomGcn, IdsMustBeZeroToNEachOnce) {
  write("node_id\tfeature\tlabel\n0\t1\t0\n2\t1\t0\n");
  EXPECT_THAT(error(), HasSubstr("label.txt:3: node id 2 is outside [0, 2)"));
  write("node_id\tfeature\tlabel\n0\t1\t0\n\n0\t1\t0\n");
  EXPECT_THAT(error(), HasSubstr("label.txt:4: node id 0 was already given in line 2"));
  write("node_id\tfeature\tlabel\n0\t1\t0\n1\t1\t0\n", "node_id\tnode_id\n0\t1\n1\t2\n");
  EXPECT_THAT(error(), HasSubstr("edges.txt:3: node id 2 is outside [0, 2)"));
}

TEST_F(GeomGcn, RoundTripsBothForms) {
  Dataset data;
  data.graph = test::random_graph(40, 0.1, 5);
  for (int i = 0; i < 40; ++i) data.labels.push_back(i == 7 ? -1 : i % 3);
  data.classes = 3;
  data.splits = {Split{{1, 2}, {3}, {5, 6}}, Split{{5}, {0}, {1}}};
  std::vector<float> ones(40 * 30, 0.0F), reals(40 * 3);
  for (size_t i = 0; i < 40; ++i) ones[i * 30 + i % 29] = 1;
  for (size_t i = 0; i < reals.size(); ++i) reals[i] = 0.1F * static_cast<float>(i);
  const Features forms[] = {Features::compact(40, 30, ones), Features::dense(40, 3, reals), {}};
  for (const Features& form : forms) {
    data.features = form;
    const fs::path out = dir_ / ("out" + std::to_string(form.cols()));
    write_geom_gcn(data, out);
    const Dataset back = read_geom_gcn(out);
    EXPECT_EQ(back.graph, data.graph);
    EXPECT_EQ(back.features, data.features);
    EXPECT_EQ(back.labels, data.labels);
    EXPECT_EQ(back.splits, data.splits);
  }
}

TEST_F(GeomGcn, FewerSplitsLeaveNoOldOnesBehind) {
  Dataset data;
  data.graph = test::ring(5);
  data.labels.assign(5, 0);
  data.classes = 1;
  data.splits = {Split{{1}, {2}, {3}}, Split{{2}, {3}, {4}}};
  write_geom_gcn(data, dir_ / "h");
  data.splits.pop_back();
  write_geom_gcn(data, dir_ / "h");
  EXPECT_EQ(read_geom_gcn(dir_ / "h").splits, data.splits);
}

class RealFolder : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(RealFolder, EqualsItsNpz) {
  const fs::path shared = test::shared_datasets();
  if (shared.empty()) GTEST_SKIP() << test::kNoDatasets;
  const auto [folder, file] = GetParam();
  const Dataset text = load_dataset(shared / "geom-gcn" / "new_data" / folder);
  const Dataset npz = load_dataset(shared / file);
  EXPECT_EQ(text.name, folder);
  EXPECT_EQ(text.graph, npz.graph);
  EXPECT_EQ(text.features, npz.features);
  EXPECT_EQ(text.features.is_sparse(), npz.features.is_sparse());
  EXPECT_EQ(text.labels, npz.labels);
  EXPECT_EQ(text.classes, npz.classes);
  EXPECT_EQ(text.splits.size(), 10U);
  EXPECT_EQ(text.splits, npz.splits);
}

INSTANTIATE_TEST_SUITE_P(GeomGcn, RealFolder,
                         testing::Values(std::pair{"cornell", "cornell.npz"},
                                         std::pair{"cornell_old", "cornell_old.npz"},
                                         std::pair{"texas", "texas.npz"},
                                         std::pair{"wisconsin", "wisconsin.npz"},
                                         std::pair{"film", "actor.npz"}),
                         [](const auto& pair) { return std::string(pair.param.first); });

}  // namespace
}  // namespace dgat::data
