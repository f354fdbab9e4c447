// Every file of ../shared/datasets reads and has the counts that its README states.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dgat/core/progress.h"
#include "dgat/data/load.h"
#include "support/temp_dir.h"

namespace dgat::data {
namespace {

struct Expected {
  const char* file;
  int64_t nodes, edges, features;
  int32_t classes;
  size_t splits;
  size_t train, val, test;  ///< of the first split
  bool same_sizes;          ///< in every split
  int64_t unlabelled = 0;
};
std::ostream& operator<<(std::ostream& out, const Expected& expected) {
  return out << expected.file;
}

constexpr Expected kFiles[] = {
    {"chameleon", 2277, 31371, 2325, 5, 10, 1092, 729, 456, true},
    {"squirrel", 5201, 198353, 2089, 5, 10, 2496, 1664, 1041, true},
    {"actor", 7600, 26659, 932, 5, 10, 3648, 2432, 1520, true},
    {"cornell", 183, 277, 1703, 5, 10, 87, 59, 37, true},
    {"wisconsin", 251, 450, 1703, 5, 10, 120, 80, 51, true},
    {"texas", 183, 279, 1703, 5, 10, 87, 59, 37, true},
    {"texas_4_classes", 183, 279, 1703, 5, 10, 0, 0, 0, false},
    {"minesweeper", 10000, 39402, 7, 2, 10, 5000, 2500, 2500, true},
    {"tolokers", 11758, 519000, 10, 2, 10, 5879, 2939, 2940, true},
    {"chameleon_filtered", 890, 8854, 2325, 5, 10, 409, 287, 194, false},
    {"squirrel_filtered", 2223, 46998, 2089, 5, 10, 1053, 718, 452, false},
    {"chameleon_directed", 2277, 31371, 2325, 5, 10, 1092, 729, 456, true},
    {"squirrel_directed", 5201, 198353, 2089, 5, 10, 2496, 1664, 1041, true},
    {"chameleon_filtered_directed", 890, 8854, 2325, 5, 10, 409, 287, 194, false},
    {"squirrel_filtered_directed", 2223, 46998, 2089, 5, 10, 1053, 718, 452, false},
    {"cora", 2708, 5278, 1433, 7, 10, 1192, 796, 497, true},
    {"citeseer", 3327, 4552, 3703, 6, 10, 1596, 1065, 666, false},
    {"pubmed_nofeatures", 19717, 44324, 0, 3, 10, 9463, 6310, 3944, true},
    {"cornell_old", 183, 277, 1703, 5, 10, 87, 59, 37, true},
    {"roman_empire_nofeatures", 22662, 32927, 0, 18, 10, 11331, 5665, 5666, true},
    {"amazon_photo", 7650, 119081, 745, 8, 0, 0, 0, 0, true},
    {"amazon_computers", 13752, 245861, 767, 10, 0, 0, 0, 0, true},
    {"dblp", 17716, 52867, 1639, 4, 0, 0, 0, 0, true},
    {"coauthor_cs", 18333, 81894, 6805, 15, 0, 0, 0, 0, true},
    {"coauthor_physics", 34493, 247962, 8415, 5, 0, 0, 0, 0, true},
    {"blogcatalog", 5196, 171743, 8189, 6, 0, 0, 0, 0, true},
    {"flickr_attributed", 7575, 239738, 12047, 9, 0, 0, 0, 0, true},
    {"facebook_pages", 22470, 170823, 4714, 4, 0, 0, 0, 0, true},
    {"github_nofeatures", 37700, 289003, 0, 2, 0, 0, 0, 0, true},
    {"deezer_europe_nofeatures", 28281, 92752, 0, 2, 0, 0, 0, 0, true},
    {"twitch_de", 9498, 153138, 2514, 2, 5, 4749, 2374, 2375, true},
    {"fb100_cornell5", 18660, 790777, 4735, 2, 0, 0, 0, 0, true, 1838},
    {"fb100_johnshopkins55", 5180, 186586, 2406, 2, 0, 0, 0, 0, true, 418},
    {"fb100_amherst41", 2235, 90954, 1193, 2, 0, 0, 0, 0, true, 203},
    {"fb100_reed98", 962, 18812, 745, 2, 0, 0, 0, 0, true, 97},
};

class RealFile : public testing::TestWithParam<Expected> {};

TEST_P(RealFile, HasTheCountsOfItsReadme) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  const Expected& expected = GetParam();
  set_quiet(true);
  const Dataset dataset =
      load_dataset((test::shared_datasets() / (expected.file + std::string(".npz"))).string());
  EXPECT_EQ(dataset.name, expected.file);
  EXPECT_EQ(dataset.graph.nodes(), expected.nodes);
  EXPECT_EQ(dataset.graph.edges(), expected.edges);
  EXPECT_EQ(dataset.features.cols(), expected.features);
  EXPECT_EQ(dataset.classes_present(), expected.classes);
  EXPECT_EQ(std::count(dataset.labels.begin(), dataset.labels.end(), -1), expected.unlabelled);
  ASSERT_EQ(dataset.splits.size(), expected.splits);
  for (size_t k = 0; k < dataset.splits.size(); ++k) {
    if (expected.train == 0 || (k > 0 && !expected.same_sizes)) continue;
    EXPECT_EQ(dataset.splits[k].train.size(), expected.train) << k;
    EXPECT_EQ(dataset.splits[k].val.size(), expected.val) << k;
    EXPECT_EQ(dataset.splits[k].test.size(), expected.test) << k;
  }
}

INSTANTIATE_TEST_SUITE_P(Datasets, RealFile, testing::ValuesIn(kFiles),
                         [](const auto& test) { return std::string(test.param.file); });

TEST(RealFiles, DirectedArcsAreThoseOfTheFileWithoutLoops) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  set_quiet(true);
  const auto path = (test::shared_datasets() / "chameleon_directed.npz").string();
  const Dataset arcs = load_dataset(path, {.directed = true});
  EXPECT_TRUE(arcs.graph.directed());
  EXPECT_EQ(arcs.dropped_self_loops, 50);
  EXPECT_EQ(arcs.graph.edges() + arcs.dropped_self_loops + arcs.dropped_duplicates, 36101);
  const Dataset plain = load_dataset(path);
  EXPECT_EQ(plain.dropped_self_loops, 50);
  EXPECT_EQ(plain.graph.edges() + plain.dropped_self_loops + plain.dropped_duplicates, 36101);
}

TEST(RealFiles, BagsOfWordsStaySparse) {
  if (test::shared_datasets().empty()) GTEST_SKIP() << test::kNoDatasets;
  set_quiet(true);
  const auto features_of = [](const char* file) {
    return load_dataset((test::shared_datasets() / file).string()).features;
  };
  EXPECT_TRUE(features_of("cora.npz").is_sparse());
  EXPECT_FALSE(features_of("tolokers.npz").is_sparse());
}

}  // namespace
}  // namespace dgat::data
