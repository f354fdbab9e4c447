#include "dgat/study/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dgat/core/random.h"

namespace dgat::study {
namespace {

constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// The continued fraction of I_x(a, b), by Lentz's method; converges fast for x < (a+1)/(a+b+2).
double beta_fraction(double a, double b, double x) {
  constexpr double kTiny = 1e-300, kClose = 1e-16;
  constexpr int kMost = 500;
  const auto away_from_zero = [](double v) { return std::abs(v) < kTiny ? kTiny : v; };
  double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;
  for (int m = 1; m <= kMost; ++m) {
    const double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
    double change = 1;
    for (const double term : {even, odd}) {
      d = 1 / away_from_zero(1 + term * d);
      c = away_from_zero(1 + term / c);
      change = c * d;
      value *= change;
    }
    if (std::abs(change - 1) < kClose) break;
  }
  return value;
}

/// a - b where both are there.
std::vector<double> paired_differences(std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const double d = a[i] - b[i];
    if (std::isfinite(d)) differences.push_back(d);
  }
  return differences;
}

}  // namespace

double incomplete_beta(double a, double b, double x) {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const double scale = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return scale * beta_fraction(a, b, x) / a;
  return 1 - scale * beta_fraction(b, a, 1 - x) / b;
}

double student_p(double t, double freedom) {
  if (std::isinf(t)) return 0;
  return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

double student_quantile(double p, double freedom) {
  double low = 0, high = 1;
  while (student_p(high, freedom) > p) high *= 2;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = (low + high) / 2;
    (student_p(middle, freedom) > p ? low : high) = middle;
  }
  return high;
}

std::optional<PairedTest> corrected_paired_test(std::span<const double> a,
                                                std::span<const double> b, double test_to_train) {
  const std::vector<double> differences = paired_differences(a, b);
  if (differences.size() < 2) return std::nullopt;
  const auto pairs = static_cast<double>(differences.size());
  const double mean = std::accumulate(differences.begin(), differences.end(), 0.0) / pairs;
  double squares = 0;
  for (const double d : differences) squares += (d - mean) * (d - mean);
  const double error = std::sqrt((1 / pairs + test_to_train) * squares / (pairs - 1));
  // Equal differences that are not exact in binary leave a variance of rounding errors.
  const bool no_spread = error <= 1e-12 * std::abs(mean);
  PairedTest test;
  test.pairs = static_cast<int64_t>(differences.size());
  test.difference = mean;
  if (no_spread) {
    test.t = mean == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), mean);
  } else {
    test.t = mean / error;
  }
  test.p = no_spread && mean == 0 ? 1 : student_p(test.t, pairs - 1);
  const double reach = no_spread ? 0 : student_quantile(0.05, pairs - 1) * error;
  test.low = mean - reach;
  test.high = mean + reach;
  return test;
}

double detectable_difference(int64_t pairs, double test_to_train) {
  const auto count = static_cast<double>(pairs);
  return student_quantile(0.05, count - 1) * std::sqrt(1 / count + test_to_train);
}

PairedWins paired_wins(std::span<const double> a, std::span<const double> b) {
  PairedWins result;
  for (const double d : paired_differences(a, b)) {
    ++(d > 0 ? result.wins : d < 0 ? result.losses : result.ties);
  }
  return result;
}

std::optional<Interval> bootstrap_interval(std::span<const double> a, std::span<const double> b,
                                           uint64_t seed) {
  constexpr size_t kSamples = 10'000;
  const std::vector<double> differences = paired_differences(a, b);
  const size_t pairs = differences.size();
  if (pairs < 2) return std::nullopt;
  Random random(seed);
  std::vector<double> means(kSamples);
  for (double& mean : means) {
    double sum = 0;
    for (size_t i = 0; i < pairs; ++i) sum += differences[random.below(pairs)];
    mean = sum / static_cast<double>(pairs);
  }
  std::ranges::sort(means);
  return Interval{means[kSamples / 40], means[kSamples - 1 - kSamples / 40]};
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return p[i] < p[j]; });
  std::vector<double> adjusted(p.size());
  double largest = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    largest = std::max(largest, p[order[i]] * static_cast<double>(order.size() - i));
    adjusted[order[i]] = std::min(1.0, largest);
  }
  return adjusted;
}

std::vector<double> average_ranks(const std::vector<std::vector<double>>& rows) {
  std::vector<double> sums(rows.size(), 0);
  const size_t columns = rows.empty() ? 0 : rows.front().size();
  double counted = 0;
  for (size_t c = 0; c < columns; ++c) {
    if (std::any_of(rows.begin(), rows.end(), [c](const auto& r) { return std::isnan(r[c]); })) {
      continue;
    }
    ++counted;
    for (size_t i = 0; i < rows.size(); ++i) {
      double above = 0, equal = 0;  // equal counts the row itself
      for (const auto& other : rows) {
        above += other[c] > rows[i][c] ? 1 : 0;
        equal += other[c] == rows[i][c] ? 1 : 0;
      }
      sums[i] += above + (equal + 1) / 2;
    }
  }
  for (double& s : sums) s = counted > 0 ? s / counted : kUndefined;
  return sums;
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const auto ranks_of = [](std::span<const double> values) {
    std::vector<std::vector<double>> rows;
    for (const double v : values) rows.push_back({v});
    return average_ranks(rows);
  };
  const std::vector<double> x = ranks_of(a), y = ranks_of(b);
  const double middle = (static_cast<double>(x.size()) + 1) / 2;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - middle) * (y[i] - middle);
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : kUndefined;
}

}  // namespace dgat::study
