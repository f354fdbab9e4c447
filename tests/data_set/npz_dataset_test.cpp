#include "dgat/data/npz_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/progress.h"
#include "dgat/core/random.h"
#include "support/npz_arrays.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

/// Integer features (so that every type holds them), labels with gaps, two splits.
Dataset random_dataset(uint64_t seed, double filled) {
  Random random(seed);
  Dataset dataset;
  dataset.graph = test::random_graph(40, 0.1, seed);
  dataset.classes = 3;
  dataset.labels.resize(40);
  for (int32_t& label : dataset.labels) label = static_cast<int32_t>(random.below(4)) - 1;
  dataset.labels[0] = 2;
  std::vector<float> values(40 * 11);
  for (float& v : values) {
    if (random.uniform() < filled) v = static_cast<float>(1 + random.below(100));
  }
  dataset.features = Features::compact(40, 11, values);
  dataset.splits = random_splits(dataset.labels, 3, {}, 2, seed);
  return dataset;
}

void expect_equal(const Dataset& a, const Dataset& b) {
  EXPECT_EQ(a.graph, b.graph);
  EXPECT_EQ(a.features, b.features);
  EXPECT_EQ(a.features.is_sparse(), b.features.is_sparse());
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.classes, b.classes);
  EXPECT_EQ(a.splits, b.splits);
}

class NpzDataset : public testing::Test {
 protected:
  NpzDataset() { set_quiet(true); }
  Dataset read() const { return load_dataset((folder_ / "d.npz").string()); }
  test::TempDir folder_;
};

TEST_F(NpzDataset, ComesBackAsWritten) {
  for (const double filled : {0.05, 0.9}) {
    Dataset before = random_dataset(4, filled);
    save_dataset(before, folder_ / "d.npz");
    expect_equal(read(), before);
    before.splits.clear();
    before.features = {};
    save_dataset(before, folder_ / "d.npz");
    expect_equal(read(), before);
    EXPECT_EQ(NpzReader(folder_ / "d.npz").keys(),
              (std::vector<std::string>{"node_labels", "edges"}));
  }
}

TEST_F(NpzDataset, ComesBackAsWrittenWithArcs) {
  Dataset before = random_dataset(5, 0.5);
  before.graph = graph::CsrGraph({0, 1, 3, 3}, {2, 0, 2}, true);
  before.labels = {0, 1, 2};
  before.features = Features::dense(3, 1, {1, 2, 3});
  before.splits.clear();
  save_dataset(before, folder_ / "d.npz");
  expect_equal(load_dataset((folder_ / "d.npz").string(), {.directed = true}), before);
}

TEST_F(NpzDataset, MeansTheSameInEveryTypeAndLayout) {
  const Dataset before = random_dataset(6, 0.3);
  std::vector<double> ids, masks[3];
  for (const graph::Edge edge : before.graph.edge_list()) {
    ids.push_back(edge.from);
    ids.push_back(edge.to);
  }
  for (auto& mask : masks) mask.assign(2 * 40, 0.0);
  for (size_t k = 0; k < 2; ++k) {
    for (const auto i : before.splits[k].train) masks[0][k * 40 + static_cast<size_t>(i)] = 1;
    for (const auto i : before.splits[k].val) masks[1][k * 40 + static_cast<size_t>(i)] = 1;
    for (const auto i : before.splits[k].test) masks[2][k * 40 + static_cast<size_t>(i)] = 1;
  }
  const std::vector<float> dense = before.features.to_dense();
  const std::vector<double> features(dense.begin(), dense.end());
  const std::vector<double> labels(before.labels.begin(), before.labels.end());
  // Signed types hold the label -1; ids and features fit in all of them.
  for (const DType dtype :
       {DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64, DType::kFloat16, DType::kFloat32,
        DType::kFloat64, DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64}) {
    for (const bool big_endian : {false, true}) {
      for (const bool fortran : {false, true}) {
        SCOPED_TRACE(std::string(name_of(dtype)) + (big_endian ? " big" : " little") +
                     (fortran ? " fortran" : " c"));
        NpzWriter out(folder_ / "d.npz");
        const auto put = [&](const char* key, DType type, std::vector<int64_t> shape,
                             const std::vector<double>& values) {
          const ArrayInfo info{type, std::move(shape), fortran, big_endian};
          out.begin(key, info);
          out.append(test::stored_bytes(info, values));
          out.end();
        };
        const bool is_signed = item_size(dtype) > 0 && name_of(dtype)[0] != 'u';
        put("node_features", dtype, {40, 11}, features);
        put("node_labels", is_signed ? dtype : DType::kInt8, {40}, labels);
        put("edges", dtype, {before.graph.edges(), 2}, ids);
        put("train_masks", dtype, {2, 40}, masks[0]);
        put("val_masks", DType::kBool, {2, 40}, masks[1]);
        put("test_masks", DType::kUInt8, {2, 40}, masks[2]);
        out.finish();
        expect_equal(read(), before);
      }
    }
  }
}

TEST_F(NpzDataset, TakesEdgesByColumnsAndOneSplitWithoutItsDimension) {
  NpzWriter out(folder_ / "d.npz");
  out.add("node_labels", {4, 1}, std::vector<int64_t>{0, 1, 0, 1});
  out.add("edges", {2, 3}, std::vector<int64_t>{0, 1, 2, 1, 2, 3});
  out.add("train_mask", {4}, std::vector<uint8_t>{1, 1, 0, 0});
  out.add("val_mask", {4}, std::vector<uint8_t>{0, 0, 1, 0});
  out.add("test_mask", {4}, std::vector<uint8_t>{0, 0, 0, 1});
  out.finish();
  const Dataset dataset = read();
  EXPECT_EQ(dataset.graph, test::path(4));
  EXPECT_EQ(dataset.splits, (std::vector<Split>{{{0, 1}, {2}, {3}}}));
}

TEST_F(NpzDataset, ReadsTwoByTwoEdgesAsRows) {
  NpzWriter out(folder_ / "d.npz");
  out.add("node_labels", {4}, std::vector<int64_t>{0, 1, 0, 1});
  out.add("edges", {2, 2}, std::vector<int64_t>{0, 1, 2, 3});
  out.finish();
  EXPECT_TRUE(read().graph.has_arc(0, 1));
  EXPECT_FALSE(read().graph.has_arc(0, 2));
}

TEST_F(NpzDataset, CountsNodesByFeaturesWhereThereAreNoLabels) {
  NpzWriter out(folder_ / "d.npz");
  out.add("node_features", {3, 1}, std::vector<float>{1, 2, 3});
  out.add("edges", {0, 2}, std::vector<int64_t>{});
  out.finish();
  const Dataset dataset = read();
  EXPECT_EQ(dataset.graph.nodes(), 3);
  EXPECT_EQ(dataset.labels, (std::vector<int32_t>{-1, -1, -1}));
  EXPECT_EQ(dataset.classes_present(), 0);
}

TEST_F(NpzDataset, TakesUnlabelledNodesOutOfTheSplits) {
  NpzWriter out(folder_ / "d.npz");
  out.add("node_labels", {3}, std::vector<int64_t>{0, -1, 1});
  out.add("edges", {1, 2}, std::vector<int64_t>{0, 1});
  out.add_bools("train_masks", {1, 3}, std::vector<uint8_t>{1, 1, 0});
  out.add_bools("val_masks", {1, 3}, std::vector<uint8_t>{0, 0, 1});
  out.add_bools("test_masks", {1, 3}, std::vector<uint8_t>{0, 0, 0});
  out.finish();
  EXPECT_EQ(read().splits, (std::vector<Split>{{{0}, {2}, {}}}));
}

TEST_F(NpzDataset, RandomSplitsReplaceMasksOnlyWhenAskedFor) {
  const Dataset before = random_dataset(7, 0.5);
  save_dataset(before, folder_ / "d.npz");
  const auto splits = [&](const SplitOptions& options) {
    return load_dataset((folder_ / "d.npz").string(), {.splits = options}).splits;
  };
  EXPECT_EQ(splits({.seed = 9, .required = true}), before.splits);
  EXPECT_EQ(splits({.count = 1}), std::vector<Split>{before.splits[0]});
  EXPECT_EQ(splits({.fractions = SplitFractions{}, .seed = 9}),
            random_splits(before.labels, 3, {}, 10, 9));
}

}  // namespace
}  // namespace dgat::data
