#include "dgat/synth/csbm.h"

#include <gtest/gtest.h>

#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/graph/homophily.h"
#include "same_dataset.h"

namespace dgat::synth {
namespace {

TEST(Csbm, EdgesAndHomophilyAreAsExpected) {
  for (const double h : {0.0, 0.1, 0.5, 0.9, 1.0}) {
    for (const int classes : {2, 5}) {
      const data::Dataset set = csbm({.nodes = 8000,
                                      .classes = classes,
                                      .degree = 12,
                                      .homophily = h,
                                      .splits = 0,
                                      .seed = 2});
      const double edges = 8000 * 12 / 2.0;
      EXPECT_NEAR(static_cast<double>(set.graph.edges()), edges, 5 * std::sqrt(edges));
      const auto measured = graph::measure_homophily(set.graph, set.labels, classes);
      EXPECT_NEAR(measured.edge, h, 5 * std::sqrt(h * (1 - h) / edges));
      for (const int64_t count : measured.class_counts) EXPECT_EQ(count, 8000 / classes);
    }
  }
}

TEST(Csbm, PairsAreIndependentAndEquallyLikely) {
  // Over many small graphs every pair of a kind is an edge equally often.
  constexpr int kNodes = 6, kGraphs = 4000;
  double inside = 0, between = 0, inside_pairs = 0, between_pairs = 0, wedge = 0;
  for (uint64_t seed = 0; seed < kGraphs; ++seed) {
    const data::Dataset set = csbm({.nodes = kNodes,
                                    .classes = 2,
                                    .degree = 2,
                                    .homophily = 0.5,
                                    .features = 2,
                                    .splits = 0,
                                    .seed = seed});
    for (int i = 0; i < kNodes; ++i) {
      for (int j = 0; j < i; ++j) {
        const bool edge = set.graph.has_arc(i, j);
        const bool same = set.labels[static_cast<size_t>(i)] == set.labels[static_cast<size_t>(j)];
        (same ? inside : between) += edge ? 1 : 0;
        (same ? inside_pairs : between_pairs) += 1;
      }
    }
    wedge += set.graph.has_arc(0, 1) && set.graph.has_arc(0, 2) ? 1 : 0;
  }
  // 6 expected edges: 3 on the 6 pairs inside, 3 on the 9 between.
  EXPECT_NEAR(inside / inside_pairs, 1.0 / 2, 0.015);
  EXPECT_NEAR(between / between_pairs, 1.0 / 3, 0.012);
  // Independence: nodes 1 and 2 are like 0 with probability 2/5 each, both with 1/10.
  const double expected = 0.1 / 4 + 0.6 * (1.0 / 2) * (1.0 / 3) + 0.3 / 9;
  EXPECT_NEAR(wedge / kGraphs, expected, 5 * std::sqrt(expected / kGraphs));
}

TEST(Csbm, ProbabilityOneGivesTheCompleteGraph) {
  const data::Dataset set =
      csbm({.nodes = 30, .classes = 1, .degree = 29, .homophily = 1, .splits = 0});
  EXPECT_EQ(set.graph.edges(), 30 * 29 / 2);
}

TEST(Csbm, FeaturesAloneAreWorthPhiOfSignal) {
  const double signal = 1.3;
  const data::Dataset set = csbm(
      {.nodes = 40000, .classes = 2, .degree = 2, .features = 3, .signal = signal, .splits = 0});
  const auto x = set.features.values();
  double right = 0, mean = 0, square = 0;
  for (size_t i = 0; i < set.labels.size(); ++i) {
    const int32_t guess = x[3 * i] > x[3 * i + 1] ? 0 : 1;
    right += guess == set.labels[i] ? 1 : 0;
    mean += x[3 * i + 2] / 40000;  // a column without a centre: pure noise
    square += x[3 * i + 2] * x[3 * i + 2] / 40000;
  }
  const double phi = 0.5 * std::erfc(-signal / std::sqrt(2.0) / std::sqrt(2.0));
  EXPECT_NEAR(right / 40000, phi, 0.01);
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_NEAR(square, 1, 0.03);
}

TEST(Csbm, IsAFunctionOfTheSeedAlone) {
  const auto make = [](int threads, uint64_t seed) {
    const ThreadScope scope(threads);
    return csbm({.nodes = 5000, .splits = 2, .seed = seed});
  };
  const data::Dataset one = make(1, 5);
  EXPECT_TRUE(test::same_dataset(one, make(3, 5)));
  EXPECT_FALSE(make(1, 6).graph == one.graph);
}

TEST(Csbm, SaysWhyADegreeIsImpossible) {
  try {
    csbm({.nodes = 10, .classes = 2, .degree = 8, .homophily = 0.9});
    FAIL() << "accepted more edges than pairs";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "csbm: 36.0 edges inside classes are expected but there are only 20 pairs; lower "
                 "the degree or change the homophily");
  }
  EXPECT_THROW(csbm({.classes = 0}), InputError);
  EXPECT_THROW(csbm({.nodes = 3, .classes = 4}), InputError);
  EXPECT_THROW(csbm({.homophily = 1.1}), InputError);
  EXPECT_THROW(csbm({.classes = 20, .features = 16}), InputError);
  EXPECT_THROW(csbm({.degree = -1}), InputError);
}

}  // namespace
}  // namespace dgat::synth
