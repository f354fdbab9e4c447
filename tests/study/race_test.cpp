#include "dgat/study/race.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "misleading_edges.h"

namespace dgat::study {
namespace {

using testing::HasSubstr;

AdviceOptions question() {
  AdviceOptions options;
  options.gammas = {0.1, 1};
  options.alphas = {1};
  options.rewirings = {
      {rewire::parse_mode("none")}, {rewire::parse_mode("hub")}, {rewire::parse_mode("add")}};
  for (const char* epsilon : {"q0.1", "q0.5", "q0.9"}) {
    options.rewirings.push_back({rewire::parse_mode("prune-far"), rewire::parse_epsilon(epsilon)});
  }
  options.own_features = false;
  return options;
}

RaceOptions trainings(int64_t most) {
  RaceOptions options;
  options.settings = {{"recipe", "classic"}, {"hidden", "16"}, {"heads", "2"}, {"steps", "40"}};
  options.trainings = most;
  options.seconds = 0;  // does not count
  return options;
}

Race compete(const data::Dataset& dataset, const RaceOptions& options) {
  spectral::SpectralCache cache;
  const Advice advice = advise(dataset, 0, question(), cache);
  return race(dataset, advice, options, cache);
}

bool is_unchanged(const Raced& raced) {
  return raced.candidate.mode == rewire::parse_mode("none") && raced.candidate.gamma == 1;
}

const Raced& unchanged(const Race& race) {
  return *std::find_if(race.candidates.begin(), race.candidates.end(), is_unchanged);
}

TEST(Race, FindsThePlantedBestGraph) {
  const Race result = compete(test::misleading_edges(4), trainings(200));
  ASSERT_TRUE(result.run());
  EXPECT_EQ(rewire::to_string(result.best().mode), "prune-far");
  EXPECT_EQ(rewire::to_string(*result.best().epsilon), "q0.1");
  EXPECT_GT(result.gain, 0.1);
  EXPECT_TRUE(result.clear);
  EXPECT_EQ(result.left_out, 0);
  EXPECT_THAT(result.reason, HasSubstr("prune-far q0.1 came first"));
}

TEST(Race, ARichBudgetTrainsEveryCandidateOnEverySplit) {
  const Race result = compete(test::misleading_edges(2), trainings(1000));
  EXPECT_EQ(result.levels, (std::vector<Rung>{{10, 1}, {40, 1}, {40, 2}}));
  for (const Raced& c : result.candidates) EXPECT_EQ(c.level, 2) << to_string(c.candidate);
  EXPECT_EQ(result.trainings, 2 * std::ssize(result.candidates));
  for (size_t c = 1; c < result.candidates.size(); ++c) {
    EXPECT_GE(result.candidates[c - 1].val, result.candidates[c].val);
  }
}

TEST(Race, EndsWithinItsBudgetAndNeverBelowTheUnchangedGraph) {
  const data::Dataset dataset = test::misleading_edges(4);
  for (const int64_t most : {1, 2, 3, 5, 8, 13, 21, 40}) {
    const Race result = compete(dataset, trainings(most));
    EXPECT_LE(result.trainings, most);
    EXPECT_EQ(result.run(), most >= 4) << most;
    if (!result.run()) {
      EXPECT_THAT(result.reason, HasSubstr("no race"));
      continue;
    }
    const Raced& plain = unchanged(result);
    EXPECT_EQ(plain.level, result.candidates.front().level);
    EXPECT_GE(result.candidates.front().val, plain.val);
    EXPECT_NEAR(result.gain, result.candidates.front().val - plain.val, 1e-15);
  }
}

/// Hub, add and a pruning come before a second gamma of any of them.
TEST(Race, StartsWithOneOfEveryKind) {
  const Race result = compete(test::misleading_edges(4), trainings(12));
  std::set<std::string> kinds;
  for (const Raced& c : result.candidates) kinds.insert(rewire::to_string(c.candidate.mode));
  EXPECT_THAT(kinds, testing::ElementsAre("add", "hub", "none", "prune-far"));
}

std::vector<std::string> standings(const Race& race) {
  std::vector<std::string> all = {race.reason};
  for (const Raced& c : race.candidates) {
    all.push_back(to_string(c.candidate) + " " + std::to_string(c.level) + " " +
                  std::to_string(c.val));
  }
  return all;
}

TEST(Race, WithABudgetOfTrainingsJobsAndThreadsChangeNothing) {
  const data::Dataset dataset = test::misleading_edges(4);
  RaceOptions options = trainings(21);
  options.jobs = 1;
  set_thread_count(1);
  const auto one = standings(compete(dataset, options));
  set_thread_count(3);
  options.jobs = 3;
  const auto three = standings(compete(dataset, options));
  set_thread_count(0);
  EXPECT_EQ(one, three);
}

TEST(Race, TestLabelsAreNotRead) {
  data::Dataset dataset = test::misleading_edges(1), other = dataset;
  for (const graph::NodeId i : dataset.splits[0].test) {
    int32_t& label = other.labels[static_cast<size_t>(i)];
    label = (label + 1) % 3;
  }
  EXPECT_EQ(standings(compete(dataset, trainings(12))), standings(compete(other, trainings(12))));
}

TEST(Race, OneSplitIsTheOneAskedFor) {
  RaceOptions options = trainings(100);
  options.split = 2;
  const data::Dataset dataset = test::misleading_edges(4);
  const Race result = compete(dataset, options);
  EXPECT_EQ(result.levels.back().splits, 1);
  EXPECT_EQ(result.validation_nodes, std::ssize(dataset.splits[2].val));
  options.split = 4;
  EXPECT_THROW(compete(dataset, options), InputError);
}

/// A clock that is late after the first trainings: what they said counts.
TEST(Race, ATimeThatIsOverEndsTheRace) {
  RaceOptions options = trainings(0);
  options.seconds = 100;
  double calls = 0;
  options.clock = [&calls] { return calls += 8; };
  const Race result = compete(test::misleading_edges(4), options);
  ASSERT_TRUE(result.run());
  EXPECT_GT(result.left_out, 0);
  EXPECT_EQ(unchanged(result).level, result.candidates.front().level);
}

TEST(Race, AGraphThatIsTooLargeForTheTimeIsNotRaced) {
  RaceOptions options = trainings(0);
  options.seconds = 1e-9;
  const Race result = compete(test::misleading_edges(4), options);
  EXPECT_FALSE(result.run());
  EXPECT_EQ(result.trainings, 0);
  EXPECT_FALSE(result.clear);
}

}  // namespace
}  // namespace dgat::study
