#include "dgat/report/run_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/error.h"
#include "report/sections.h"
#include "support/heard_notices.h"
#include "support/temp_dir.h"

namespace dgat::report {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSummary = R"({"model":"dgat","dataset":"tiny","metric":"accuracy","layers":2,
  "parameters":1234,"test_mean":0.75,"test_std":0.05,"val_mean":0.8,"val_std":0.01,
  "splits":[{"split":0,"best_step":3,"train":1,"val":0.81,"test":0.7,"seconds":1.5},
            {"split":1,"best_step":2,"train":0.9,"val":0.79,"test":null,"seconds":1}],
  "depths":[{"layers":1,"val_mean":0.7,"val_std":0,"test_mean":0.6,"test_std":0},
            {"layers":2,"val_mean":0.8,"val_std":0.01,"test_mean":0.75,"test_std":0.05}],
  "seconds_per_step":0.01,"peak_rss_bytes":1000000,
  "options":{"data":"my data/it's.npz","model":"dgat","weight_decay":0.001}})";

TEST(RunRecord, HoldsTheNumbersOfTheSummary) {
  const test::TempDir dir;
  test::write_file(dir / "summary.json", kSummary);
  const RunRecord run = read_run(dir.path());
  EXPECT_EQ(run.model, "dgat");
  EXPECT_EQ(run.layers, 2);
  EXPECT_EQ(run.test_mean, 0.75);
  EXPECT_EQ(run.splits[0].val, 0.81);
  EXPECT_TRUE(std::isnan(run.splits[1].test));
  EXPECT_EQ(run.depths[1].test_mean, 0.75);
  EXPECT_EQ(run.option("weight_decay"), "0.001");
}

TEST(RunRecord, KeepsTheChosenDepthAndTheLastLineOfARepeatedStep) {
  const test::TempDir dir;
  test::write_file(dir / "summary.json", kSummary);
  test::write_file(dir / "log.jsonl",
                   R"({"layers":1,"split":0,"step":1,"loss":9,"train":0,"val":0,"test":0}
{"layers":2,"split":0,"step":1,"loss":2,"train":0.1,"val":0.2,"test":0.3}
{"layers":2,"split":0,"step":2,"loss":5,"train":0.1,"val":0.2,"test":0.3}
{"layers":2,"split":0,"step":2,"loss":1,"train":0.4,"val":null,"test":0.6}
{"layers":2,"split":0,"step":3,"lo)");
  const RunRecord run = read_run(dir.path());
  ASSERT_EQ(run.splits[0].curve.size(), 2U);
  EXPECT_EQ(run.splits[0].curve[0].loss, 2);
  EXPECT_EQ(run.splits[0].curve[1].loss, 1);
  EXPECT_TRUE(std::isnan(run.splits[0].curve[1].val));
  EXPECT_TRUE(run.splits[1].curve.empty());
}

TEST(RunRecord, LinesOfTheLogThatCannotBeReadAreCounted) {
  const test::TempDir dir;
  test::write_file(dir / "summary.json", kSummary);
  const std::string good =
      R"({"layers":2,"split":0,"step":1,"loss":2,"train":0.1,"val":0.2,"test":0.3})";
  const std::string cut = R"({"layers":2,"split":0,"st)";
  test::write_file(dir / "log.jsonl", good + "\n" + cut);
  {
    const test::HeardNotices heard;
    EXPECT_EQ(read_run(dir.path()).splits[0].curve.size(), 1U);
    EXPECT_EQ(heard.text, "") << "a killed training leaves a line without its end";
  }
  const std::string wrong = R"({"layers":2,"split":0,"step":"one","loss":2})";
  test::write_file(dir / "log.jsonl",
                   std::string(300000, '[') + "\n" + wrong + "\n" + good + "\n" + cut);
  const test::HeardNotices heard;
  EXPECT_EQ(read_run(dir.path()).splits[0].curve.size(), 1U);
  EXPECT_THAT(heard.text, HasSubstr("log.jsonl: 2 lines are no evaluations"));
}

TEST(RunRecord, LongCurvesAreThinnedAndSaySo) {
  RunRecord run;
  run.splits.resize(1);
  for (int64_t step = 1; step <= 1234; ++step) {
    run.splits[0].curve.push_back({step, 1.0 / static_cast<double>(step), 0, 0, 0});
  }
  const auto chart = std::get<LineChart>(learning_section(run).blocks[0]);
  EXPECT_LE(chart.lines[0].x.size(), 501U);
  EXPECT_EQ(chart.lines[0].x.back(), 1234);
  EXPECT_EQ(chart.lines[0].y.back(), 1.0 / 1234);
  EXPECT_THAT(chart.note, HasSubstr("One of every 3 of the 1,234"));
}

TEST(RunRecord, TheCommandLineIsQuotedForAShell) {
  const test::TempDir dir;
  test::write_file(dir / "summary.json", kSummary);
  EXPECT_EQ(command_line(read_run(dir.path())),
            R"(dgat train 'my data/it'\''s.npz' --model dgat --weight-decay 0.001)");
  RunRecord run;
  run.options = {{"data", "a.npz"}, {"directed", "on"}, {"directional", "off"}};
  EXPECT_EQ(command_line(run), "dgat train a.npz --directed --directional off");
  run.options[1].second = "off";
  EXPECT_EQ(command_line(run), "dgat train a.npz --directional off");
}

TEST(RunRecord, ABrokenSummaryIsRefusedWithFileAndKey) {
  const test::TempDir dir;
  EXPECT_THROW(read_run(dir.path()), InputError);
  for (const auto& [text, expected] : std::vector<std::pair<std::string, std::string>>{
           {"[]", "not a JSON object"},
           {"{\"model\":1}", "'model'"},
           {R"({"model":"a","dataset":"b","metric":"c"})", "'splits'"}}) {
    test::write_file(dir / "summary.json", text);
    try {
      read_run(dir.path());
      FAIL() << text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("summary.json"));
      EXPECT_THAT(error.what(), HasSubstr(expected));
    }
  }
}

}  // namespace
}  // namespace dgat::report
