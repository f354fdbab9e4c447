// MAT-files that SciPy wrote (tests/data/matlab/make.py), and damaged ones.
#include "dgat/data/matlab.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <limits>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/quiet_notices.h"
#include "support/heard_notices.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

using graph::Edge;
using testing::ElementsAre;
using testing::HasSubstr;

std::filesystem::path given(const std::string& name) {
  return test::data_folder() / "matlab" / name;
}
Dataset load(const std::string& name, const LoadOptions& options = {}) {
  return load_dataset(given(name).string(), options);
}

TEST(Matlab, SparseMatrixWithWeightsLabelsAndFeatures) {
  const Dataset data = load("deezer.mat");
  EXPECT_EQ(data.name, "deezer");
  EXPECT_THAT(data.graph.edge_list(), ElementsAre(Edge{0, 1}, Edge{1, 2}, Edge{2, 3}));
  EXPECT_THAT(data.graph.edge_weights(), ElementsAre(2.5F, 1.0F, 1.0F));
  EXPECT_EQ(data.dropped_self_loops, 1);
  EXPECT_EQ(data.dropped_duplicates, 0) << "a symmetric matrix has every edge twice";
  EXPECT_THAT(data.labels, ElementsAre(0, 1, 1, 0));
  EXPECT_TRUE(data.class_names.empty());
  EXPECT_TRUE(data.features.is_sparse());
  EXPECT_THAT(data.features.to_dense(),
              ElementsAre(1, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 300, 0, 0));
  EXPECT_FALSE(load("deezer.mat", {.unweighted = true}).graph.weighted());
}

TEST(Matlab, FilesThatAreNotDeflatedAndOtherVariables) {
  const test::HeardNotices heard;
  const Dataset data = load("yelp.mat");
  EXPECT_THAT(heard.text, HasSubstr("yelp.mat: not read: net_rur, comment\n"));
  EXPECT_EQ(data.graph, load("deezer.mat").graph);
  EXPECT_EQ(data.features, load("deezer.mat").features);
  EXPECT_THAT(data.labels, ElementsAre(0, 1, -1, 0));
  EXPECT_THAT(data.class_names, ElementsAre("3", "9"));
}

TEST(Matlab, EdgeIndexHasTheSenderInItsFirstRow) {
  const Dataset data = load("pokec.mat", {.directed = true});
  EXPECT_EQ(data.graph.nodes(), 4);
  EXPECT_EQ(data.graph.arcs(), 2);
  EXPECT_TRUE(data.graph.has_arc(1, 0)) << "node 1 receives from node 0";
  EXPECT_TRUE(data.graph.has_arc(1, 2));
  EXPECT_FALSE(data.graph.weighted());
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0, 1));
  EXPECT_THAT(data.features.to_dense(), ElementsAre(0.5F, 1, 2, 3, -4, 5, 6, 7));
  const Dataset counted = load("genius.mat");  // as many nodes as labels; NaN is no label
  EXPECT_EQ(counted.graph.nodes(), 3);
  EXPECT_THAT(counted.labels, ElementsAre(0, -1, 1));
  EXPECT_THAT(counted.features.to_dense(), ElementsAre(1, 2, 3));
}

TEST(Matlab, FacebookTablesBecomeLabelsAndAFeaturePerValue) {
  const Dataset data = load("reed.mat");
  EXPECT_FALSE(data.graph.weighted());
  EXPECT_THAT(data.labels, ElementsAre(1, -1, 0, 0));
  EXPECT_THAT(data.feature_names,
              ElementsAre("status=1", "status=2", "major=10", "major=11", "major=12",
                          "second_major=0", "dormitory=5", "dormitory=6", "year=0", "year=2004",
                          "high_school=7", "high_school=8", "high_school=9"));
  std::vector<float> row(13);
  data.features.copy_row(2, row);
  EXPECT_THAT(row, ElementsAre(0, 1, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 0));
}

class DamagedMatlab : public testing::Test {
 protected:
  /// The message for a file of these bytes, without its path.
  std::string error(const std::string& bytes) {
    const std::filesystem::path path = dir_ / "d.mat";
    std::ofstream(path, std::ios::binary) << bytes;
    try {
      load_dataset(path.string());
    } catch (const InputError& e) {
      return std::string(e.what()).substr(path.string().size() + 2);
    }
    return "no error";
  }
  test::TempDir dir_;
};

TEST_F(DamagedMatlab, EveryCutIsRefused) {
  const QuietNotices quiet;
  for (const char* name : {"deezer.mat", "yelp.mat", "genius.mat"}) {
    const std::string whole = read_whole_file(given(name));
    for (size_t size = 0; size < whole.size(); size += 7) {
      // A cut between two variables leaves a file without some of them.
      const std::string message = error(whole.substr(0, size));
      EXPECT_NE(message.find_first_not_of(' '), std::string::npos);
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
    EXPECT_EQ(error(whole.substr(0, whole.size() - 9)),
              "ends inside an element; the file is truncated, copy it again");
  }
}

TEST_F(DamagedMatlab, OtherVersionsAreNamed) {
  std::string bytes = read_whole_file(given("genius.mat"));
  bytes[125] = 2;
  EXPECT_EQ(error(bytes), "is a MAT-file of version 7.3 (HDF5); save it with `save -v7`");
  bytes[125] = 1;
  std::swap(bytes[126], bytes[127]);
  EXPECT_THAT(error(bytes), HasSubstr("is a big-endian MAT-file"));
  EXPECT_EQ(error(std::string(200, 'x')),
            "is not a MAT-file of version 5; save it with `save -v7`");
}

TEST_F(DamagedMatlab, NoByteLeadsToACrash) {
  const QuietNotices quiet;
  for (const char* name : {"deezer.mat", "yelp.mat", "genius.mat", "reed.mat"}) {
    const std::string whole = read_whole_file(given(name));
    for (size_t at = 128; at < whole.size(); ++at) {
      std::string bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ (at % 2 == 0 ? 0xFF : 0x10));
      error(bytes);  // accepted or refused as input: any other exception fails the test
    }
  }
}

TEST_F(DamagedMatlab, RowsAndColumnEndsAreWholeNumbers) {
  std::string bytes = read_whole_file(given("yelp.mat"));
  const auto put = [&bytes](size_t at, auto value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  const size_t ends = bytes.find(std::string("\x05\0\0\0\x18\0\0\0", 8));  // int32, 24 bytes
  ASSERT_NE(ends, std::string::npos);
  put(ends, uint32_t{7});  // from now on they are read as floats
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float end : {std::nanf(""), kInfinity, -kInfinity, 1e30F, 0.5F}) {
    put(ends + 8, end);
    EXPECT_THAT(error(bytes), HasSubstr("where a whole number was expected")) << end;
  }
}

TEST_F(DamagedMatlab, WhatAFileMustHave) {
  const std::string bytes = read_whole_file(given("genius.mat"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    return error(changed);
  };
  EXPECT_EQ(with("edge_index", "edge_xxxxx"),
            "has no edges; they are a matrix A (or adj, homo, network) or edge_index");
  const std::string first(reinterpret_cast<const char*>(std::array<int32_t, 4>{0, 1, 2, 1}.data()),
                          16);
  const std::string wrong(reinterpret_cast<const char*>(std::array<int32_t, 4>{0, 1, 3, 1}.data()),
                          16);
  EXPECT_EQ(with(first, wrong), "edge_index has the node id 3, and there are 3 nodes");
}

}  // namespace
}  // namespace dgat::data
