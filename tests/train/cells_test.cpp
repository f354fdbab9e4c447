// Training in cells (--cells): batches are induced parts of the graph, and all cells together are
// the whole graph.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/pool.h"
#include "support/small_run.h"
#include "support/temp_dir.h"
#include "train/cell_batches.h"

namespace dgat::train {
namespace {
using testing::ElementsAreArray;
using testing::HasSubstr;

struct Trained {
  std::vector<float> weights;
  std::vector<double> losses, tests;
};

Trained train_on(const data::Dataset& dataset, const Config& config, const TrainHooks& more = {}) {
  const test::SmallTask small(config, dataset);
  const auto model = make_task_model(small.task);
  Trained t;
  TrainHooks hooks = more;
  hooks.on_evaluation = [&](const StepRecord& r) {
    t.losses.push_back(r.loss);
    t.tests.push_back(r.test);
    if (more.on_evaluation) more.on_evaluation(r);
  };
  train_split(small.task, *model, hooks);
  t.weights = test::weights_of(*model);
  return t;
}

Config in_cells(const std::string& model, int cells, int per_step, Settings more = {}) {
  more.insert({{"cells", std::to_string(cells)}, {"per_step", std::to_string(per_step)}});
  return test::small_config(model, more);
}

std::vector<int32_t> labels_of(const test::SmallTask& small) {
  return small.input.training_labels;
}

class CellModels : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(CellModels, AllCellsTogetherGiveTheBitsOfTheWholeGraph) {
  const auto [model, recipe] = GetParam();
  const Settings settings = {
      {"steps", "4"}, {"layers", "2"}, {"recipe", recipe}, {"eval_every", "1"}};
  const data::Dataset dataset = test::small_dataset();
  const Trained whole = train_on(dataset, test::small_config(model, settings));
  const Trained cells = train_on(dataset, in_cells(model, 6, 6, settings));
  EXPECT_THAT(cells.weights, ElementsAreArray(whole.weights));
  EXPECT_EQ(cells.losses, whole.losses);
  EXPECT_EQ(cells.tests, whole.tests);
}

TEST_P(CellModels, FewCellsAStepLearnWithTheSameBitsAtEveryThreadCount) {
  const auto [model, recipe] = GetParam();
  const data::Dataset dataset = test::small_dataset();
  std::vector<float> expected;
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    const Trained t = train_on(
        dataset,
        in_cells(model, 5, 2,
                 {{"steps", "40"}, {"dropout", "0"}, {"recipe", recipe}, {"eval_every", "1"}}));
    EXPECT_LT(t.losses.back(), 0.9 * t.losses.front()) << threads;
    if (expected.empty()) expected = t.weights;
    EXPECT_THAT(t.weights, ElementsAreArray(expected)) << threads;
  }
}

INSTANTIATE_TEST_SUITE_P(Cells, CellModels,
                         testing::Values(std::pair{"dgat", "residual"},
                                         std::pair{"dgatv2-sep", "residual"},
                                         std::pair{"dgt", "residual"}, std::pair{"gat", "classic"},
                                         std::pair{"gcn", "residual"}, std::pair{"sage", "deep"},
                                         std::pair{"resnet", "residual"},
                                         std::pair{"dgat", "deep"}),
                         [](const auto& of) {
                           std::string name = std::string(of.param.first) + "_" + of.param.second;
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(CellBatches, HaveEveryArcAmongTheirNodesAndNoOther) {
  const test::SmallTask small(in_cells("dgat", 6, 2), test::small_dataset());
  const CellBatches batches(small.task, labels_of(small));
  const auto& whole = *small.input.messages;
  for (int64_t step = 1; step <= 6; ++step) {
    std::vector<int32_t> nodes;
    for (const int64_t c : batches.cells_of(step)) {
      const auto cell = small.input.cells->cell(c);
      nodes.insert(nodes.end(), cell.begin(), cell.end());
    }
    std::ranges::sort(nodes);
    const Batch batch = batches.batch(step);
    ASSERT_EQ(batch.input.nodes(), std::ssize(nodes));
    const auto& part = *batch.input.messages;
    // Dense: arc (i, j) of the part is arc (nodes[i], nodes[j]) of the graph, with its features.
    for (size_t i = 0; i < nodes.size(); ++i) {
      std::vector<int32_t> expected, seen;
      std::vector<float> expected_features, features;
      const auto row = static_cast<size_t>(nodes[i]);
      for (int64_t e = whole.graph.offsets()[row]; e < whole.graph.offsets()[row + 1]; ++e) {
        const int32_t j = whole.graph.senders()[static_cast<size_t>(e)];
        if (!std::ranges::binary_search(nodes, j)) continue;
        expected.push_back(j);
        for (int64_t c = 0; c < whole.features.cols(); ++c) {
          expected_features.push_back(whole.features(e, c));
        }
      }
      for (int64_t e = part.graph.offsets()[i]; e < part.graph.offsets()[i + 1]; ++e) {
        seen.push_back(nodes[static_cast<size_t>(part.graph.senders()[static_cast<size_t>(e)])]);
        for (int64_t c = 0; c < part.features.cols(); ++c) features.push_back(part.features(e, c));
      }
      EXPECT_EQ(seen, expected) << step << " " << i;
      EXPECT_EQ(features, expected_features) << step << " " << i;
      std::vector<int32_t> neighbours;
      for (const int32_t j : batch.input.graph->neighbors(static_cast<int32_t>(i))) {
        neighbours.push_back(nodes[static_cast<size_t>(j)]);
      }
      expected.clear();
      for (const int32_t j : small.dataset.graph.neighbors(nodes[i])) {
        if (std::ranges::binary_search(nodes, j)) expected.push_back(j);
      }
      EXPECT_EQ(neighbours, expected) << step << " " << i;
      const auto own = batch.input.features->dense().row(static_cast<int64_t>(i));
      const auto original = small.input.features->dense().row(nodes[i]);
      EXPECT_TRUE(std::equal(own, own + small.input.features->cols(), original));
    }
    for (size_t k = 0; k < batch.nodes.size(); ++k) {
      const auto node = static_cast<size_t>(nodes[static_cast<size_t>(batch.nodes[k])]);
      EXPECT_EQ(batch.labels[k], small.input.training_labels[node]);
      EXPECT_GE(batch.labels[k], 0);
    }
  }
}

TEST(CellBatches, KeepSparseFeatures) {
  data::Dataset dataset = test::small_dataset();
  std::vector<float> values(static_cast<size_t>(dataset.graph.nodes()) * 10, 0);
  for (size_t i = 0; i < values.size(); i += 7) values[i] = static_cast<float>(i);
  dataset.features = data::Features::compact(dataset.graph.nodes(), 10, values);
  ASSERT_TRUE(dataset.features.is_sparse());
  const test::SmallTask small(in_cells("dgat", 4, 1), dataset);
  const CellBatches batches(small.task, labels_of(small));
  const Batch batch = batches.batch(3);
  const auto nodes = small.input.cells->cell(batches.cells_of(3).front());
  const auto& csr = batch.input.features->sparse().csr();
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<float> row(10, 0), expected(10);
    for (int64_t e = csr.offsets[i]; e < csr.offsets[i + 1]; ++e) {
      row[static_cast<size_t>(csr.columns[static_cast<size_t>(e)])] =
          csr.values[static_cast<size_t>(e)];
    }
    dataset.features.copy_row(nodes[i], expected);
    EXPECT_EQ(row, expected) << i;
  }
}

TEST(CellBatches, GoThroughAllCellsInEveryRound) {
  const test::SmallTask small(in_cells("gat", 7, 3), test::small_dataset());
  const CellBatches batches(small.task, labels_of(small));
  std::vector<std::vector<int64_t>> rounds;
  for (int64_t round = 0; round < 4; ++round) {
    std::multiset<int64_t> seen;
    for (int64_t step = 1; step <= 3; ++step) {
      const std::vector<int64_t> cells = batches.cells_of(3 * round + step);
      EXPECT_EQ(cells.size(), step == 3 ? 1U : 3U);
      seen.insert(cells.begin(), cells.end());
    }
    EXPECT_EQ(seen, (std::multiset<int64_t>{0, 1, 2, 3, 4, 5, 6}));
    rounds.push_back(batches.cells_of(3 * round + 1));
  }
  EXPECT_TRUE(std::ranges::any_of(rounds, [&](const auto& first) { return first != rounds[0]; }));
}

TEST(CellBatches, AlwaysHaveALabelledNode) {
  data::Dataset dataset = test::small_dataset();
  for (data::Split& split : dataset.splits) split.train.resize(4);
  const test::SmallTask small(in_cells("gat", 15, 1), dataset);
  const CellBatches batches(small.task, labels_of(small));
  for (int64_t step = 1; step <= 45; ++step) EXPECT_FALSE(batches.batch(step).nodes.empty());
}

/// Several tens of thousand numbers in a layer, so that matrices outweigh the rest.
synth::CsbmOptions large_graph() {
  synth::CsbmOptions options = test::small_csbm();
  options.nodes = 4000;
  return options;
}

TEST(Cells, MemoryOfAStepFallsWithTheShareOfTheGraph) {
  const data::Dataset dataset = synth::csbm(large_graph());
  const auto peak = [&](const Config& config) {
    const test::SmallTask small(config, dataset);
    const auto model = make_task_model(small.task);
    tensor::trim_pool();
    tensor::reset_pool_peak();
    const auto before = static_cast<int64_t>(tensor::pool_statistics().bytes_in_use);
    train_split(small.task, *model);
    return static_cast<int64_t>(tensor::pool_statistics().peak_bytes_in_use) - before;
  };
  const Settings settings = {
      {"steps", "3"}, {"layers", "3"}, {"hidden", "64"}, {"rewire", "none"}, {"eval_every", "1"}};
  const int64_t whole = peak(test::small_config("dgat", settings));
  const int64_t few = peak(in_cells("dgat", 40, 4, settings));
  // Steps of a tenth of the nodes; an evaluation keeps a layer's input and output.
  EXPECT_LT(few, whole / 3);
}

TEST(Cells, EvaluationIsThatOfTheWholeGraph) {
  const data::Dataset dataset = test::small_dataset();
  for (const char* model : {"dgat", "dgatv2", "dgt-sep", "gat-sep"}) {
    const test::SmallTask small(in_cells(model, 6, 2, {{"layers", "3"}}), dataset);
    const auto net = make_task_model(small.task);
    tensor::Tape<float> tape;
    std::vector<std::vector<int32_t>> parts;
    for (int64_t c = 0; c < 6; ++c) {
      const auto cell = small.input.cells->cell(c);
      parts.emplace_back(cell.begin(), cell.end());
    }
    const auto whole = net->forward(tape, small.input);
    const auto by_parts = net->forward_by_parts(tape, small.input, parts);
    ASSERT_EQ(by_parts.rows(), whole.rows());
    for (int64_t i = 0; i < by_parts.rows(); ++i) {
      for (int64_t c = 0; c < by_parts.cols(); ++c) {
        EXPECT_NEAR(by_parts(i, c), whole.value()(i, c), 1e-5) << model << " " << i;
      }
    }
  }
}

TEST(Cells, AContinuedTrainingHasTheBitsOfAnUninterruptedOne) {
  const data::Dataset dataset = test::small_dataset();
  const Config config =
      in_cells("dgat", 7, 2, {{"steps", "15"}, {"checkpoint_every", "1"}, {"eval_every", "1"}});
  const Trained whole = train_on(dataset, config);
  const test::TempDir folder;
  TrainHooks hooks;
  hooks.checkpoint = folder / "state";
  std::atomic<bool> stop = false;
  hooks.stop = &stop;
  hooks.on_evaluation = [&](const StepRecord& r) { stop = r.step == 6; };
  EXPECT_THROW(train_on(dataset, config, hooks), Interrupted);
  stop = false;
  hooks.on_evaluation = {};
  EXPECT_THAT(train_on(dataset, config, hooks).weights, ElementsAreArray(whole.weights));
}

TEST(Cells, AreRefusedWhereTheyMakeNoSense) {
  const data::Dataset dataset = test::small_dataset();
  const auto refusal = [&](const std::string& model, int cells, int per_step) -> std::string {
    try {
      test::SmallTask small(in_cells(model, cells, per_step), dataset);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(refusal("h2gcn", 4, 1), HasSubstr("h2gcn needs the whole graph"));
  EXPECT_THAT(refusal("gat", 61, 1), HasSubstr("at most 60"));
  EXPECT_THAT(refusal("gat", 4, 5), HasSubstr("must be at most --cells 4, got 5"));
  EXPECT_THAT(refusal("gat", 0, 2), HasSubstr("must be at most --cells 0, got 2"));
  EXPECT_EQ(refusal("gat", 60, 60), "");
}

TEST(Cells, EvaluationComesOnceARoundUnlessSaidOtherwise) {
  EXPECT_EQ(in_cells("gat", 7, 2).eval_every, 4);
  EXPECT_EQ(in_cells("gat", 7, 2, {{"eval_every", "3"}}).eval_every, 3);
}

TEST(Cells, AStepReadsAnEighthOfThemUnlessSaidOtherwise) {
  EXPECT_EQ(in_cells("gat", 64, 0).per_step, 8);
  EXPECT_EQ(in_cells("gat", 5, 0).per_step, 1);
  EXPECT_EQ(in_cells("gat", 64, 0).eval_every, 8);
  const Config config = in_cells("gat", 64, 0);
  EXPECT_EQ(resolve(parse_settings(to_yaml(config), "yaml")).per_step, 8);
  EXPECT_EQ(resolve({}).per_step, 0);
}

}  // namespace
}  // namespace dgat::train
