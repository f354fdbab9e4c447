#include "dgat/report/study_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/error.h"
#include "report/read_json.h"
#include "report/search_history.h"
#include "report/study_sections.h"
#include "support/temp_dir.h"

namespace dgat::report {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class T>
const T* block(const std::vector<Section>& sections, const std::string& title) {
  for (const Section& section : sections) {
    for (const Block& each : section.blocks) {
      const T* found = std::get_if<T>(&each);
      if (found != nullptr && found->title == title) return found;
    }
  }
  return nullptr;
}

/// Two rows on three splits, one of them not finished on the last; a third failed.
Json comparison() {
  return Json::parse(R"({"study":"compare","dataset":"texas","metric":"accuracy","splits":3,
    "seconds":12,"trials_left":1,"machine":"a machine","reference":"dgat","rows":[
    {"name":"gat","failure":null,"test_mean":0.5,"test_std":0.1,"trials":3,
     "choices":[{"candidate":0,"layers":1,"val_mean":0.6},{"candidate":0,"layers":2,"val_mean":0.4},
                {"candidate":1,"layers":2,"val_mean":0.5}],
     "splits":[{"split":0,"test":0.4},{"split":1,"test":0.6}],"options":{"lr":"0.01"},"layers":1,
     "versus_reference":{"difference":-0.2,"low":-0.3,"high":-0.1,"p":0.01,"p_holm":0.01},
     "published":{"mean":52.5,"std":1.5}},
    {"name":"dgat","failure":null,"test_mean":0.7,"test_std":0.0,"choices":[],
     "splits":[{"split":0,"test":0.7},{"split":1,"test":0.7},{"split":2,"test":0.7}],
     "versus_reference":null,"published":null},
    {"name":"gt","failure":"too little memory","choices":[],"splits":[]}],
    "table":{"title":"compare on texas","notes":["One.","Two."],
     "columns":[{"key":"model","heading":"model"},{"key":"test","heading":"test"},
                {"key":"layers","heading":"layers"}],
     "rows":[{"model":"gat","test":{"mean":50.0,"std":10.0},"layers":1},
             {"model":"gt","test":"failed","layers":null}]}})");
}

TEST(StudyPage, DotsAreMeansWithSplitsAndPublishedValuesBestFirst) {
  const auto sections = comparison_sections(comparison());
  const auto* chart = block<DotChart>(sections, "Test accuracy");
  ASSERT_NE(chart, nullptr);
  ASSERT_EQ(chart->dots.size(), 2U);  // the failed row has no dot
  EXPECT_EQ(chart->dots[0].label, "dgat");
  EXPECT_FALSE(chart->dots[0].reference);
  const Dot& gat = chart->dots[1];
  EXPECT_DOUBLE_EQ(gat.low, 0.4);
  EXPECT_DOUBLE_EQ(gat.high, 0.6);
  EXPECT_DOUBLE_EQ(*gat.reference, 0.525);
  EXPECT_DOUBLE_EQ(gat.reference_spread, 0.015);
  ASSERT_EQ(gat.samples.size(), 3U);
  EXPECT_EQ(gat.samples[1], 0.6);
  EXPECT_TRUE(std::isnan(gat.samples[2]));
}

TEST(StudyPage, DifferencesCarryTheirIntervals) {
  const auto sections = comparison_sections(comparison());
  const auto* chart = block<DotChart>(sections, "Difference to dgat");
  ASSERT_NE(chart, nullptr);
  ASSERT_EQ(chart->dots.size(), 1U);
  EXPECT_EQ(chart->dots[0].value, -0.2);
  EXPECT_EQ(chart->dots[0].high, -0.1);
  EXPECT_EQ(chart->markers[0].at, 0);
}

TEST(StudyPage, DepthsShowTheBestCandidateOfEach) {
  const auto sections = comparison_sections(comparison());
  const auto* chart = block<LineChart>(sections, "Validation by depth");
  ASSERT_NE(chart, nullptr);
  EXPECT_EQ(chart->lines[0].x, (std::vector<double>{1, 2}));
  EXPECT_EQ(chart->lines[0].y, (std::vector<double>{0.6, 0.5}));
}

TEST(StudyPage, TablesKeepMeanAndDeviationApart) {
  const Table table = study_table(comparison().at("table"));
  EXPECT_EQ(table.note, "One.\nTwo.");
  ASSERT_EQ(table.columns.size(), 4U);
  EXPECT_EQ(table.columns[3].format, Format::kInteger);
  EXPECT_EQ(std::get<double>(table.rows[0][1]), 50.0);
  EXPECT_EQ(std::get<double>(table.rows[0][2]), 10.0);
  EXPECT_EQ(std::get<std::string>(table.rows[1][1]), "failed");
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
}

TEST(StudyPage, AnAblationKeepsItsOrderAndShowsItsSwitches) {
  Json study = comparison();
  study["study"] = "ablate";
  study["rows"][0]["switches"] = {{"laplacian", false}, {"directional", false}, {"rewire", false}};
  study["rows"][1]["switches"] = {{"laplacian", true}, {"directional", true}, {"rewire", false}};
  const DotChart chart = test_chart(study, "ablation");
  EXPECT_EQ(chart.dots[0].label, "gat");
  EXPECT_THAT(chart.dots[1].marks, ElementsAre(true, true, false));
  EXPECT_EQ(chart.mark_names.size(), 3U);
}

TEST(StudyPage, RowsThatDifferInGammaMakeACurve) {
  Json study = comparison();
  study["rows"][0]["name"] = "dgat:gamma=1:rewire=add";
  study["rows"][1]["name"] = "dgat:gamma=0.1:rewire=add";
  const LineChart chart = gamma_chart(study, "curve");
  ASSERT_EQ(chart.lines.size(), 1U);
  EXPECT_EQ(chart.lines[0].name, "dgat:rewire=add");
  EXPECT_EQ(chart.lines[0].x, (std::vector<double>{0.1, 1}));
  EXPECT_EQ(chart.lines[0].y, (std::vector<double>{0.7, 0.5}));
}

TEST(StudyPage, AReproductionShowsItsDistanceFromThePaper) {
  Json study = {{"study", "reproduce"}, {"table", "small"}};
  study["studies"] = Json::array({comparison()});
  study["tables"] = Json::parse(R"([{"title":"Beside","notes":[],
    "columns":[{"key":"dataset","heading":"d"},{"key":"model","heading":"m"},
               {"key":"deviations","heading":"s"}],
    "rows":[{"dataset":"texas","model":"gat","deviations":-1.5},
            {"dataset":"cora","model":"dgat","deviations":2.0}]}])");
  const auto sections = reproduction_sections(study);
  const auto* map = block<Heatmap>(sections, "Ours minus published, in standard deviations");
  ASSERT_NE(map, nullptr);
  EXPECT_TRUE(map->diverging);
  EXPECT_THAT(map->columns, ElementsAre("texas", "cora"));
  EXPECT_EQ(map->values[0], -1.5);
  EXPECT_TRUE(std::isnan(map->values[1]));
  EXPECT_EQ(map->values[3], 2.0);
  EXPECT_NE(block<DotChart>(sections, "Test metric on texas"), nullptr);
}

std::string trial(const std::string& options, int split, double val) {
  return R"({"key":"k","dataset":"d","model":"dgat","layers":2,"split":)" + std::to_string(split) +
         R"(,"metric":"accuracy","best_step":1,"train":1,"val":)" + std::to_string(val) +
         R"(,"test":null,"steps":5,"seconds":10,"parameters":1,"peak_rss_bytes":1,"jobs":1,)" +
         R"("options":)" + options + "}\n";
}

TEST(SearchHistory, ARungEndsWithItsLastSplit) {
  const test::TempDir dir;
  const std::string first = R"({"gamma":"0.1","steps":"50"})",
                    full = R"({"gamma":"0.1","steps":"200"})";
  test::write_file(dir / "ledger.jsonl", trial(first, 0, 0.5) + "{damaged\n" +
                                             trial(R"({"gamma":"0.3","steps":"50"})", 0, 0.25) +
                                             trial(full, 0, 0.5) + trial(full, 1, 1.0));
  const std::vector<SearchRung> rungs = {{50, 1}, {200, 1}, {200, 2}};
  const auto events = search_history(dir / "ledger.jsonl", rungs);
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[1].rung, 0U);
  EXPECT_EQ(events[1].seconds, 20);
  EXPECT_EQ(events[2].rung, 1U);
  EXPECT_EQ(events[3].rung, 2U);
  EXPECT_EQ(events[3].seconds, 40);
  EXPECT_EQ(events[3].val, 0.75);
  EXPECT_TRUE(search_history(dir / "nothing.jsonl", rungs).empty());
}

constexpr const char* kSearch = R"({"dataset":"texas","model":"dgat","metric":"accuracy",
  "ended":"budget","seconds":60,"machine":"m","repeated_graphs":1,
  "rungs":[{"steps":50,"splits":1},{"steps":200,"splits":2}],
  "winner":{"options":{"gamma":"0.1"},"val":[0.5,0.75]},
  "gamma_sensitivity":[{"gamma":0.1,"candidates":2,"best":0.5,"mean":0.4},
                       {"gamma":1,"candidates":1,"best":0.25,"mean":0.25}],
  "candidates":[{"options":{"gamma":"0.1"},"val":[0.5,0.75],"advice_rank":1,"failure":null},
                {"options":{"gamma":"0.1","lr":"1"},"val":[0.3],"advice_rank":2,"failure":null},
                {"options":{"gamma":"1"},"val":[0.25],"advice_rank":3,"failure":null}]})";

TEST(StudyPage, ASearchShowsRungsSensitivityAndHowTheAdviceHeld) {
  const auto sections = tune_sections(Json::parse(kSearch), "no ledger");
  EXPECT_EQ(block<BarChart>(sections, "Candidates per rung")->series[0].values,
            (std::vector<double>{3, 1}));
  EXPECT_EQ(block<LineChart>(sections, "Sensitivity to γ")->lines[1].y,
            (std::vector<double>{0.4, 0.25}));
  EXPECT_THAT(block<LineChart>(sections, "Advice against training")->note, HasSubstr("-1.00"));
  const auto* options = block<Table>(sections, "Validation by option");
  EXPECT_EQ(std::get<std::string>(options->rows[0][1]), "0.1");
  EXPECT_EQ(std::get<double>(options->rows[0][4]), 0.4);
  EXPECT_EQ(block<LineChart>(sections, "Search history"), nullptr);
}

TEST(StudyPage, AdviceIsAMapOverGammaAndRewiring) {
  const auto sections = advice_sections(Json::parse(R"({"dataset":"texas","split":0,"clear":true,
    "best":{"gamma":0.1,"alpha":1,"rewire":"add","epsilon":null},"reason":"Because.",
    "gammas":[{"gamma":1,"score":0.2},{"gamma":0.1,"score":0.3}],
    "candidates":[{"gamma":0.1,"alpha":1,"rewire":"add","epsilon":null,"score":0.3,"gain":0.1,
                   "gain_error":0.02,"repeated":false},
                  {"gamma":1,"alpha":1,"rewire":"prune-far","epsilon":"q0.5","score":0.2,
                   "gain":0.0,"gain_error":null,"repeated":true}]})"));
  EXPECT_EQ(sections[0].text, "Because.");
  const auto* map = block<Heatmap>(sections, "Score by γ and rewiring");
  EXPECT_THAT(map->rows, ElementsAre("0.1", "1"));
  EXPECT_THAT(map->columns, ElementsAre("add", "prune-far q0.5"));
  EXPECT_EQ(map->values[0], 0.3);
  EXPECT_EQ(map->values[3], 0.2);
  const auto* gains = block<DotChart>(sections, "Best candidates");
  ASSERT_EQ(gains->dots.size(), 1U);  // the repeated graph is left out
  EXPECT_DOUBLE_EQ(gains->dots[0].high, 0.12);
  EXPECT_EQ(block<LineChart>(sections, "Score over γ")->lines[0].x, (std::vector<double>{0.1, 1}));
}

TEST(StudyPage, FindsEveryStudyOfAFolderByItsContent) {
  const test::TempDir dir;
  const std::vector<std::filesystem::path> paths = {dir.path()};
  EXPECT_FALSE(holds_study(dir.path()));
  EXPECT_THROW(study_page(paths), InputError);
  test::write_file(dir / "renamed.json", comparison().dump());
  test::write_file(dir / "tune.json", kSearch);
  test::write_file(dir / "other.json", "[1, 2");
  EXPECT_TRUE(holds_study(dir.path()));
  const Page page = study_page(paths);
  EXPECT_EQ(page.title, "compare on texas; tune dgat on texas");
  EXPECT_EQ(page.sections.size(), 4U);
  write_study_page(dir.path());
  EXPECT_TRUE(std::filesystem::exists(dir / "report.html"));
}

TEST(StudyPage, AnythingMissingLeavesAPage) {
  for (const char* text : {R"({"study":"compare"})", R"({"study":"reproduce","studies":[{}]})",
                           R"({"rungs":[{}],"candidates":[{}]})",
                           R"({"choice":1,"candidates":[{}]})", R"({"datasets":[{"rho":null}]})"}) {
    const test::TempDir dir;
    test::write_file(dir / "a.json", text);
    const std::filesystem::path path = dir.path();
    EXPECT_FALSE(to_json(study_page({&path, 1})).empty()) << text;
  }
}

}  // namespace
}  // namespace dgat::report
