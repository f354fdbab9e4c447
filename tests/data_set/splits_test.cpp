#include "dgat/data/splits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "dgat/core/error.h"
#include "dgat/core/random.h"
#include "support/temp_dir.h"
#include "support/tiny_graphs.h"

namespace dgat::data {
namespace {

using testing::HasSubstr;

std::vector<int32_t> random_labels(size_t nodes, int32_t classes, uint64_t seed) {
  Random random(seed);
  std::vector<int32_t> labels(nodes);
  for (int32_t& label : labels) {
    label = static_cast<int32_t>(random.below(static_cast<uint64_t>(classes) + 1)) - 1;
  }
  return labels;
}

int64_t of_class(const std::vector<graph::NodeId>& nodes, const std::vector<int32_t>& labels,
                 int32_t c) {
  return std::count_if(nodes.begin(), nodes.end(),
                       [&](graph::NodeId i) { return labels[static_cast<size_t>(i)] == c; });
}

TEST(RandomSplits, EveryClassIsWithinOneNodeOfItsShares) {
  const std::vector<int32_t> labels = random_labels(1003, 6, 1);
  for (const SplitFractions f : {SplitFractions{0.6, 0.2, 0.2}, SplitFractions{0.48, 0.32, 0.2},
                                 SplitFractions{0.05, 0.1, 0.3}}) {
    for (const Split& split : random_splits(labels, 6, f, 3, 42)) {
      for (int32_t c = 0; c < 6; ++c) {
        const auto n = static_cast<double>(std::count(labels.begin(), labels.end(), c));
        EXPECT_LE(std::abs(static_cast<double>(of_class(split.train, labels, c)) - n * f.train), 1);
        EXPECT_LE(std::abs(static_cast<double>(of_class(split.val, labels, c)) - n * f.val), 1);
        EXPECT_LE(std::abs(static_cast<double>(of_class(split.test, labels, c)) - n * f.test), 1);
      }
    }
  }
}

TEST(RandomSplits, PartitionTheLabelledNodesWhenSharesSumToOne) {
  Dataset dataset;
  dataset.graph = test::ring(200);
  dataset.labels = random_labels(200, 3, 2);
  dataset.classes = 3;
  dataset.splits = random_splits(dataset.labels, 3, {0.7, 0.1, 0.2}, 5, 9);
  EXPECT_NO_THROW(validate(dataset, "splits"));  // sorted, disjoint, labelled
  const auto labelled = 200 - std::count(dataset.labels.begin(), dataset.labels.end(), -1);
  for (const Split& split : dataset.splits) {
    EXPECT_EQ(static_cast<int64_t>(split.train.size() + split.val.size() + split.test.size()),
              labelled);
  }
}

TEST(RandomSplits, DependOnTheSeedAndOnNothingElse) {
  const std::vector<int32_t> labels = random_labels(500, 4, 3);
  const auto ten = random_splits(labels, 4, {}, 10, 7);
  const auto three = random_splits(labels, 4, {}, 3, 7);
  EXPECT_TRUE(std::equal(three.begin(), three.end(), ten.begin()));
  EXPECT_FALSE(ten[0] == ten[1]);
  EXPECT_FALSE(ten[0] == random_splits(labels, 4, {}, 1, 8)[0]);
}

TEST(ParseSplitFractions, TakesPercentAndShares) {
  EXPECT_EQ(parse_split_fractions("60/20/20"), (SplitFractions{0.6, 0.2, 0.2}));
  EXPECT_EQ(parse_split_fractions("0.5/0.25/0.25"), (SplitFractions{0.5, 0.25, 0.25}));
  EXPECT_EQ(parse_split_fractions("5/10/30"), (SplitFractions{0.05, 0.1, 0.3}));
  for (const char* text : {"", "60", "60/20", "60/20/20/5", "0/50/50", "60/-20/20", "60/30/20",
                           "a/b/c", "60/20/20%", "nan/1/1", "60//20"}) {
    EXPECT_THROW(parse_split_fractions(text), InputError) << text;
  }
}

TEST(ApplySplitOptions, MakesRandomSplitsOnlyWhereTheyAreMissed) {
  Dataset dataset;
  dataset.name = "ring";
  dataset.graph = test::ring(50);
  dataset.labels = random_labels(50, 2, 4);
  dataset.classes = 2;
  apply_split_options(dataset, {});
  EXPECT_TRUE(dataset.splits.empty());
  apply_split_options(dataset, {.seed = 3, .required = true});
  EXPECT_EQ(dataset.splits, random_splits(dataset.labels, 2, {0.6, 0.2, 0.2}, 10, 3));
  apply_split_options(dataset, {.count = 2, .seed = 4});  // there are some: the first two stay
  EXPECT_EQ(dataset.splits, random_splits(dataset.labels, 2, {0.6, 0.2, 0.2}, 2, 3));
  EXPECT_THAT([&] { apply_split_options(dataset, {.count = 3}); },
              testing::ThrowsMessage<InputError>(HasSubstr("3 were asked for, ring has 2")));
  dataset.splits.clear();
  apply_split_options(dataset, {.count = 1});
  EXPECT_EQ(dataset.splits.size(), 1U);
}

class SplitCsv : public testing::Test {
 protected:
  SplitCsv() {
    dataset_.graph = test::ring(4);
    dataset_.labels = {0, 1, 0, -1};
    dataset_.classes = 2;
  }
  std::string fault(const std::string& text) {
    std::ofstream(folder_ / "s.csv") << text;
    try {
      read_split_csv(folder_ / "s.csv", dataset_);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  test::TempDir folder_;
  Dataset dataset_;
};

TEST_F(SplitCsv, ComesBackAsWritten) {
  dataset_.splits = {{{0}, {1}, {2}}, {{1, 2}, {}, {0}}};
  write_split_csv(dataset_, folder_ / "s.csv");
  EXPECT_EQ(read_split_csv(folder_ / "s.csv", dataset_), dataset_.splits);
  dataset_.node_ids = {"plain", "with,comma", "with\"quote", "two\nlines"};
  write_split_csv(dataset_, folder_ / "s.csv");
  EXPECT_EQ(read_split_csv(folder_ / "s.csv", dataset_), dataset_.splits);
}

TEST_F(SplitCsv, LeavesOutUnlabelledAndUnlistedNodes) {
  std::ofstream(folder_ / "s.csv") << "# comment\r\nid,split0\r\n3,train\r\n2,test\r\n0,train\r\n";
  EXPECT_EQ(read_split_csv(folder_ / "s.csv", dataset_), (std::vector<Split>{{{0}, {}, {2}}}));
}

TEST_F(SplitCsv, NamesTheLineThatIsWrong) {
  EXPECT_THAT(fault(""), HasSubstr("s.csv: is empty; expected a header like id,split0,split1"));
  EXPECT_THAT(fault("0,train\n"), HasSubstr("s.csv:1: expected a header like id,split0,split1"));
  EXPECT_THAT(fault("id,a\n0,train\n\n9,val\n"),
              HasSubstr("s.csv:4: the data set has no node '9'"));
  EXPECT_THAT(fault("id,a\n0,train\n0,val\n"), HasSubstr("s.csv:3: node '0' is listed twice"));
  EXPECT_THAT(fault("id,a\n0,train,val\n"), HasSubstr("s.csv:2: has 3 cells, the header has 2"));
  EXPECT_THAT(
      fault("id,a\n0,Train\n"),
      HasSubstr("s.csv:2: split 0 says 'Train'; expected train, val, test or an empty cell"));
}

}  // namespace
}  // namespace dgat::data
