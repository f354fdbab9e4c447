#include "dgat/study/advised_graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "dgat/core/files.h"
#include "dgat/core/quiet_notices.h"
#include "dgat/graph/builder.h"
#include "dgat/study/run.h"
#include "dgat/synth/worlds.h"
#include "dgat/train/predict.h"
#include "support/small_run.h"
#include "support/temp_dir.h"

namespace dgat::study {
namespace {

using testing::HasSubstr;
using train::Config;

data::Dataset worlds() {
  return synth::worlds(
      {.nodes = 400, .split = {.train = 0.2, .val = 0.2, .test = 0.6}, .splits = 2});
}

Config advised(const train::Settings& more = {}) {
  train::Settings settings = more;
  settings["rewire"] = "advised";
  return test::small_config("dgat", settings);
}

TEST(AdvisedGraph, IsTheBestOfTheAdviceWhereThatIsClear) {
  const data::Dataset dataset = worlds();
  spectral::SpectralCache cache;
  for (const int64_t split : {0, 1}) {
    const Advice advice = advise(dataset, split, question_for(advised()), cache);
    ASSERT_TRUE(advice.clear);
    const AdvisedGraph found = advised_graph(dataset, split, advised(), cache);
    EXPECT_TRUE(found.clear);
    EXPECT_EQ(found.graph, advice.best().candidate);
    EXPECT_THAT(found.why, HasSubstr("held-out training nodes"));
  }
}

TEST(AdvisedGraph, LeavesEdgesAloneWhereNothingIsClear) {
  data::Dataset dataset = worlds();
  for (size_t i = 0; i < dataset.labels.size(); ++i) {  // labels that say nothing
    dataset.labels[i] = static_cast<int32_t>((i * 2654435761U >> 7U) % 4);
  }
  spectral::SpectralCache cache;
  const AdvisedGraph found = advised_graph(dataset, 0, advised(), cache);
  EXPECT_FALSE(found.clear);
  EXPECT_EQ(found.graph, train::GraphChoice{});
}

TEST(AdvisedGraph, NeedsLabelsAndEdges) {
  spectral::SpectralCache cache;
  data::Dataset few = worlds();
  few.splits[0].train.resize(4);
  EXPECT_FALSE(advised_graph(few, 0, advised(), cache).clear);
  data::Dataset one_class = worlds();
  std::fill(one_class.labels.begin(), one_class.labels.end(), 1);
  EXPECT_THAT(advised_graph(one_class, 0, advised(), cache).why, HasSubstr("two classes"));
  data::Dataset bare = worlds();
  bare.graph = graph::CsrGraph(std::vector<graph::ArcIndex>(401, 0), {}, false);
  EXPECT_EQ(advised_graph(bare, 0, advised(), cache).why, "the graph has no edges");
}

TEST(AdvisedGraph, SaysBeforeAnythingThatAdviceOnALargeGraphTakesLong) {
  const auto ring = [](graph::NodeId nodes) {
    std::vector<graph::Edge> edges;
    for (graph::NodeId i = 0; i < nodes; ++i) edges.push_back({i, (i + 1) % nodes});
    data::Dataset dataset;
    dataset.name = "ring";
    dataset.graph = graph::build_graph(nodes, edges).graph;
    return dataset;
  };
  const AdviceOptions question = question_for(advised({{"gamma", "0.5"}}));
  EXPECT_EQ(long_advice_notice(ring(1 << 10), question), "");
  EXPECT_THAT(
      long_advice_notice(ring(1 << 19), question),
      testing::AllOf(HasSubstr("ring: choosing the graph"), HasSubstr("1 eigenvectors"),
                     HasSubstr("12 candidates on 524288 edges"), HasSubstr("--rewire none")));
}

TEST(AdvisedGraph, KeepsWhatIsGiven) {
  spectral::SpectralCache cache;
  const AdvisedGraph found =
      advised_graph(worlds(), 0, advised({{"gamma", "0.7"}, {"alpha", "0.5"}}), cache);
  EXPECT_EQ(found.graph.gamma, 0.7);
  EXPECT_EQ(found.graph.alpha, 0.5);
  const AdviceOptions question = question_for(advised({{"epsilon", "q0.25"}}));
  for (const Rewiring& r : question.rewirings) {
    const bool prunes = r.mode.prune != rewire::Prune::kNone;
    EXPECT_EQ(r.epsilon.has_value(), prunes);
    if (prunes) {
      EXPECT_EQ(r.epsilon, rewire::parse_epsilon("q0.25"));
    }
  }
  EXPECT_EQ(question.rewirings.size(), 6U);  // none, hub, add and three that prune
}

TEST(AdvisedGraph, LooksAtTrainingLabelsOnly) {
  const data::Dataset dataset = worlds();
  data::Dataset other = dataset;
  for (const auto* part : {&dataset.splits[0].val, &dataset.splits[0].test}) {
    for (const graph::NodeId i : *part) {
      int32_t& label = other.labels[static_cast<size_t>(i)];
      label = (label + 1) % other.classes;
    }
  }
  spectral::SpectralCache cache;
  EXPECT_EQ(advised_graph(dataset, 0, advised(), cache).graph,
            advised_graph(other, 0, advised(), cache).graph);
}

TEST(AdvisedGraph, TrainsAsIfItHadBeenNamed) {
  const data::Dataset dataset = worlds();
  const QuietNotices quiet;
  spectral::SpectralCache cache;
  const train::GraphChoice choice = advised_graph(dataset, 0, advised(), cache).graph;
  train::Settings named = {{"rewire", rewire::to_string(choice.mode)},
                           {"gamma", fmt::format("{}", choice.gamma)},
                           {"alpha", fmt::format("{}", choice.alpha)}};
  if (choice.epsilon) named["epsilon"] = rewire::to_string(*choice.epsilon);
  const TrialData data = trial_data(dataset);
  const auto a = run_training(data, advised(), cache, nullptr, {0});
  const auto b = run_training(data, test::small_config("dgat", named), cache, nullptr, {0});
  EXPECT_EQ(a.row.splits.front().test, b.row.splits.front().test);
  EXPECT_EQ(a.row.splits.front().val, b.row.splits.front().val);
  EXPECT_EQ(a.row.splits.front().rewiring->advised, choice);
  EXPECT_FALSE(b.row.splits.front().rewiring->advised.has_value());
}

TEST(AdvisedGraph, TheSummaryHasWhatWasAskedAndWhatWasDone) {
  const test::TempDir temp;
  const QuietNotices quiet;
  spectral::SpectralCache cache;
  const TrialData data = trial_data(worlds());
  {
    const train::RunDirectory directory(temp / "run", train::Existing::kRefuse);
    run_training(data, advised(), cache, &directory);
  }
  const auto json = nlohmann::json::parse(read_whole_file(temp / "run" / "summary.json"));
  EXPECT_EQ(json["options"]["rewire"], "advised");
  EXPECT_EQ(json["options"]["gamma"], "auto");
  ASSERT_EQ(json["rewiring"].size(), 2U);
  for (const int64_t split : {0, 1}) {
    const train::GraphChoice choice = advised_graph(*data.dataset, split, advised(), cache).graph;
    const auto& done = json["rewiring"][static_cast<size_t>(split)];
    EXPECT_EQ(done["split"], split);
    EXPECT_EQ(done["mode"], rewire::to_string(choice.mode));
    EXPECT_EQ(done["gamma"], choice.gamma);
    EXPECT_EQ(done["alpha"], choice.alpha);
    // The network of the file sees the graph that it was trained on.
    train::TrainedModel trained = train::load_trained(temp / "run", split);
    EXPECT_EQ(trained.graph, choice);
    const train::Prediction p = train::predict(trained, *data.dataset, cache);
    double right = 0;
    const auto& test = data.dataset->splits[static_cast<size_t>(split)].test;
    for (const graph::NodeId i : test) {
      right += p.classes[static_cast<size_t>(i)] == data.dataset->labels[static_cast<size_t>(i)];
    }
    EXPECT_NEAR(right / static_cast<double>(test.size()),
                json["splits"][static_cast<size_t>(split)]["test"].get<double>(), 1e-12);
  }
}

TEST(AdvisedGraph, IsDescribedInOneLine) {
  const AdvisedGraph add{{.gamma = 0.1, .mode = rewire::parse_mode("add")}, true, "because"};
  const AdvisedGraph none{{}, false, "nothing is clear"};
  EXPECT_EQ(describe({{0, add}}), "gamma 0.1, add: because");
  EXPECT_EQ(describe({{0, add}, {1, add}, {2, add}, {3, none}}),
            "gamma 0.1, add (split 0-2): because; edges unchanged, gamma 1, none (split 3): "
            "nothing is clear");
}

}  // namespace
}  // namespace dgat::study
