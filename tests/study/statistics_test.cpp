#include "dgat/study/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numbers>

#include "dgat/study/table.h"

namespace dgat::study {
namespace {
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Statistics, IncompleteBetaHasItsClosedForms) {
  for (const double x : {0.0, 0.01, 0.3, 0.5, 0.77, 0.999, 1.0}) {
    EXPECT_NEAR(incomplete_beta(1, 1, x), x, 1e-14);
    EXPECT_NEAR(incomplete_beta(3, 1, x), x * x * x, 1e-14);
    EXPECT_NEAR(incomplete_beta(1, 4, x), 1 - std::pow(1 - x, 4), 1e-14);
    EXPECT_NEAR(incomplete_beta(0.5, 0.5, x), 2 / std::numbers::pi * std::asin(std::sqrt(x)),
                1e-13);
    EXPECT_NEAR(incomplete_beta(2.5, 7, x) + incomplete_beta(7, 2.5, 1 - x), 1, 1e-13);
  }
}

TEST(Statistics, StudentHasItsClosedFormsForOneAndTwoDegreesOfFreedom) {
  for (const double t : {0.0, 0.2, 1.0, 2.5, 40.0}) {
    EXPECT_NEAR(student_p(t, 1), 1 - 2 / std::numbers::pi * std::atan(t), 1e-13);
    EXPECT_NEAR(student_p(t, 2), 1 - t / std::sqrt(2 + t * t), 1e-13);
    EXPECT_EQ(student_p(t, 5), student_p(-t, 5));
  }
  EXPECT_NEAR(student_quantile(0.5, 1), 1, 1e-12);
  EXPECT_NEAR(student_quantile(0.05, 9), 2.262157162740992, 1e-10);
}

TEST(Statistics, CorrectedTestOfAWorkedExample) {
  const std::vector<double> d = {1.2, .4, -.3, 2.1, .8, 1.5, .2, .9, -.1, 1.1}, zero(10, 0.0);
  const auto corrected = corrected_paired_test(d, zero, 0.417);
  ASSERT_TRUE(corrected);
  EXPECT_NEAR(corrected->t, 1.458916, 1e-6);
  EXPECT_NEAR(corrected->p, 0.178588, 1e-6);
  EXPECT_NEAR(corrected->difference, 0.78, 1e-12);
  const auto plain = corrected_paired_test(d, zero, 0);
  EXPECT_NEAR(plain->t, 3.317231, 1e-6);
  EXPECT_NEAR(plain->p, 0.008980, 1e-6);
  EXPECT_NEAR(plain->t / corrected->t, std::sqrt(1 + 10 * 0.417), 1e-12);
  // The interval ends where p would be 0.05.
  const double low = corrected->low;
  std::vector<double> moved = d;
  for (double& x : moved) x -= low;
  EXPECT_NEAR(corrected_paired_test(moved, zero, 0.417)->p, 0.05, 1e-9);
}

TEST(Statistics, PairedTestKnowsItsEdges) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(corrected_paired_test(std::vector{1.0}, std::vector{2.0}, 0.5));
  EXPECT_FALSE(corrected_paired_test(std::vector{1.0, nan}, std::vector{2.0, 3.0}, 0.5));
  const auto same = corrected_paired_test(std::vector{1.0, 2.0}, std::vector{1.0, 2.0}, 0.5);
  EXPECT_EQ(same->p, 1);
  EXPECT_EQ(same->t, 0);
  const auto shifted =
      corrected_paired_test(std::vector{0.1, 0.2, 0.3}, std::vector{0.2, 0.3, 0.4}, 0.5);
  EXPECT_EQ(shifted->p, 0);
  EXPECT_EQ(shifted->t, -std::numeric_limits<double>::infinity());
}

TEST(Statistics, HolmAdjustsStepByStep) {
  EXPECT_THAT(holm(std::vector{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(testing::DoubleEq(0.03), testing::DoubleEq(0.06), testing::DoubleEq(0.06),
                          testing::DoubleEq(0.02)));
  EXPECT_THAT(holm(std::vector{0.6, 0.7}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
}

TEST(Statistics, RanksSumToTheirTotalAndSplitTies) {
  EXPECT_THAT(average_ranks({{3, 1}, {2, 1}, {1, 5}}), ElementsAre(1.75, 2.25, 2));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THAT(average_ranks({{3, nan}, {4, 1}}), ElementsAre(2, 1));
  EXPECT_TRUE(std::isnan(average_ranks({{nan}, {1}})[0]));
}

TEST(Statistics, RankCorrelationOfTiesIsThatOfTheirMeanRanks) {
  // Ranks 1, 2.5, 2.5, 4 and 1, 2, 3.5, 3.5: products of the deviations sum to 3.75, squares
  // to 4.5.
  const std::vector<double> a = {1, 2, 2, 3}, b = {10, 20, 30, 30};
  EXPECT_NEAR(rank_correlation(a, b), 3.75 / 4.5, 1e-12);
}

TEST(Statistics, RankCorrelationSeesOrderOnly) {
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector{1.0, 2.0, 9.0}, std::vector{0.1, 0.2, 0.3}), 1);
  EXPECT_DOUBLE_EQ(rank_correlation(std::vector{1.0, 2.0, 9.0}, std::vector{3.0, 2.0, -4.0}), -1);
  // 1 - 6 sum d^2 / (n (n^2 - 1)) without ties.
  EXPECT_DOUBLE_EQ(
      rank_correlation(std::vector{1.0, 2.0, 3.0, 4.0}, std::vector{2.0, 1.0, 4.0, 3.0}), 0.6);
  EXPECT_TRUE(std::isnan(rank_correlation(std::vector{1.0, 1.0}, std::vector{1.0, 2.0})));
}

TEST(Statistics, TheCorrectedTestHasNoPowerWithFewTrainingNodes) {
  // t_9(0.05) = 2.2622.
  EXPECT_NEAR(detectable_difference(10, 1.0 / 3), 2.262157 * std::sqrt(0.1 + 1.0 / 3), 1e-6);
  EXPECT_NEAR(detectable_difference(10, 25), 11.333, 1e-3);
  // A mean just above that many deviations is significant, one just below is not.
  std::vector<double> d = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, zero(10, 0.0);
  const double deviation = std::sqrt(82.5 / 9), needed = detectable_difference(10, 2) * deviation;
  for (double& x : d) x += 1.001 * needed - 5.5;
  EXPECT_LT(corrected_paired_test(d, zero, 2)->p, 0.05);
  for (double& x : d) x -= 0.002 * needed;
  EXPECT_GT(corrected_paired_test(d, zero, 2)->p, 0.05);
}

TEST(Statistics, WinsAreCountedWherePairsAreWhole) {
  const PairedWins wins = paired_wins(std::vector{1.0, 2.0, 3.0, std::nan(""), 5.0},
                                      std::vector{0.0, 2.0, 4.0, 1.0, 1.0});
  EXPECT_EQ(wins.wins, 2);
  EXPECT_EQ(wins.ties, 1);
  EXPECT_EQ(wins.losses, 1);
  EXPECT_EQ(wins.pairs(), 4);
}

TEST(Statistics, BootstrapIntervalOfTwoPairsHasKnownEnds) {
  // Differences 0 and 1: samples have mean 0, 1/2 and 1 with probability 1/4, 1/2, 1/4.
  const auto two = bootstrap_interval(std::vector{1.0, 3.0}, std::vector{1.0, 2.0});
  ASSERT_TRUE(two);
  EXPECT_EQ(two->low, 0);
  EXPECT_EQ(two->high, 1);
  const auto equal = bootstrap_interval(std::vector{1.5, 2.5, 7.5}, std::vector{1.0, 2.0, 7.0});
  EXPECT_EQ(equal->low, 0.5);
  EXPECT_EQ(equal->high, 0.5);
  EXPECT_FALSE(bootstrap_interval(std::vector{1.0}, std::vector{2.0}));
}

TEST(Statistics, BootstrapIntervalNearsTheNormalOneForManyPairs) {
  std::vector<double> d, zero(400, 0.0);
  for (int i = 0; i < 400; ++i) d.push_back(0.3 + std::sin(i));  // variance 1/2
  const auto interval = bootstrap_interval(d, zero);
  const double reach = 1.96 * std::sqrt(0.5 / 400);
  // The ends are quantiles of 10,000 samples; their standard error is about 0.03 deviations.
  EXPECT_NEAR(interval->low, 0.3 - reach, 0.006);
  EXPECT_NEAR(interval->high, 0.3 + reach, 0.006);
  const auto again = bootstrap_interval(d, zero);
  EXPECT_EQ(interval->low, again->low) << "a function of its arguments";
}

TEST(Table, ATerminalWrapsWordsAndThenColumns) {
  Table words = Table::of({"name", "n", "text"});
  words.row({"α", "12", "one two three four five six seven"});
  words.row({"b", "3", "short"});
  EXPECT_EQ(words.terminal({.width = 26}),
            "name   n  text\n"
            "--------------------------\n"
            "α     12  one two three\n"
            "          four five six\n"
            "          seven\n"
            "b      3  short\n");
  Table numbers = Table::of({"name", "first", "second", "third"});
  numbers.row({"a", "1.5", "22.5", "333.5"});
  numbers.notes.emplace_back("a note that is too long");
  EXPECT_EQ(numbers.terminal({.width = 20}),
            "name  first  second\n"
            "-------------------\n"
            "a       1.5    22.5\n"
            "\n"
            "name  third\n"
            "-----------\n"
            "a     333.5\n"
            "\n"
            "a note that is too\n"
            "long\n");
  EXPECT_EQ(numbers.terminal(), numbers.terminal({.width = 60})) << "nothing to wrap";
}

TEST(Table, ColoursDoNotMoveColumns) {
  Table table = Table::of({"model", "test"});
  table.row({"gat", Cell::number(5)});
  table.row({"dgat", Cell::number(12)});
  mark_best(table, "test");
  std::string coloured = table.terminal({.colours = true});
  EXPECT_THAT(coloured, HasSubstr("\x1b[1;32m12.00\x1b[0m"));
  for (size_t at = 0; (at = coloured.find('\x1b')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, table.terminal());
}

TEST(Table, EveryFormatHasTheNumbers) {
  Table table{"A|B",
              {{"model", "model"}, {"test", "test"}, {"on", "on"}, {"d", "change"}},
              {},
              {"50% done"}};
  table.rows.push_back(
      {"gat_x", Cell::mean_std(42.0949, 2.65), Cell::check(true), Cell::difference(0.5)});
  table.rows.push_back(
      {"a,\"b\"", Cell::mean_std(30, std::nan("")), Cell::check(false), Cell::difference(-0.001)});
  mark_best(table, "test");
  EXPECT_THAT(table.terminal(), HasSubstr("42.09 ± 2.65   ✓   +0.50"));
  EXPECT_THAT(table.markdown(), HasSubstr("| gat_x | **42.09 ± 2.65** | ✓ | +0.50 |"));
  EXPECT_THAT(table.markdown(), HasSubstr("### A\\|B"));
  EXPECT_THAT(table.markdown(), HasSubstr("| 30.00 |  | 0.00 |")) << "minus zero is zero";
  EXPECT_THAT(table.latex(), HasSubstr("gat\\_x & \\textbf{42.09 $\\pm$ 2.65} & \\checkmark"));
  EXPECT_THAT(table.latex(), HasSubstr("50\\% done"));
  EXPECT_EQ(table.csv(),
            "model,test_mean,test_std,on,d\ngat_x,42.0949,2.65,1,0.5\n"
            "\"a,\"\"b\"\"\",30,,0,-0.001\n");
  const auto json = nlohmann::json::parse(table.json());
  EXPECT_EQ(json["rows"][0]["test"]["mean"], 42.0949);
  EXPECT_TRUE(json["rows"][1]["test"]["std"].is_null());
  EXPECT_EQ(json["rows"][1]["on"], false);
}

TEST(Table, LatexKnowsTheSignsThatTablesUse) {
  const Table table{"A.", {{"d", "σ"}}, {{Cell::number(1)}}, {"B ± C."}};
  EXPECT_THAT(table.latex(), HasSubstr("$\\sigma$"));
  EXPECT_THAT(table.latex(), HasSubstr("\\caption{A. B $\\pm$ C.}"));
}

}  // namespace
}  // namespace dgat::study
