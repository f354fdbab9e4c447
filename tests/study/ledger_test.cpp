#include "dgat/study/ledger.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <thread>

#include "dgat/core/error.h"
#include "dgat/core/files.h"
#include "dgat/data/sha256.h"
#include "dgat/tensor/simd.h"
#include "dgat/train/results_version.h"
#include "small_study.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {
using test::TempDir;

TrialResult sample(const std::string& key) {
  TrialResult r;
  r.key = key;
  r.dataset = "a \"quoted\" name";
  r.model = "dgat";
  r.metric = "accuracy";
  r.layers = 2;
  r.split = 7;
  r.best_step = 31;
  r.train = 0.1 + 0.2;
  r.val = 1.0 / 3;
  r.test = std::numeric_limits<double>::quiet_NaN();
  r.steps = 40;
  r.seconds = 1.25;
  r.parameters = 123456789012;
  r.peak_rss_bytes = 1 << 20;
  r.options = {{"gamma", "0.1"}};
  r.origin.results_version = train::kResultsVersion;
  return r;
}

TEST(Ledger, ALineKeepsEveryBit) {
  const TrialResult before = sample("k");
  const std::optional<TrialResult> after = parse_line(to_line(before));
  ASSERT_TRUE(after);
  EXPECT_EQ(after->train, before.train);
  EXPECT_EQ(after->val, before.val);
  EXPECT_TRUE(std::isnan(after->test));
  EXPECT_EQ(after->parameters, before.parameters);
  EXPECT_EQ(after->dataset, before.dataset);
  EXPECT_EQ(after->options, before.options);
  EXPECT_EQ(to_line(*after), to_line(before));
  EXPECT_FALSE(parse_line("{\"key\":\"k\"}"));
  EXPECT_FALSE(parse_line("[1]"));
}

TEST(Ledger, ATornLastLineCostsItsTrialOnly) {
  const TempDir temp;
  const auto path = temp / "ledger.jsonl";
  {
    Ledger ledger(path);
    ledger.add(sample("first"));
    ledger.add(sample("second"));
  }
  const std::string whole = read_whole_file(path);
  for (size_t cut = 1; cut < to_line(sample("second")).size(); cut += 17) {
    std::ofstream(path, std::ios::binary) << whole.substr(0, whole.size() - 1 - cut);
    Ledger ledger(path);
    EXPECT_TRUE(ledger.find("first"));
    EXPECT_FALSE(ledger.find("second")) << "cut by " << cut;
    ledger.add(sample("third"));
    Ledger again(path);
    EXPECT_TRUE(again.find("first"));
    EXPECT_TRUE(again.find("third")) << "cut by " << cut;
    EXPECT_EQ(again.size(), 2U);
  }
}

TEST(Ledger, WritersDoNotMixTheirLinesAndSeeEachOther) {
  const TempDir temp;
  const auto path = temp / "folder" / "ledger.jsonl";
  constexpr int kEach = 40;
  // Two objects open the file independently, as two processes do.
  Ledger a(path), b(path);
  const auto write = [](Ledger& ledger, const std::string& name) {
    for (int i = 0; i < kEach; ++i) {
      ledger.add(sample(name + std::to_string(i)));
      if (i % 8 == 0) ledger.refresh();
    }
  };
  std::thread other([&] { write(b, "b"); });
  write(a, "a");
  other.join();
  a.refresh();
  EXPECT_EQ(a.size(), 2U * kEach);
  EXPECT_EQ(Ledger(path).results().size(), 2U * kEach);
}

TEST(Ledger, AClaimKeepsOthersFromThatTrialOnly) {
  const TempDir temp;
  const auto path = temp / "ledger.jsonl";
  Ledger a(path), b(path);  // as two processes
  std::optional<Claim> claim = a.claim("a1");
  ASSERT_TRUE(claim);
  EXPECT_FALSE(b.claim("a1"));
  EXPECT_FALSE(a.claim("a1")) << "nor is it given twice by the same";
  EXPECT_TRUE(b.claim("a2"));
  b.add(sample("b"));  // does not wait for claims
  const Claim moved = std::move(*claim);
  claim.reset();
  EXPECT_FALSE(b.claim("a1")) << "it moves with its object";
  {
    const std::optional<Claim> brief = b.claim("a2");
    EXPECT_FALSE(a.claim("a2"));
  }
  EXPECT_TRUE(a.claim("a2")) << "and ends with it";
  EXPECT_TRUE(Ledger().claim("a1")) << "a ledger in memory has no other process";
}

TEST(TrialKey, ChangesWithEverythingThatChangesTheResult) {
  const TrialData data = test::small_data();
  const Trial base{data, test::small_options(), 1, 0};
  const std::string key = trial_key(base);
  EXPECT_EQ(key.size(), 32U);
  EXPECT_EQ(trial_key({test::small_data(), test::small_options(), 1, 0}), key);
  // Where the data lies, how many splits or jobs there are, and the range of depths do not matter.
  EXPECT_EQ(trial_key({data,
                       test::small_options({{"data", "elsewhere"},
                                            {"splits", "2"},
                                            {"jobs", "2"},
                                            {"layers", "1..3"},
                                            {"checkpoint_every", "3"}}),
                       1, 0}),
            key);
  EXPECT_EQ(trial_key({test::small_data(2), test::small_options(), 1, 0}), key);
  std::vector<std::string> others = {trial_key({data, base.config, 2, 0}),
                                     trial_key({data, base.config, 1, 1}),
                                     trial_key({test::small_data(3, 5), base.config, 1, 0})};
  for (const train::Settings& change : {train::Settings{{"seed", "1"}},
                                        {{"gamma", "0.31"}},
                                        {{"steps", "9"}},
                                        {{"model", "gat"}}}) {
    others.push_back(trial_key({data, test::small_options(change), 1, 0}));
  }
  for (const std::string& other : others) EXPECT_NE(other, key);
}

/// Not the order or number of the options, which would make every ledger useless that is older than
/// a new one.
TEST(TrialKey, IsMadeOfTheOptionsThatDifferFromTheirDefaults) {
  const TrialData data = test::small_data();
  const auto config = test::small_options();
  data::Sha256 hash;
  hash.update(fmt::format("results_version={}\n{}\nmodel=dgat\nlayers=1\nsplit=0\n",
                          train::kResultsVersion, data.fingerprint));
  const data::Split& split = data.dataset->splits.front();
  for (const auto* part : {&split.train, &split.val, &split.test}) {
    hash.update_list(std::span<const graph::NodeId>(*part));
  }
  hash.update("heads=2\nhidden=16\nlr=0.01\nrewire=add\nseed=7\nsteps=8\n");
  EXPECT_EQ(trial_key({data, config, 1, 0}), hash.finish().substr(0, 32));
}

TEST(Ledger, ALineSaysWhatMadeIt) {
  TrialResult result = sample("k");
  result.threads = 2;
  result.origin = present_origin();
  const nlohmann::json line = nlohmann::json::parse(to_line(result));
  EXPECT_EQ(line.at("results_version"), train::kResultsVersion);
  EXPECT_EQ(line.at("instruction_set"), to_string(tensor::simd_level()));
  EXPECT_EQ(line.at("threads"), 2);
  EXPECT_THAT(line.at("date").get<std::string>(),
              testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}"));
  const std::optional<TrialResult> again = parse_line(line.dump());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->origin.commit, result.origin.commit);
  EXPECT_EQ(again->origin.processor, result.origin.processor);
  EXPECT_EQ(again->origin.date, result.origin.date);
}

TEST(Ledger, LinesWhoseTrainingsALaterVersionChangedAreCountedAndNotUsed) {
  const TempDir temp;
  TrialResult present = sample("a"), old = sample("b"), unknown = sample("c"), newer = sample("d");
  present.origin = old.origin = newer.origin = present_origin();
  old.origin.results_version = 2;
  old.options["eigenvectors"] = "4";
  ++newer.origin.results_version;
  nlohmann::json before_versions = nlohmann::json::parse(to_line(unknown));
  before_versions.erase("results_version");
  std::ofstream(temp / "ledger.jsonl") << to_line(old) << "\n"
                                       << before_versions.dump() << "\n"
                                       << to_line(newer) << "\n"
                                       << to_line(present) << "\n";
  testing::internal::CaptureStderr();
  const Ledger ledger(temp / "ledger.jsonl");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("3 of 4 lines"));
  EXPECT_EQ(ledger.old_lines(), 3U);
  EXPECT_EQ(ledger.size(), 1U);
  EXPECT_TRUE(ledger.find("a"));
  EXPECT_FALSE(ledger.find("b"));
}

TEST(Ledger, HasATrialOfAnEarlierVersionThatNoLaterOneChanged) {
  const TempDir temp;
  const TrialData data = test::small_data();
  const Trial trial{data, test::small_options(), 1, 0};
  const Trial changed{data, test::small_options({{"eigenvectors", "2"}}), 1, 0};
  const auto options = differing_options(*trial.config);
  const int64_t first = train::first_equal_version(options);
  if (first == train::kResultsVersion) GTEST_SKIP() << "the present version changed every training";
  TrialResult earlier = sample(trial_key(trial, first)), other = sample(trial_key(changed, first));
  earlier.origin.results_version = other.origin.results_version = first;
  earlier.options = options;
  other.options = differing_options(*changed.config);
  Ledger ledger(temp / "ledger.jsonl");
  EXPECT_EQ(ledger.key_of(trial), trial_key(trial));
  ledger.add(earlier);
  ledger.add(other);
  Ledger again(temp / "ledger.jsonl");
  EXPECT_EQ(again.old_lines(), 1U);
  EXPECT_EQ(again.key_of(trial), earlier.key);
  EXPECT_EQ(again.key_of(changed), trial_key(changed)) << "version 3 changed it";
  again.add(sample(trial_key(trial)));
  EXPECT_EQ(again.key_of(trial), trial_key(trial)) << "the present version comes first";
}

TEST(Ledger, OneThatCannotBeWrittenIsFoundBeforeAnyTrial) {
  const TempDir temp;
  std::filesystem::create_directories(temp / "ledger.jsonl");
  EXPECT_THROW(Ledger(temp / "ledger.jsonl"), Error);
}

}  // namespace
}  // namespace dgat::study
