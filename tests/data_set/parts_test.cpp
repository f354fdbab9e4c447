// Folders of parts: what is read is what was written, and what was damaged is found.
#include "dgat/data/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/core/random.h"
#include "dgat/data/fingerprint.h"
#include "dgat/data/sha256.h"
#include "dgat/graph/builder.h"
#include "support/same_dataset.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

constexpr int kNodes = 40;

Dataset any_dataset(double filled) {
  Random random(3);
  Dataset dataset;
  dataset.name = "any";
  dataset.graph = test::random_graph(kNodes, 0.1, 5);
  dataset.classes = 3;
  for (int i = 0; i < kNodes; ++i) {
    dataset.labels.push_back(static_cast<int32_t>(random.below(4)) - 1);
    dataset.node_ids.push_back("node " + std::to_string(i));
  }
  dataset.labels[0] = 2;
  std::vector<float> values(kNodes * 11);
  for (float& v : values) {
    if (random.uniform() < filled) v = static_cast<float>(random.normal());
  }
  dataset.features = Features::compact(kNodes, 11, values);
  dataset.splits = random_splits(dataset.labels, 3, {}, 2, 1);
  dataset.class_names = {"a", "b", "c"};
  return dataset;
}

graph::Cells any_cells() {
  std::vector<int32_t> cell_of;
  for (int i = 0; i < kNodes; ++i) cell_of.push_back(7 * i % 5);
  return graph::cells_of(cell_of, 6);  // the last one is empty
}

Dataset load(const fs::path& folder) {
  return load_dataset(folder.string());
}

TEST(Parts, GiveBackTheDataSet) {
  for (const double filled : {0.1, 0.9}) {
    const test::TempDir dir;
    const Dataset before = any_dataset(filled);
    ASSERT_EQ(before.features.is_sparse(), filled < 0.5);
    write_parts(before, any_cells(), dir / "parts");
    const Dataset after = load(dir / "parts");
    test::expect_same(after, before);
    EXPECT_EQ(after.name, "any");
    EXPECT_EQ(fingerprint(after), fingerprint(before));
    EXPECT_EQ(read_part_cells(dir / "parts"), any_cells());
  }
}

TEST(Parts, KeepWeightsAndDirections) {
  const std::vector<graph::Edge> edges = {{0, 1}, {1, 2}, {3, 0}, {2, 3}};
  const std::vector<float> weights = {0.5F, 2, 3, 1};
  for (const bool directed : {false, true}) {
    Dataset before;
    before.graph = graph::build_graph(4, edges, weights, {.directed = directed}).graph;
    before.labels = {0, 1, 0, 1};
    before.classes = 2;
    const test::TempDir dir;
    const std::vector<int32_t> cell_of = {1, 0, 1, 0};
    write_parts(before, graph::cells_of(cell_of, 2), dir / "parts");
    test::expect_same(read_parts(dir / "parts", {.directed = directed}), before);
    const Dataset plain = read_parts(dir / "parts", {.unweighted = true});
    EXPECT_FALSE(plain.graph.weighted());
    EXPECT_EQ(plain.graph.edges(), 4);
    EXPECT_FALSE(plain.graph.directed());
    if (directed) continue;
    EXPECT_THROW(read_parts(dir / "parts", {.directed = true}), InputError);
  }
}

/// The arrays of a part stand at the places that meta.json names.
TEST(Parts, AreRangesOfEveryArray) {
  const test::TempDir dir;
  const Dataset dataset = any_dataset(0.9);
  write_parts(dataset, any_cells(), dir / "parts");
  const json meta = json::parse(read_whole_file(dir / "parts" / "meta.json"));
  EXPECT_EQ(meta["nodes"], kNodes);
  EXPECT_EQ(meta["arcs"], dataset.graph.arcs());
  EXPECT_EQ(meta["parts"], 6);
  const graph::Cut cut = graph::cut_of(dataset.graph, any_cells());
  EXPECT_EQ(meta["cut"], cut.edges);
  EXPECT_EQ(meta["halo"], cut.halo);
  const std::string features = read_whole_file(dir / "parts" / "features.f32");
  const auto begin = meta["first_nodes"][2].get<size_t>();
  std::vector<float> row(11), expected(11);
  std::memcpy(row.data(), features.data() + begin * 11 * sizeof(float), 11 * sizeof(float));
  dataset.features.copy_row(any_cells().cell(2).front(), expected);
  EXPECT_EQ(row, expected);
}

class DamagedParts : public testing::Test {
 protected:
  DamagedParts() { write_parts(any_dataset(0.1), any_cells(), folder_); }
  /// Replaces an array, and its checksum with it.
  void forge(const std::string& name, const std::string& bytes) {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
    json meta = json::parse(read_whole_file(folder_ / "meta.json"));
    meta["arrays"][name] = {{"bytes", bytes.size()}, {"sha256", sha256_of_file(folder_ / name)}};
    std::ofstream(folder_ / "meta.json") << meta.dump();
  }
  void set(const std::string& key, const json& value) {
    json meta = json::parse(read_whole_file(folder_ / "meta.json"));
    meta[key] = value;
    std::ofstream(folder_ / "meta.json") << meta.dump();
  }
  std::string bytes_of(const std::string& name) { return read_whole_file(folder_ / name); }
  std::string refusal() {
    try {
      load(folder_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  }
  test::TempDir dir_;
  fs::path folder_ = dir_ / "parts";
};

TEST_F(DamagedParts, AChangedByteIsFoundInEveryArray) {
  const json meta = json::parse(read_whole_file(folder_ / "meta.json"));
  ASSERT_GE(meta["arrays"].size(), 8U);
  for (const auto& [name, entry] : meta["arrays"].items()) {
    const std::string good = bytes_of(name);
    std::string bad = good;
    bad[bad.size() / 2] ^= 1;
    std::ofstream(folder_ / name, std::ios::binary) << bad;
    EXPECT_THAT(refusal(), testing::AllOf(HasSubstr(name), HasSubstr("checksum"))) << name;
    std::ofstream(folder_ / name, std::ios::binary) << good.substr(0, good.size() - 1);
    EXPECT_THAT(refusal(), testing::AllOf(HasSubstr(name), HasSubstr("bytes instead of"))) << name;
    fs::remove(folder_ / name);
    EXPECT_THAT(refusal(), HasSubstr(name)) << name;
    std::ofstream(folder_ / name, std::ios::binary) << good;
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(DamagedParts, ForgedArraysAreRefused) {
  const auto with = [](std::string bytes, size_t at, int32_t value) {
    std::memcpy(bytes.data() + at * sizeof value, &value, sizeof value);
    return bytes;
  };
  const std::vector<std::pair<const char*, std::string>> forgeries = {
      {"nodes.i32", with(bytes_of("nodes.i32"), 0, kNodes)},
      {"nodes.i32", with(bytes_of("nodes.i32"), 0, 39)},  // twice
      {"senders.i32", with(bytes_of("senders.i32"), 3, -1)},
      {"senders.i32", with(bytes_of("senders.i32"), 3, kNodes)},
      {"offsets.i64", with(bytes_of("offsets.i64"), 4, 1'000'000)},
      {"labels.i32", with(bytes_of("labels.i32"), 1, 7)},
      {"splits.i8", std::string(2 * kNodes, '\x05')},
      {"feature_columns.i32", with(bytes_of("feature_columns.i32"), 1, 11)},
      {"feature_offsets.i64", with(bytes_of("feature_offsets.i64"), 4, 1'000'000)},
      {"node_ids.json", "[1, 2]"},
  };
  for (const auto& [name, bytes] : forgeries) {
    const std::string good = bytes_of(name);
    forge(name, bytes);
    EXPECT_NE(refusal(), "") << name;
    forge(name, good);
  }
  EXPECT_EQ(refusal(), "");
}

TEST_F(DamagedParts, ForgedMetaIsRefused) {
  const json good = json::parse(read_whole_file(folder_ / "meta.json"));
  for (const auto& [key, value] : good.items()) {
    for (const json& bad : {json("x"), json(-5), json(nullptr), json({1, 2})}) {
      if (key == "cut" || key == "halo") continue;  // for people
      if (key == "name" && bad.is_string()) continue;
      set(key, bad);
      EXPECT_NE(refusal(), "") << key << " " << bad;
      set(key, value);
    }
  }
  for (const char* key : {"class_names", "feature_names"}) {
    set(key, json({"one"}));
    EXPECT_THAT(refusal(), HasSubstr(key));
    set(key, good[key]);
  }
  for (const char* key : {"nodes", "arcs", "features", "splits", "version"}) {
    for (const json& bad : {json(int64_t{1} << 40), json(1e300), json(0.5)}) {
      set(key, bad);
      EXPECT_NE(refusal(), "") << key << " " << bad;
    }
    set(key, good[key]);
  }
  set("first_nodes", json({0, 1e300}));
  EXPECT_THAT(refusal(), HasSubstr("first_nodes"));
  set("first_nodes", good["first_nodes"]);
  std::ofstream(folder_ / "meta.json") << "{";
  EXPECT_THAT(refusal(), HasSubstr("not a JSON object"));
}

TEST(Parts, DoNotReplaceAFolder) {
  const test::TempDir dir;
  fs::create_directory(dir / "parts");
  EXPECT_THROW(write_parts(any_dataset(0.9), any_cells(), dir / "parts"), InputError);
}

}  // namespace
}  // namespace dgat::data
