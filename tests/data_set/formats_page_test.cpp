// The examples of docs/formats.md are data sets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "dgat/core/files.h"
#include "dgat/data/load.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class FormatsPage : public testing::Test {
 protected:
  /// Writes every block that opens with "```text PATH".
  FormatsPage() {
    std::istringstream page(read_whole_file(test::data_folder() / "../../docs/formats.md"));
    const std::string opening = "```text ";
    for (std::string line; std::getline(page, line);) {
      if (!line.starts_with(opening)) continue;
      const fs::path path = dir_ / line.substr(opening.size());
      fs::create_directories(path.parent_path());
      std::ofstream out(path);
      while (std::getline(page, line) && line != "```") out << line << '\n';
    }
  }
  Dataset load(const char* name) { return load_dataset((dir_ / name).string()); }
  test::TempDir dir_;
};

TEST_F(FormatsPage, People) {
  const Dataset data = load("people");
  EXPECT_THAT(data.node_ids, ElementsAre("anna", "Doe, John", "eve"));
  EXPECT_THAT(data.class_names, ElementsAre("blue", "red"));
  EXPECT_THAT(data.labels, ElementsAre(1, 0, -1));
  EXPECT_THAT(data.feature_names, ElementsAre("age", "height, m"));
  EXPECT_EQ(data.graph.edges(), 2);
  EXPECT_EQ(data.splits, (std::vector<Split>{{{0}, {}, {1}}, {{1}, {}, {0}}}));
}

TEST_F(FormatsPage, Numbered) {
  const Dataset data = load("numbered");
  EXPECT_THAT(data.labels, ElementsAre(2, 1, 0));
  EXPECT_THAT(data.class_names, ElementsAre("7", "9", "10"));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(0, 1, 0.5F));
  EXPECT_EQ(data.graph.edges(), 2);
}

TEST_F(FormatsPage, GeomGcn) {
  const Dataset values = load("toy");
  EXPECT_THAT(values.labels, ElementsAre(0, 1, -1));
  EXPECT_THAT(values.features.to_dense(), ElementsAre(1, 0, 0.5F, 0, 1, 0, 0, 0, 1));
  EXPECT_EQ(values.dropped_self_loops, 1);
  const Dataset indices = load("film");
  EXPECT_EQ(indices.features.cols(), 6);
  EXPECT_EQ(indices.features.nonzeros(), 5);
}

TEST_F(FormatsPage, MatrixMarket) {
  const Dataset data = load("path.mtx");
  EXPECT_EQ(data.graph.nodes(), 3);
  EXPECT_EQ(data.graph.edges(), 2);
}

TEST_F(FormatsPage, EdgeLists) {
  const Dataset data = load("friends.edgelist");
  EXPECT_THAT(data.node_ids, ElementsAre("anna", "bob", "eve", "lonely"));
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0, 1));
  EXPECT_THAT(data.graph.edge_weights(), ElementsAre(0.5F, 2.0F));
}

TEST_F(FormatsPage, GraphmlAndGml) {
  const Dataset xml = load("club.graphml"), gml = load("club.gml");
  for (const Dataset* data : {&xml, &gml}) {
    EXPECT_THAT(data->node_ids, ElementsAre("anna", "bob"));
    EXPECT_THAT(data->features.to_dense(), ElementsAre(30, 45));
    EXPECT_THAT(data->graph.edge_weights(), ElementsAre(0.5F));
  }
  EXPECT_THAT(xml.labels, ElementsAre(0, -1));
  EXPECT_THAT(gml.class_names, ElementsAre("blue", "red"));
}

}  // namespace
}  // namespace dgat::data
