#include "dgat/data/scipy_npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "dgat/core/error.h"
#include "dgat/data/limits.h"
#include "dgat/data/npz_dataset.h"
#include "dgat/graph/builder.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

using graph::Edge;
using testing::ElementsAre;
using testing::HasSubstr;

class CsrNpz : public testing::Test {
 protected:
  using Ints = std::vector<int64_t>;
  using Floats = std::vector<float>;

  Dataset read(const LoadOptions& options = {}) { return load_dataset(path(), options); }
  std::string path() const { return (dir_ / "d.npz").string(); }
  std::string error() {
    try {
      read();
    } catch (const InputError& e) {
      return std::string(e.what()).substr(path().size() + 2);
    }
    return "no error";
  }
  /// The matrix [[0, 2, 0], [2, 0, 0], [1, 0, 0]] with one explicit zero.
  static void add_adjacency(NpzWriter& out, const std::string& prefix) {
    out.add(prefix + "data", {4}, Floats{2, 2, 0, 1});
    out.add(prefix + "indices", {4}, Ints{1, 0, 2, 0});
    out.add(prefix + "indptr", {4}, Ints{0, 1, 3, 4});
    out.add(prefix + "shape", {2}, Ints{3, 3});
  }
  test::TempDir dir_;
};

TEST_F(CsrNpz, ReadsTheArraysOfGnnBenchmark) {
  NpzWriter out(dir_ / "d.npz");
  add_adjacency(out, "adj_");
  out.add("attr_data", {3}, Floats{5, 1, 2});  // a row with unsorted and repeated columns
  out.add("attr_indices", {3}, Ints{3, 0, 3});
  out.add("attr_indptr", {4}, Ints{0, 3, 3, 3});
  out.add("attr_shape", {2}, Ints{3, 4});
  out.add("labels", {3}, Ints{0, 1, 1});
  out.finish();
  const Dataset data = read();
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{0, 2}));
  EXPECT_THAT(data.graph.edge_weights(), ElementsAre(2.0F, 1.0F));
  EXPECT_THAT(data.labels, ElementsAre(0, 1, 1));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0));
  EXPECT_TRUE(read({.directed = true}).graph.has_arc(0, 2)) << "row 2, column 0 is the arc 2 -> 0";
  EXPECT_FALSE(read({.directed = true}).graph.has_arc(2, 0));
}

TEST_F(CsrNpz, ReadsAMatrixThatSciPySaved) {
  NpzWriter out(dir_ / "d.npz");
  add_adjacency(out, "");
  out.finish();
  EXPECT_EQ(read().graph.edges(), 2);
  EXPECT_THAT(read().labels, ElementsAre(-1, -1, -1));
}

TEST_F(CsrNpz, IsReadBackAsItWasWritten) {
  for (const bool directed : {false, true}) {
    Dataset before;
    const std::vector<Edge> edges{{0, 1}, {1, 2}, {3, 2}};
    before.graph = graph::build_graph(4, edges, Floats{1, 0.5F, 7}, {.directed = directed}).graph;
    before.labels = {0, 1, -1, 1};
    before.classes = 2;
    before.features = Features::compact(4, 6, [] {
      Floats values(24);
      values[3] = 2;
      values[20] = 1;
      return values;
    }());
    before.splits = {{{0}, {1}, {3}}};
    save_dataset(before, dir_ / "d.npz", "scipy");
    const Dataset after = read({.directed = directed});
    EXPECT_EQ(after.graph, before.graph);
    EXPECT_EQ(after.labels, before.labels);
    EXPECT_EQ(after.features, before.features);
    EXPECT_EQ(after.splits, before.splits);
  }
}

TEST_F(CsrNpz, SparseFeaturesOfOurOwnArchives) {
  NpzWriter out(dir_ / "d.npz");
  out.add("edges", {1, 2}, Ints{0, 1});
  out.add("node_features_indices", {3}, Ints{4, 0, 1});
  out.add("node_features_indptr", {4}, Ints{0, 2, 2, 3});
  out.add("node_features_shape", {2}, Ints{3, 5});
  out.finish();
  const Dataset data = read();
  EXPECT_EQ(data.graph.nodes(), 3);
  EXPECT_THAT(data.features.to_dense(), ElementsAre(1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0));
}

TEST_F(CsrNpz, DeezerWithItsSparseFeatures) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  const Dataset data =
      load_dataset((test::shared_datasets() / "deezer_europe_sparse.npz").string());
  EXPECT_EQ(data.graph.edges(), 92752);
  EXPECT_EQ(data.features.cols(), 31241);
  EXPECT_EQ(data.features.nonzeros(), 958475);
  EXPECT_TRUE(data.features.is_sparse());
  save_dataset(data, dir_ / "d.npz");
  EXPECT_EQ(read().features, data.features);
  EXPECT_TRUE(NpzReader(dir_ / "d.npz").contains("node_features_indptr"));
}

TEST_F(CsrNpz, WeightsOfOurOwnArchives) {
  Dataset before;
  before.graph = graph::build_graph(3, std::vector<Edge>{{0, 1}, {2, 1}}, Floats{0.1F, 9}).graph;
  before.labels = {0, 1, 0};
  before.classes = 2;
  save_dataset(before, dir_ / "d.npz");
  EXPECT_EQ(read().graph, before.graph);
  EXPECT_FALSE(read({.unweighted = true}).graph.weighted());
  for (const char* name : {"folder", "d.mtx", "d.txt", "d.graphml"}) {
    save_dataset(before, dir_ / name);
    EXPECT_EQ(load_dataset((dir_ / name).string()).graph, before.graph) << name;
  }
}

TEST_F(CsrNpz, DamagedMatricesAreNamedByTheirKey) {
  const auto with = [&](const Ints& indptr, const Ints& indices, const Ints& shape,
                        const Floats& values) {
    NpzWriter out(dir_ / "d.npz");
    out.add("adj_indptr", {std::ssize(indptr)}, indptr);
    out.add("adj_indices", {std::ssize(indices)}, indices);
    out.add("adj_shape", {std::ssize(shape)}, shape);
    out.add("adj_data", {std::ssize(values)}, values);
    out.finish();
    return error();
  };
  EXPECT_EQ(with({0, 1}, {0}, {2, 2}, {1}), "adj_indptr has shape [2], expected [3]");
  EXPECT_EQ(with({0, 1, 2}, {0}, {2, 2}, {1}),
            "adj_indptr goes from 0 to 2; it must go from 0 to the 1 entries of adj_indices");
  EXPECT_EQ(with({0, 2, 1}, {0}, {2, 2}, {1}), "adj_indptr decreases from 2 to 1 in row 2");
  EXPECT_EQ(with({0, 1, 1}, {2}, {2, 2}, {1}),
            "adj_indices has column 2 in row 0; columns are 0 to 1");
  EXPECT_EQ(with({0, 1, 1}, {1}, {2, 3}, {1}),
            "adj_shape states 2 x 3; the adjacency matrix of a graph is square");
  EXPECT_EQ(with({0, 1, 1}, {1}, {2, 2}, {1, 1}), "adj_data has shape [2], expected [1]");
  EXPECT_EQ(with({0, 1, 1}, {1}, {2, 2}, {-1}),
            "adj_data has -1 in row 0; edge weights are positive numbers, and 0 is no edge");
  EXPECT_THAT(with({0}, {}, {int64_t{1} << 62, int64_t{1} << 62}, {}),
              HasSubstr("which is not the size of a matrix"));
}

TEST_F(CsrNpz, SmallFilesCannotClaimMuchMemory) {
  {  // 0 nodes, 2^26 splits
    NpzWriter out(dir_ / "d.npz");
    out.add("node_labels", {0}, Ints{});
    out.add("edges", {0, 2}, Ints{});
    for (const char* part : {"train_masks", "val_masks", "test_masks"}) {
      out.add_bools(part, {1 << 26, 0}, std::vector<uint8_t>{});
    }
    out.finish();
    EXPECT_EQ(error(), "train_masks has 67108864 splits; at most 10000 are read");
  }
  {  // labels that deflate to a thousandth
    NpzWriter out(dir_ / "d.npz", {.level = 9});
    out.add("node_labels", {int64_t{1} << 24}, std::vector<uint8_t>(1 << 24));
    out.add("edges", {0, 2}, Ints{});
    out.finish();
    EXPECT_THAT(error(), HasSubstr("a graph of 16777216 nodes needs 537 MB or more"));
    EXPECT_THAT(error(), HasSubstr("raise --memory-per-byte above 256"));
    set_memory_per_byte(1 << 20);
    EXPECT_EQ(read().graph.nodes(), 1 << 24);
    set_memory_per_byte(kMemoryPerByte);
  }
}

TEST(Limits, MultiplyWithoutOverflow) {
  EXPECT_EQ(allowed_memory(0), kFreeMemory);
  EXPECT_EQ(allowed_memory(INT64_MAX), INT64_MAX);
  EXPECT_THROW(check_node_count(INT64_MAX, 1000, "x"), InputError);
  EXPECT_NO_THROW(check_node_count(1000, 0, "x"));
}

}  // namespace
}  // namespace dgat::data
