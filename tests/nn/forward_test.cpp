#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "dense_reference.h"
#include "dgat/nn/registry.h"
#include "support/test_names.h"

namespace dgat::nn {
namespace {
using test::Dense;

ModelOptions small(const test::TinyProblem& problem, Recipe recipe) {
  ModelOptions o = test::tiny_options(problem, recipe);
  o.dropout = 0.3;
  return o;
}

/// The models that this test knows how to recompute; baselines bring their own tests.
std::vector<std::string> attention_models() {
  std::vector<std::string> names;
  for (const char* base : {"gat", "gatv2", "gt"}) {
    for (const char* prefix : {"", "d"}) {
      names.push_back(std::string(prefix) + base);
      names.push_back(std::string(prefix) + base + "-sep");
    }
  }
  return names;
}

tensor::Matrix<double> logits_of(Model<double>& model, const GraphInput<double>& input) {
  model.prepare(input);
  tensor::Tape<double> tape;
  tape.begin({});
  return model.forward(tape, input).value().clone();
}

void expect_equals_dense(const std::string& name, const ModelOptions& options,
                         const test::TinyProblem& problem) {
  const auto model = make_model<double>(name, options);
  const auto logits = logits_of(*model, problem.input);
  const Dense expected = test::dense_forward(name, options, test::weights_of(*model), problem);
  ASSERT_EQ(logits.rows(), static_cast<int64_t>(expected.size()));
  ASSERT_EQ(logits.cols(), static_cast<int64_t>(expected[0].size()));
  for (int64_t i = 0; i < logits.rows(); ++i) {
    for (int64_t j = 0; j < logits.cols(); ++j) {
      EXPECT_NEAR(logits(i, j), expected[static_cast<size_t>(i)][static_cast<size_t>(j)], 1e-10)
          << name << " " << i << " " << j;
    }
  }
}

class Forward : public testing::TestWithParam<std::string> {};

TEST_P(Forward, ResidualEqualsTheDenseComputation) {
  for (const bool sparse : {false, true}) {
    const auto problem = test::tiny_problem(sparse);
    expect_equals_dense(GetParam(), small(problem, Recipe::kResidual), problem);
  }
}

class ClassicForward : public testing::TestWithParam<std::string> {};

TEST_P(ClassicForward, EqualsTheDenseComputation) {
  for (const bool sparse : {false, true}) {
    const auto problem = test::tiny_problem(sparse);
    for (const bool projection : {false, true}) {
      for (const int64_t layers : {1, 3}) {
        ModelOptions o = small(problem, Recipe::kClassic);
        o.projection = o.conv_bias = projection;
        o.layers = layers;
        expect_equals_dense(GetParam(), o, problem);
      }
    }
  }
}

std::vector<std::string> recomputed_models() {
  std::vector<std::string> names = attention_models();
  names.insert(names.end(), {"gcn", "sage", "resnet"});
  return names;
}
INSTANTIATE_TEST_SUITE_P(Models, Forward, testing::ValuesIn(recomputed_models()),
                         test::name_of_parameter<std::string>);
INSTANTIATE_TEST_SUITE_P(Models, ClassicForward,
                         testing::Values("gat", "dgat", "gatv2", "dgatv2", "gt", "dgt"),
                         test::name_of_parameter<std::string>);

TEST(Forward, TwoClassesShareOneLogit) {
  const auto problem = test::tiny_problem(false);
  ModelOptions o = small(problem, Recipe::kResidual);
  o.classes = 2;
  const auto model = make_model<double>("dgat", o);
  EXPECT_EQ(logits_of(*model, problem.input).cols(), 1);
}

TEST(Forward, AllSwitchesOffIsExactlyTheUndirectedModel) {
  const auto problem = test::tiny_problem(true);
  for (const Recipe recipe : {Recipe::kResidual, Recipe::kClassic}) {
    for (const std::string base : {"gat", "gatv2", "gt"}) {
      ModelOptions o = small(problem, recipe);
      const auto plain = make_model<double>(base, o);
      o.directional = false;
      const auto switched_off = make_model<double>("d" + base, o);
      const auto a = logits_of(*plain, problem.input), b = logits_of(*switched_off, problem.input);
      EXPECT_THAT(a.values(), testing::ElementsAreArray(b.values())) << base;
    }
  }
}

TEST(Forward, InspectionShowsAttentionThatSumsToOne) {
  const auto problem = test::tiny_problem(false);
  const auto model = make_model<double>("dgat", small(problem, Recipe::kResidual));
  model->prepare(problem.input);
  tensor::Tape<double> tape;
  tape.begin({});
  Inspection<double> seen;
  model->forward(tape, problem.input, &seen);
  ASSERT_EQ(seen.attention.size(), 2U);
  EXPECT_EQ(seen.embeddings.rows(), problem.input.nodes());
  EXPECT_EQ(seen.embeddings.cols(), 8);
  const tensor::MessageGraph& graph = problem.input.messages->graph;
  for (int64_t i = 0; i < graph.nodes(); ++i) {
    for (int64_t h = 0; h < 2; ++h) {
      double sum = 0;
      for (int64_t e = graph.offsets()[static_cast<size_t>(i)];
           e < graph.offsets()[static_cast<size_t>(i) + 1]; ++e) {
        sum += seen.attention[1](e, h);
      }
      EXPECT_NEAR(sum, 1, 1e-12);
    }
  }
}

}  // namespace
}  // namespace dgat::nn
