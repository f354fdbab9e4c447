#include <gtest/gtest.h>

#include <cmath>

#include "dense_reference.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/ops.h"
#include "support/test_names.h"

namespace dgat::nn {
namespace {

const std::vector<int32_t> kRows = {5, 0, 1, 2, 4};

/// Loss of one training pass; dropout masks depend on the seed only, so it is a smooth function of
/// the parameters. `all`: from the logits of all nodes instead of those of the training nodes.
double loss_of(Model<double>& model, const test::TinyProblem& problem, bool backward,
               bool all = false, const std::vector<int32_t>& rows = kRows) {
  tensor::Tape<double> tape;
  tape.begin({.training = true, .seed = 3, .step = 1});
  const auto logits = all ? tensor::gather_rows(tape, model.forward(tape, problem.input), rows)
                          : model.forward_rows(tape, problem.input, rows);
  std::vector<int32_t> labels;
  for (const int32_t i : rows) {
    labels.push_back(problem.input.training_labels[static_cast<size_t>(i)]);
  }
  auto loss = tensor::cross_entropy(tape, logits, labels);
  if (const auto extra = model.auxiliary_loss(tape, problem.input)) {
    loss = tensor::add(tape, loss, extra);
  }
  const double value = loss.value()(0, 0);
  if (backward) tape.backward(loss);
  return value;
}

ModelOptions options_for(const test::TinyProblem& problem, Recipe recipe) {
  ModelOptions o = test::tiny_options(problem, recipe);
  o.dropout = 0.25;
  o.projection = o.conv_bias = o.dropout_values = true;
  o.seed = 9;
  return o;
}

void expect_gradients_match(const std::string& name, const test::TinyProblem& problem,
                            const ModelOptions& options) {
  const auto model = make_model<double>(name, options);
  model->prepare(problem.input);
  for (auto& entry : model->parameters().entries()) entry.parameter.clear_grad();
  loss_of(*model, problem, true);
  Random random(17);
  for (auto& entry : model->parameters().entries()) {
    auto& p = entry.parameter;
    ASSERT_TRUE(p.has_grad) << name << " " << p.name;
    for (int draw = 0; draw < 3; ++draw) {
      const auto at = static_cast<int64_t>(random.below(static_cast<uint64_t>(p.value.size())));
      double& x = p.value.data()[at];
      const double before = x, h = 1e-5;
      x = before + h;
      const double up = loss_of(*model, problem, false);
      x = before - h;
      const double down = loss_of(*model, problem, false);
      x = before;
      const double expected = (up - down) / (2 * h);
      EXPECT_NEAR(p.grad.data()[at], expected, 1e-7 + 1e-5 * std::abs(expected))
          << name << " " << to_string(options.recipe) << " " << p.name << " entry " << at;
    }
  }
}

std::vector<Recipe> recipes_of(const std::string& model) {
  const ModelInfo& info = find_model(model);
  std::vector<Recipe> recipes = {Recipe::kResidual};
  if (info.has_classic) recipes.push_back(Recipe::kClassic);
  if (info.has_deep) recipes.push_back(Recipe::kDeep);
  return recipes;
}

class Gradient : public testing::TestWithParam<std::string> {};

TEST_P(Gradient, MatchesFiniteDifferences) {
  for (const bool sparse : {false, true}) {
    const auto problem = test::tiny_problem(sparse);
    for (const Recipe recipe : recipes_of(GetParam())) {
      expect_gradients_match(GetParam(), problem, options_for(problem, recipe));
    }
  }
}

TEST(DeepGradient, MatchesFiniteDifferencesForEveryChoice) {
  const auto problem = test::tiny_problem(true);
  for (const char* model : {"dgat", "gcn", "sage", "resnet"}) {
    for (const Norm norm : {Norm::kBatch, Norm::kLayer, Norm::kNone}) {
      for (const Skip skip : {Skip::kLinear, Skip::kIdentity, Skip::kNone}) {
        for (const Jumps jumps : {Jumps::kNone, Jumps::kSum, Jumps::kCat}) {
          ModelOptions o = options_for(problem, Recipe::kDeep);
          o.norm = norm;
          o.skip = skip;
          o.jumps = jumps;
          o.input_linear = skip == Skip::kIdentity;
          expect_gradients_match(model, problem, o);
        }
      }
    }
  }
}

/// A pass for the training nodes only leaves out what does not matter, and nothing else. One of
/// the lists is a single node at the end of a path: three layers read 2, 3 and all 7 nodes for it.
void expect_rows_are_enough(const std::string& name, Recipe recipe,
                            const std::vector<int32_t>& rows, int64_t layers,
                            Norm norm = Norm::kBatch) {
  const auto problem = test::tiny_problem(true);
  ModelOptions o = options_for(problem, recipe);
  o.norm = norm;
  o.dropout = 0;
  o.layers = layers;
  const auto model = make_model<double>(name, o);
  model->prepare(problem.input);
  const double loss = loss_of(*model, problem, true, /*all=*/true, rows);
  std::vector<tensor::Matrix<double>> expected;
  for (auto& entry : model->parameters().entries()) {
    expected.push_back(entry.parameter.grad.clone());
    entry.parameter.clear_grad();
  }
  EXPECT_NEAR(loss_of(*model, problem, true, false, rows), loss, 1e-12);
  size_t next = 0;
  for (auto& entry : model->parameters().entries()) {
    const auto& grad = expected[next++];
    for (int64_t i = 0; i < grad.size(); ++i) {
      EXPECT_NEAR(entry.parameter.grad.data()[i], grad.data()[i], 1e-12)
          << name << " " << to_string(recipe) << " " << entry.parameter.name << " entry " << i;
    }
  }
}

TEST_P(Gradient, TrainingNodesAreEnough) {
  for (const bool at_the_end : {false, true}) {
    const std::vector<int32_t> rows = at_the_end ? std::vector<int32_t>{5} : kRows;
    const int64_t layers = at_the_end ? 3 : 2;
    for (const Recipe recipe : recipes_of(GetParam())) {
      expect_rows_are_enough(GetParam(), recipe, rows, layers);
    }
    if (find_model(GetParam()).has_deep) {
      expect_rows_are_enough(GetParam(), Recipe::kDeep, rows, layers, Norm::kNone);
    }
  }
}

TEST(ForwardRows, FollowsTheRowsAndTheGraphItIsAskedFor) {
  const auto problem = test::tiny_problem(true);
  ModelOptions o = options_for(problem, Recipe::kResidual);
  const auto model = make_model<double>("dgat", o);
  model->prepare(problem.input);
  tensor::Tape<double> tape;
  tape.begin({});
  const auto all = model->forward(tape, problem.input);
  for (const std::vector<int32_t>& rows : {std::vector{3, 0}, {1}, {0, 1, 2, 3, 4, 5}}) {
    const auto some = model->forward_rows(tape, problem.input, rows);
    ASSERT_EQ(some.rows(), std::ssize(rows));
    for (size_t r = 0; r < rows.size(); ++r) {
      for (int64_t c = 0; c < all.cols(); ++c) {
        EXPECT_NEAR(some.value()(static_cast<int64_t>(r), c), all.value()(rows[r], c), 1e-12);
      }
    }
  }
}

/// Every registered model, so that a new baseline is covered by its line in the registry.
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ModelInfo& info : all_models()) all.push_back(info.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Models, Gradient, testing::ValuesIn(names()),
                         test::name_of_parameter<std::string>);

}  // namespace
}  // namespace dgat::nn
