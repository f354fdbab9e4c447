#include "dgat/study/advise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/graph/builder.h"
#include "dgat/synth/csbm.h"
#include "misleading_edges.h"

namespace dgat::study {
namespace {

using testing::HasSubstr;

AdviceOptions few(std::vector<double> gammas = {0.1, 1}) {
  AdviceOptions options;
  options.gammas = std::move(gammas);
  options.alphas = {1};
  options.rewirings = {{rewire::parse_mode("none")}, {rewire::parse_mode("add")}};
  for (const char* epsilon : {"q0.1", "q0.9"}) {
    options.rewirings.push_back({rewire::parse_mode("prune-far"), rewire::parse_epsilon(epsilon)});
  }
  return options;
}

Advice ask(const data::Dataset& dataset, const AdviceOptions& options, int64_t split = 0) {
  spectral::SpectralCache cache;
  return advise(dataset, split, options, cache);
}

const CandidateScore& find(const Advice& advice, double gamma, const std::string& mode,
                           const std::string& epsilon = {}) {
  for (const CandidateScore& c : advice.candidates) {
    const std::string e = c.candidate.epsilon ? rewire::to_string(*c.candidate.epsilon) : "";
    if (c.candidate.gamma == gamma && rewire::to_string(c.candidate.mode) == mode && e == epsilon) {
      return c;
    }
  }
  throw InternalError("no such candidate: " + mode);
}

/// Two communities that phi separates; features say little about the class.
data::Dataset communities(double signal = 0.6, double homophily = 0.93) {
  synth::CsbmOptions o;
  o.nodes = 200;
  o.classes = 2;
  o.degree = 8;
  o.homophily = homophily;
  o.features = 8;
  o.signal = signal;
  o.splits = 2;
  o.seed = 5;
  return synth::csbm(o);
}

data::Dataset shuffled(data::Dataset dataset, uint64_t seed) {
  Random(seed).shuffle(dataset.labels);
  return dataset;
}

TEST(Advise, NeighboursThatAgreeAreKept) {
  const Advice advice = ask(communities(), few());
  const double whole = find(advice, 1, "none").score;
  EXPECT_GT(whole, find(advice, 1, "prune-far", "q0.1").score + 0.05);
  EXPECT_GT(advice.adjusted_homophily, 0.5);
  EXPECT_GT(advice.gammas.front().class_share, 0.5);  // phi is the cut between the communities
  EXPECT_THAT(advice.reason, HasSubstr("agree"));
}

TEST(Advise, FarEdgesAreTheOnesBetweenCommunities) {
  const Advice advice = ask(communities(), few());
  const CandidateScore& pruned = find(advice, 1, "prune-far", "q0.9");
  EXPECT_GT(pruned.kept.agreement, pruned.dropped.agreement);
  EXPECT_EQ(pruned.added.edges, 0);
}

TEST(Advise, WithoutOwnFeaturesUselessEdgesGo) {
  AdviceOptions options = few();
  options.own_features = false;
  const Advice advice = ask(test::misleading_edges(), options);
  EXPECT_GT(find(advice, 1, "prune-far", "q0.1").score, find(advice, 1, "none").score + 0.1);
  EXPECT_NE(advice.best().candidate.mode, rewire::Mode{});
  EXPECT_TRUE(advice.clear);
}

TEST(Advise, WithOwnFeaturesUselessEdgesHardlyMatter) {
  const Advice advice = ask(test::misleading_edges(), few());
  EXPECT_LT(std::abs(advice.best().gain), 0.1);
}

TEST(Advise, ShuffledLabelsGiveNoPreference) {
  int clear = 0;
  for (const uint64_t seed : {1, 2, 3}) clear += ask(shuffled(communities(), seed), few()).clear;
  EXPECT_EQ(clear, 0);
}

/// Everything that ranking is made of, as bits.
std::vector<uint64_t> bits(const Advice& advice) {
  std::vector<uint64_t> result;
  for (const CandidateScore& c : advice.candidates) {
    for (const double v : {c.candidate.gamma, c.score, c.metric, c.gain, c.error}) {
      result.push_back(std::bit_cast<uint64_t>(v));
    }
  }
  return result;
}

TEST(Advise, ValidationAndTestLabelsAreNotRead) {
  const data::Dataset dataset = communities();
  data::Dataset other = dataset;
  for (const auto* part : {&dataset.splits[0].val, &dataset.splits[0].test}) {
    for (const graph::NodeId i : *part) {
      int32_t& label = other.labels[static_cast<size_t>(i)];
      label = i % 3 == 0 ? -1 : 1 - label;
    }
  }
  const Advice a = ask(dataset, few()), b = ask(other, few());
  EXPECT_EQ(bits(a), bits(b));
  EXPECT_EQ(a.reason, b.reason);
  EXPECT_NE(bits(a), bits(ask(dataset, few(), 1)));
}

TEST(Advise, ThreadsDoNotChangeTheBits) {
  const data::Dataset dataset = communities();
  set_thread_count(1);
  const Advice one = ask(dataset, few());
  set_thread_count(3);
  const Advice three = ask(dataset, few());
  set_thread_count(0);
  EXPECT_EQ(bits(one), bits(three));
  EXPECT_EQ(one.reason, three.reason);
}

TEST(Advise, OneComponentPerEdgeLeavesNothingToRewire) {
  // Pairs of nodes: every edge has the same length along phi, so quantiles prune nothing.
  data::Dataset dataset = communities();
  std::vector<graph::Edge> pairs;
  for (graph::NodeId i = 0; i + 1 < dataset.graph.nodes(); i += 2) pairs.push_back({i, i + 1});
  dataset.graph = graph::build_graph(dataset.graph.nodes(), pairs).graph;
  const Advice advice = ask(dataset, few());
  EXPECT_TRUE(std::any_of(advice.candidates.begin(), advice.candidates.end(),
                          [](const CandidateScore& c) { return c.repeated; }));
}

TEST(Advise, WhatIsMissingIsNamed) {
  const auto message = [](const data::Dataset& dataset, int64_t split) -> std::string {
    try {
      ask(dataset, few(), split);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(message(communities(), 7), HasSubstr("split 7 is outside [0, 2)"));
  data::Dataset bare = communities();
  bare.features = {};
  EXPECT_THAT(message(bare, 0), HasSubstr("no node features"));
  data::Dataset unlabelled = communities();
  std::fill(unlabelled.labels.begin(), unlabelled.labels.end(), 0);
  EXPECT_THAT(message(unlabelled, 0), HasSubstr("two classes are needed"));
}

}  // namespace
}  // namespace dgat::study
