#include "dgat/synth/mixhop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/components.h"
#include "dgat/graph/degrees.h"
#include "dgat/graph/homophily.h"
#include "same_dataset.h"

namespace dgat::synth {
namespace {

using graph::NodeId;

graph::Homophily homophily(const data::Dataset& set) {
  return graph::measure_homophily(set.graph, set.labels, set.classes);
}

TEST(Mixhop, EdgeHomophilyFollowsMu) {
  for (int step = 0; step <= 10; ++step) {
    const double mu = 0.1 * step;
    const data::Dataset set = mixhop({.mu = mu, .splits = 0, .seed = 7});
    // 30,000 edges: the deviation of the share is under 0.003, growth adds a little.
    EXPECT_NEAR(homophily(set).edge, mu, 0.015) << mu;
  }
}

TEST(Mixhop, EveryNewNodeBringsItsEdges) {
  const data::Dataset set = mixhop({.splits = 0});
  EXPECT_EQ(set.graph.nodes(), 5000);
  EXPECT_EQ(set.graph.edges(), 39 + (5000 - 40) * 6);
  for (NodeId i = 40; i < 5000; ++i) EXPECT_GE(set.graph.degree(i), 6);
  EXPECT_EQ(graph::connected_components(set.graph).count(), 1);
}

TEST(Mixhop, MuZeroNeverJoinsEqualClasses) {
  EXPECT_EQ(homophily(mixhop({.mu = 0, .nodes = 3000, .splits = 0})).edge, 0);
  const data::Dataset two = mixhop({.mu = 0, .nodes = 500, .classes = 2, .splits = 0});
  EXPECT_EQ(homophily(two).edge, 0);
  EXPECT_EQ(two.graph.edges(), 39 + 460 * 6);
}

TEST(Mixhop, MuOneJoinsOtherClassesOnlyOnTheStartPath) {
  const data::Dataset set = mixhop({.mu = 1, .nodes = 3000, .splits = 0});
  int64_t mixed = 0;
  for (const graph::Edge e : set.graph.edge_list()) {
    if (set.labels[static_cast<size_t>(e.from)] == set.labels[static_cast<size_t>(e.to)]) continue;
    ++mixed;
    EXPECT_LT(std::max(e.from, e.to), 40);
  }
  EXPECT_EQ(mixed, 39);
  // Four start nodes per class: the first two newcomers of a class find 4 and 5 candidates.
  EXPECT_EQ(set.graph.edges(), 39 + (3000 - 40) * 6 - 10 * (2 + 1));
}

TEST(Mixhop, OtherClassesAreHalfAsLikelyWithEveryStep) {
  const data::Dataset set = mixhop({.mu = 0.2, .nodes = 20000, .splits = 0});
  const auto compatibility = homophily(set).compatibility;
  // Shares 16:8:4:2 at distance 1..4 on both sides and 1 opposite, so 61 in all.
  for (size_t z = 0; z < 10; ++z) {
    for (size_t k = 1; k < 10; ++k) {
      const double expected = 0.8 * std::exp2(5.0 - static_cast<double>(std::min(k, 10 - k))) / 61;
      EXPECT_NEAR(compatibility[z * 10 + (z + k) % 10], expected, 0.1 * expected + 0.004);
    }
  }
}

TEST(Mixhop, ClassesAreEven) {
  const data::Dataset set = mixhop({.nodes = 1234, .classes = 7, .splits = 0});
  const auto counts = homophily(set).class_counts;
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  EXPECT_EQ(set.classes, 7);
  EXPECT_LE(*most - *least, 1);
}

TEST(Mixhop, DegreesHaveThePreferentialTail) {
  const data::Dataset set = mixhop({.mu = 0.5, .nodes = 50000, .splits = 0});
  const auto at_least = [&](int64_t k) {
    double count = 0;
    for (NodeId i = 0; i < set.graph.nodes(); ++i) count += set.graph.degree(i) >= k ? 1 : 0;
    return count;
  };
  // P(d >= k) = m (m+1) / (k (k+1)) in the limit for m edges per node: k^-3 for the density.
  for (const int64_t k : {12, 24, 48, 96}) {
    const double expected = 42.0 / static_cast<double>(k * (k + 1));
    EXPECT_NEAR(at_least(k) / 50000 / expected, 1, 0.15) << k;
  }
  EXPECT_GT(graph::degree_summary(set.graph).max, 300);
}

TEST(Mixhop, FeaturesHaveTheMomentsOfTheirClass) {
  const data::Dataset set = mixhop({.nodes = 40000, .classes = 4, .splits = 0});
  const auto x = set.features.values();
  for (int32_t z = 0; z < 4; ++z) {
    const double t = std::numbers::pi / 2 * z;
    double n = 0, across = 0, along = 0, across2 = 0, along2 = 0, cross = 0;
    for (size_t i = 0; i < set.labels.size(); ++i) {
      if (set.labels[i] != z) continue;
      const double a = x[2 * i] * std::sin(t) + x[2 * i + 1] * std::cos(t) - 300;
      const double b = x[2 * i] * std::cos(t) - x[2 * i + 1] * std::sin(t);
      ++n, across += a, along += b, across2 += a * a, along2 += b * b, cross += a * b;
    }
    EXPECT_NEAR(across / n, 0, 4 * std::sqrt(7000 / n));
    EXPECT_NEAR(along / n, 0, 4 * std::sqrt(24500 / n));
    EXPECT_NEAR(across2 / n / 7000, 1, 0.06);  // 4 deviations of a chi-squared mean
    EXPECT_NEAR(along2 / n / 24500, 1, 0.06);
    EXPECT_NEAR(cross / n / std::sqrt(7000.0 * 24500.0), 0, 0.04);
  }
}

TEST(Mixhop, SplitsAreSixtyTwentyTwenty) {
  const data::Dataset set = mixhop({});
  ASSERT_EQ(set.splits.size(), 10U);
  for (const data::Split& split : set.splits) {
    EXPECT_EQ(split.train.size(), 3000U);
    EXPECT_EQ(split.val.size(), 1000U);
    EXPECT_EQ(split.test.size(), 1000U);
  }
}

TEST(Mixhop, IsAFunctionOfTheSeedAlone) {
  const auto make = [](int threads, uint64_t seed) {
    const ThreadScope scope(threads);
    return mixhop({.mu = 0.3, .nodes = 9000, .splits = 2, .seed = seed});
  };
  const data::Dataset one = make(1, 5);
  EXPECT_TRUE(test::same_dataset(one, make(2, 5)));
  EXPECT_TRUE(test::same_dataset(one, make(4, 5)));
  EXPECT_FALSE(make(1, 6).graph == one.graph);
}

TEST(Mixhop, RefusesWhatCannotBe) {
  const auto message = [](const MixhopOptions& options) -> std::string {
    try {
      mixhop(options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(message({.mu = 1.5}), "mixhop: mu must lie in [0, 1], got 1.5");
  EXPECT_EQ(message({.mu = std::nan("")}), "mixhop: mu must lie in [0, 1], got nan");
  EXPECT_EQ(message({.classes = 1}), "mixhop: at least 2 classes are needed, got 1");
  EXPECT_EQ(message({.classes = 50}),
            "mixhop: 50 classes do not fit on 40 start nodes; raise start to 50 or more");
  EXPECT_EQ(message({.nodes = 20}),
            "mixhop: 20 nodes are fewer than the 40 start nodes; lower start or raise nodes");
  EXPECT_EQ(message({.edges_per_node = 0}), "mixhop: a new node needs at least 1 edge, got 0");
}

}  // namespace
}  // namespace dgat::synth
