// Recipe deep against the dense computation, for every convolution and every choice around it.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dense_reference.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "support/test_names.h"

namespace dgat::nn {
namespace {
using test::Dense;

ModelOptions small(const test::TinyProblem& problem) {
  ModelOptions o = test::tiny_options(problem, Recipe::kDeep);
  o.layers = 3;
  o.dropout = 0;
  return o;
}

/// Running statistics as after some training.
void fill_buffers(Model<double>& model) {
  Random random(23);
  for (const auto& buffer : model.buffers()) {
    for (double& value : buffer.values->values()) value = 0.5 + random.uniform();
  }
}

void expect_both_modes_equal_dense(const std::string& name, const ModelOptions& options,
                                   const test::TinyProblem& problem) {
  const auto model = make_model<double>(name, options);
  model->prepare(problem.input);
  fill_buffers(*model);
  for (const bool training : {false, true}) {
    const Dense expected =
        test::dense_forward(name, options, test::weights_of(*model), problem, training);
    tensor::Tape<double> tape;
    tape.begin({.training = training});
    const auto logits = model->forward(tape, problem.input).value().clone();
    ASSERT_EQ(logits.rows(), std::ssize(expected));
    for (int64_t i = 0; i < logits.rows(); ++i) {
      for (int64_t j = 0; j < logits.cols(); ++j) {
        EXPECT_NEAR(logits(i, j), expected[static_cast<size_t>(i)][static_cast<size_t>(j)], 1e-10)
            << name << " " << i << " " << j << " training " << training;
      }
    }
  }
}

class Deep : public testing::TestWithParam<std::string> {};

TEST_P(Deep, EqualsTheDenseComputationForEveryChoice) {
  for (const bool sparse : {false, true}) {
    const auto problem = test::tiny_problem(sparse);
    for (const Norm norm : {Norm::kBatch, Norm::kLayer, Norm::kNone}) {
      for (const Skip skip : {Skip::kLinear, Skip::kIdentity, Skip::kNone}) {
        for (const Jumps jumps : {Jumps::kNone, Jumps::kSum, Jumps::kCat}) {
          for (const bool input_linear : {false, true}) {
            ModelOptions o = small(problem);
            o.norm = norm;
            o.skip = skip;
            o.jumps = jumps;
            o.input_linear = input_linear;
            expect_both_modes_equal_dense(GetParam(), o, problem);
          }
        }
      }
    }
  }
}

/// The sum over neighbours comes before the map where features are narrower than a layer, behind it
/// where they are wider.
TEST_P(Deep, EqualsTheDenseComputationInNarrowAndWideLayers) {
  const auto problem = test::tiny_problem(false);
  for (const int64_t hidden : {2, 4, 6}) {
    ModelOptions o = small(problem);
    o.hidden = hidden;
    expect_both_modes_equal_dense(GetParam(), o, problem);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Deep,
                         testing::Values("gcn", "sage", "resnet", "gat", "dgat", "gatv2", "dgatv2",
                                         "gt", "dgt"),
                         test::name_of_parameter<std::string>);

std::string names_of(Model<float>& model) {
  std::vector<std::string> names;
  for (const auto& entry : model.parameters().entries()) {
    names.push_back(fmt::format("{} {}", entry.parameter.name, fmt::join(entry.shape, "x")));
  }
  for (const auto& buffer : model.buffers()) {
    names.push_back(fmt::format("{} {}", buffer.name, buffer.values->cols()));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

TEST(DeepNames, AreThoseOfTheFileFormat) {
  ModelOptions o;
  o.features = 7;
  o.classes = 3;
  o.recipe = Recipe::kDeep;
  o.hidden = 6;
  o.heads = 2;
  o.layers = 1;
  const std::string behind =
      ", layers.0.skip.weight 6x7, layers.0.skip.bias 6, layers.0.norm.weight 6, "
      "layers.0.norm.bias 6, output.weight 3x6, output.bias 3, layers.0.norm.running_mean 6, "
      "layers.0.norm.running_var 6";
  EXPECT_EQ(names_of(*make_model("dgat", o)),
            "layers.0.conv.lin.weight 6x7, layers.0.conv.att_src 2x3, layers.0.conv.att_dst 2x3, "
            "layers.0.conv.lin_edge.weight 6x2, layers.0.conv.att_edge 2x3" +
                behind);
  EXPECT_EQ(names_of(*make_model("gcn", o)),
            "layers.0.conv.lin.weight 6x7, layers.0.conv.lin.bias 6" + behind);
  EXPECT_EQ(names_of(*make_model("sage", o)),
            "layers.0.conv.lin_own.weight 6x7, layers.0.conv.lin_own.bias 6, "
            "layers.0.conv.lin_mean.weight 6x7" +
                behind);
  EXPECT_EQ(names_of(*make_model("resnet", o)), behind.substr(2));
  o.norm = Norm::kNone;
  o.skip = Skip::kNone;
  o.jumps = Jumps::kCat;
  o.input_linear = true;
  o.layers = 2;
  EXPECT_EQ(names_of(*make_model("gcn", o)),
            "input.weight 6x7, input.bias 6, layers.0.conv.lin.weight 6x6, "
            "layers.0.conv.lin.bias 6, layers.1.conv.lin.weight 6x6, layers.1.conv.lin.bias 6, "
            "output.weight 3x12, output.bias 3");
}

TEST(DeepNet, TrainingMovesTheRunningStatisticsAndEvaluationLeavesThem) {
  const auto problem = test::tiny_problem(false);
  const auto model = make_model<double>("gat", small(problem));
  model->prepare(problem.input);
  const auto buffers = model->buffers();
  ASSERT_EQ(buffers.size(), 6U);
  const auto before = buffers[0].values->clone();
  for (const bool training : {false, true}) {
    tensor::Tape<double> tape;
    tape.begin({.training = training});
    model->forward(tape, problem.input);
    const bool same = std::ranges::equal(buffers[0].values->values(), before.values());
    EXPECT_EQ(same, !training);
  }
}

}  // namespace
}  // namespace dgat::nn
