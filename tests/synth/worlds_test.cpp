#include "dgat/synth/worlds.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/components.h"
#include "dgat/graph/homophily.h"
#include "dgat/spectral/eigensolver.h"
#include "same_dataset.h"

namespace dgat::synth {
namespace {

/// Shares of the edges, each edge counted once.
struct EdgeShares {
  double edges = 0, crossing = 0, same_role = 0, further = 0;
};

EdgeShares measure(const data::Dataset& set) {
  EdgeShares shares;
  for (graph::NodeId i = 0; i < set.graph.nodes(); ++i) {
    for (const graph::NodeId j : set.graph.neighbors(i)) {
      if (j < i) continue;
      const int32_t a = set.labels[static_cast<size_t>(i)], b = set.labels[static_cast<size_t>(j)];
      shares.edges += 1;
      shares.crossing += a / 2 != b / 2 ? 1 : 0;
      shares.further += std::abs(a / 2 - b / 2) > 1 ? 1 : 0;
      shares.same_role += a % 2 == b % 2 ? 1 : 0;
    }
  }
  shares.crossing /= shares.edges;
  shares.same_role /= shares.edges;
  return shares;
}

/// Five standard errors of a share p of n, and room for draws that were repeated and dropped.
double tolerance(double p, double n) {
  return 5 * std::sqrt(p * (1 - p) / n) + 0.002;
}

TEST(Worlds, EdgesCrossAndAgreeAsOftenAsAsked) {
  for (const int worlds : {2, 5}) {
    for (const double crossing : {0.0, 0.03, 0.4}) {
      for (const double homophily : {0.0, 0.05, 0.7, 1.0}) {
        const data::Dataset set = synth::worlds({.nodes = 10000,
                                                 .worlds = worlds,
                                                 .crossing = crossing,
                                                 .homophily = homophily,
                                                 .splits = 0,
                                                 .seed = 3});
        const EdgeShares shares = measure(set);
        EXPECT_EQ(shares.edges, 40000);
        EXPECT_NEAR(shares.crossing, crossing, tolerance(crossing, 40000));
        EXPECT_NEAR(shares.same_role, homophily, tolerance(homophily, 40000));
        EXPECT_EQ(shares.further, 0) << "an edge skips a community of the chain";
        const double expected = homophily * (1 - crossing);
        EXPECT_NEAR(graph::measure_homophily(set.graph, set.labels, set.classes).edge, expected,
                    tolerance(expected, 40000));
      }
    }
  }
}

TEST(Worlds, DegreeAndClassesAreExact) {
  const data::Dataset set =
      worlds({.nodes = 1003, .worlds = 3, .degree = 7, .splits = 0, .seed = 1});
  EXPECT_EQ(set.classes, 6);
  EXPECT_EQ(set.graph.edges(), std::llround(1003 * 7 / 2.0));
  std::vector<int64_t> sizes(6, 0);
  for (const int32_t label : set.labels) ++sizes[static_cast<size_t>(label)];
  EXPECT_THAT(sizes, testing::Each(testing::AnyOf(167, 168)));
  for (graph::NodeId i = 0; i < 1003; ++i) EXPECT_GE(set.graph.neighbors(i).size(), 2U);
}

TEST(Worlds, DefaultsGiveAConnectedGraphWithSplitsOfThreePercent) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const data::Dataset set = worlds({.splits = 2, .seed = seed});
    EXPECT_EQ(graph::connected_components(set.graph).count(), 1) << "seed " << seed;
    EXPECT_EQ(set.splits[1].train.size(), 32U);  // 4 classes of 250: 7.5 rounds to 8
    EXPECT_EQ(set.splits[1].val.size(), 168U);
    EXPECT_EQ(set.splits[1].test.size(), 800U);
  }
  EXPECT_EQ(graph::connected_components(worlds({.worlds = 4, .crossing = 0}).graph).count(), 4);
  EXPECT_EQ(graph::connected_components(worlds({.worlds = 1, .crossing = 1}).graph).count(), 1);
}

TEST(Worlds, FeaturesSayTheRoleAndNothingElse) {
  constexpr size_t kNodes = 40000, kColumns = 3;
  const double noise = 0.8;
  const data::Dataset set = worlds(
      {.nodes = kNodes, .worlds = 2, .features = kColumns, .noise = noise, .splits = 0, .seed = 4});
  const auto x = set.features.values();
  double role_right = 0;
  for (size_t i = 0; i < kNodes; ++i) {
    role_right += (x[kColumns * i] > 0) == (set.labels[i] % 2 == 1) ? 1.0 / kNodes : 0;
  }
  const double phi = 0.5 * std::erfc(-1 / noise / std::sqrt(2.0));
  EXPECT_NEAR(role_right, phi, 5 * std::sqrt(phi * (1 - phi) / kNodes));
  const double class_error = 5 * noise / std::sqrt(kNodes / 4.0);  // of a mean over one class
  for (int32_t label = 0; label < 4; ++label) {
    for (size_t c = 0; c < kColumns; ++c) {
      double sum = 0, square = 0, count = 0;
      for (size_t i = 0; i < kNodes; ++i) {
        if (set.labels[i] != label) continue;
        const double value = x[kColumns * i + c];
        sum += value;
        square += value * value;
        count += 1;
      }
      const double mean = sum / count, centre = c > 0 ? 0 : label % 2 == 1 ? 1 : -1;
      EXPECT_NEAR(mean, centre, class_error) << "class " << label << ", column " << c;
      // A variance has a standard error of sigma^2 sqrt(2/n).
      EXPECT_NEAR(square / count - mean * mean, noise * noise,
                  5 * noise * noise * std::sqrt(2 / count));
    }
  }
}

TEST(Worlds, TheFirstEigenvectorSeparatesTheCommunities) {
  const data::Dataset set = worlds({.splits = 0, .seed = 2});
  const spectral::EigenResult pairs = spectral::solve_spectrum(set.graph, {.gamma = 0.3});
  double same_side = 0;
  for (size_t i = 0; i < 1000; ++i) {
    same_side += (pairs.vectors[i] > 0) == (set.labels[i] < 2) ? 1 : 0;
  }
  EXPECT_GT(std::max(same_side, 1000 - same_side), 980);
}

TEST(Worlds, IsAFunctionOfTheSeedAlone) {
  const auto make = [](int threads, uint64_t seed) {
    const ThreadScope scope(threads);
    return worlds({.nodes = 5000, .splits = 2, .seed = seed});
  };
  const data::Dataset one = make(1, 5);
  EXPECT_TRUE(test::same_dataset(one, make(3, 5)));
  EXPECT_FALSE(make(1, 6).graph == one.graph);
}

TEST(Worlds, RefusesOptionsOutOfRange) {
  try {
    worlds({.nodes = 60, .worlds = 2});
    FAIL() << "accepted 15 nodes per role at degree 8";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "worlds: 60 nodes give each role of 2 communities 15 nodes, too few for degree 8; "
                 "raise nodes to 68 or lower the degree");
  }
  EXPECT_NO_THROW(worlds({.nodes = 68, .worlds = 2}));
  EXPECT_THROW(worlds({.worlds = 0}), InputError);
  EXPECT_THROW(worlds({.crossing = -0.1}), InputError);
  EXPECT_THROW(worlds({.homophily = 1.1}), InputError);
  EXPECT_THROW(worlds({.homophily = NAN}), InputError);
  EXPECT_THROW(worlds({.features = 0}), InputError);
  EXPECT_THROW(worlds({.noise = -1}), InputError);
  EXPECT_THROW(worlds({.degree = -1}), InputError);
}

}  // namespace
}  // namespace dgat::synth
