// What the explorer ships: enough for a browser to repeat the rewiring exactly, and no label too
// many.
#include "dgat/report/explorer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "dgat/core/error.h"
#include "dgat/graph/builder.h"
#include "dgat/study/advise.h"
#include "dgat/train/directions.h"
#include "report/json.h"
#include "report/packing.h"
#include "support/tiny_graphs.h"

namespace dgat::report {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

data::Dataset set_on(graph::CsrGraph graph) {
  data::Dataset set;
  set.name = "tiny";
  set.graph = std::move(graph);
  const auto nodes = static_cast<size_t>(set.graph.nodes());
  data::Split split;
  for (size_t i = 0; i < nodes; ++i) {
    set.labels.push_back(static_cast<int32_t>(i % 2));
    (i % 3 == 0   ? split.train
     : i % 3 == 1 ? split.val
                  : split.test)
        .push_back(static_cast<graph::NodeId>(i));
  }
  set.classes = 2;
  set.class_names = {"a", "b"};
  set.splits = {split};
  return set;
}

/// Paths of 7 and 4 nodes, and a node alone.
graph::CsrGraph two_paths() {
  const std::vector<graph::Edge> edges = {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5},
                                          {5, 6}, {7, 8}, {8, 9}, {9, 10}};
  return graph::build_graph(12, edges).graph;
}

Explorer explorer_of(const data::Dataset& set, ExplorerOptions options = {},
                     const train::Settings& settings = {{"rewire", "add"}}) {
  options.advise = false;
  spectral::SpectralCache cache;
  return make_explorer(set, set.graph, train::resolve(settings), options, cache);
}

TEST(ExplorerGammas, AreTwentyOneAndHoldTheStartAndTheAdvice) {
  for (const double start : {0.0, 0.3, 0.37, 0.999, 1.0}) {
    const std::vector<double> gammas = explorer_gammas(start);
    EXPECT_EQ(gammas.size(), 21U);
    EXPECT_TRUE(std::ranges::is_sorted(gammas));
    EXPECT_THAT(gammas, Contains(start));
    EXPECT_THAT(gammas, Contains(0.0));
    for (const double advised : study::default_gammas()) EXPECT_THAT(gammas, Contains(advised));
  }
}

TEST(Explorer, HoldsTrainingLabelsOnly) {
  const data::Dataset set = set_on(test::path(9));
  EXPECT_EQ(explorer_of(set).training_label,
            (std::vector<int32_t>{0, -1, -1, 1, -1, -1, 0, -1, -1}));
}

TEST(Explorer, ShipsTheVectorsOfTheSolver) {
  const data::Dataset set = set_on(two_paths());
  const Explorer page = explorer_of(set);
  ASSERT_EQ(page.gammas.size(), 21U);
  for (const Explorer::Solved& solved : page.gammas) {
    const auto vectors = [&](spectral::ComponentPolicy policy) {
      spectral::EigenOptions request;
      request.gamma = solved.gamma;
      request.components = policy;
      return spectral::solve_spectrum(set.graph, request).vectors;
    };
    EXPECT_EQ(solved.each, vectors(spectral::ComponentPolicy::kEach));
    EXPECT_EQ(solved.first, vectors(spectral::ComponentPolicy::kFirst));
    EXPECT_EQ(solved.largest, vectors(spectral::ComponentPolicy::kLargest));
  }
}

TEST(Explorer, ShipsAPolicyAsScaleAndLastBytesWhereTheyGiveItBack) {
  Explorer page = explorer_of(set_on(two_paths()));
  const Json json = to_json(page);
  EXPECT_TRUE(json.at("gammas").at(3).at("first").at(0).contains("scale"));
  page.gammas[3].first[2] *= 1.5;  // no longer a multiple
  const Json changed = to_json(page);
  EXPECT_THAT(changed.at("gammas").at(3).at("first").at(0).get<std::string>(), HasSubstr("f64:"));
}

TEST(Explorer, ShipsOnePolicyForAConnectedGraph) {
  const Json json = to_json(explorer_of(set_on(test::path(9))));
  EXPECT_TRUE(json.at("gammas").at(0).at("first").is_null());
  EXPECT_TRUE(json.at("gammas").at(0).at("largest").is_null());
}

TEST(Explorer, MassesAreThoseOfTheLaplacian) {
  const data::Dataset set = set_on(two_paths());
  const Explorer page = explorer_of(set);
  EXPECT_EQ(page.strengths, (std::vector<double>{0, 1, 2}));
  for (const Explorer::Solved& solved : page.gammas) {
    const spectral::Laplacian laplacian(set.graph, {.alpha = 0.5, .gamma = solved.gamma});
    for (graph::NodeId i = 0; i < set.graph.nodes(); ++i) {
      const auto place = static_cast<size_t>(page.strength_of[static_cast<size_t>(i)]);
      EXPECT_EQ(solved.mass[place], laplacian.mass(i));
    }
  }
}

TEST(Explorer, StartsAtTheSettingsAndAddsTheirAlphaToTheGrid) {
  const Explorer page = explorer_of(
      set_on(test::path(9)), {},
      {{"rewire", "prune-far+hub"}, {"alpha", "0.37"}, {"gamma", "0.43"}, {"epsilon", "0.25"}});
  EXPECT_EQ(page.start.rewire, "prune-far+hub");
  EXPECT_EQ(page.start.epsilon, "0.25");
  EXPECT_EQ(page.alphas.size(), 22U);
  EXPECT_THAT(page.alphas, Contains(0.37));
  EXPECT_EQ(page.start.gamma, 0.43);
}

TEST(Explorer, WithoutTimeHasTheStartingGammaAndSaysSo) {
  const Explorer page = explorer_of(set_on(test::path(9)), {.budget_seconds = 0});
  ASSERT_EQ(page.gammas.size(), 1U);
  EXPECT_EQ(page.gammas[0].gamma, page.start.gamma);
  EXPECT_THAT(page.note, HasSubstr("1 of 21 values of γ"));
}

TEST(Explorer, SamplesALargeGraphAndSaysSo) {
  const data::Dataset set = set_on(test::path(60));
  const Explorer page = explorer_of(
      set, {.limits = {.nodes = 50, .edges = 1000, .sample_nodes = 20, .sample_edges = 100}});
  EXPECT_TRUE(page.sampled);
  EXPECT_EQ(page.id.size(), 20U);
  EXPECT_EQ(page.gammas[0].each.size(), 20U);
  EXPECT_THAT(page.note, HasSubstr("A sample: 20 of 60 nodes"));
  for (size_t e = 0; e < page.from.size(); ++e) {
    EXPECT_TRUE(set.graph.has_arc(page.id[static_cast<size_t>(page.from[e])],
                                  page.id[static_cast<size_t>(page.to[e])]));
  }
}

TEST(Explorer, RefusesASplitThatIsNotThere) {
  const data::Dataset set = set_on(test::path(9));
  EXPECT_THROW(explorer_of(set, {.split = 1}), InputError);
}

TEST(Explorer, RefusesAModelWithoutDirections) {
  spectral::SpectralCache cache;
  EXPECT_THROW(explorer_page(set_on(test::path(9)), train::resolve({{"model", "gat"}}), {}, cache),
               InputError);
}

TEST(LastByte, GivesAPowerBackFromAnyValueNearIt) {
  for (const double mass : {1.3, 7.0, 1234.5}) {
    const double power = std::pow(mass, 0.35);
    for (const int64_t units : {-127, -1, 0, 1, 127}) {
      const int64_t near = std::bit_cast<int64_t>(power) + units;
      const int64_t step = (last_byte(power) - (near & 255) + 128 + 256) % 256 - 128;
      EXPECT_EQ(std::bit_cast<double>(near + step), power);
    }
  }
}

}  // namespace
}  // namespace dgat::report
