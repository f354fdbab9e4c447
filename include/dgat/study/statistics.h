#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// The statistics of a comparison over splits.
namespace dgat::study {

/// I_x(a, b), the regularised incomplete beta function, by its continued fraction.
/// Needs: a, b > 0 and 0 <= x <= 1. Error: about 1e-14.
double incomplete_beta(double a, double b, double x);

/// P(|T| >= |t|) for Student's t with `freedom` degrees of freedom: I_x(freedom/2, 1/2) at
/// x = freedom / (freedom + t^2).
double student_p(double t, double freedom);
/// The t with P(|T| >= t) = p, 0 < p < 1.
double student_quantile(double p, double freedom);

/// A paired comparison of two models over splits; differences are a - b.
struct PairedTest {
  int64_t pairs = 0;
  double difference = 0;     ///< mean of the differences
  double t = 0, p = 1;       ///< infinite t (p = 0) when all differences are equal and not zero
  double low = 0, high = 0;  ///< 95% interval of the difference
};

/// The corrected resampled t-test (Nadeau and Bengio 2003). Splits of one data set share training
/// nodes, so their differences d_1 .. d_J are correlated and a plain paired test gives too small
/// p-values.
///
///   t = mean(d) / sqrt((1/J + n_test/n_train) var(d)),   J - 1 degrees of freedom, two-sided
///
/// `test_to_train` = n_test/n_train; 0 gives the plain test. Pairs with a NaN are left out.
/// Nothing for fewer than two pairs.
std::optional<PairedTest> corrected_paired_test(std::span<const double> a,
                                                std::span<const double> b, double test_to_train);

/// How far the mean difference must be from 0, in standard deviations of the differences, for the
/// corrected test over `pairs` splits to give p < 0.05. Above a few, the test has no power.
double detectable_difference(int64_t pairs, double test_to_train);

/// On how many splits a is above b, equal to it, below it. Pairs with a NaN are left out.
struct PairedWins {
  int64_t wins = 0, ties = 0, losses = 0;
  int64_t pairs() const { return wins + ties + losses; }
};
PairedWins paired_wins(std::span<const double> a, std::span<const double> b);

struct Interval {
  double low = 0, high = 0;
};

/// 95% interval of the mean difference a - b by the bootstrap: the percentiles 2.5 and 97.5 of the
/// means of 10,000 samples of the pairs with replacement. It treats splits as independent, so it is
/// too narrow if they share test nodes. It says how much the difference varies over splits, not
/// over data sets. A function of its arguments alone. Nothing for fewer than two pairs.
std::optional<Interval> bootstrap_interval(std::span<const double> a, std::span<const double> b,
                                           uint64_t seed = 0);

/// Holm's adjustment of m p-values: the i-th smallest times m - i + 1, made monotone, at most 1;
/// in the order of the input.
std::vector<double> holm(std::span<const double> p);

/// Mean rank of every row over the columns, 1 = highest value; equal values share the mean of their
/// ranks. A column with a NaN in any row is left out; NaN when none is left.
/// Needs: rows of equal length.
std::vector<double> average_ranks(const std::vector<std::vector<double>>& rows);

/// Spearman's rank correlation in [-1, 1], ties sharing the mean of their ranks; NaN when one of
/// the two is constant. Needs: equal lengths, no NaN.
double rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace dgat::study
