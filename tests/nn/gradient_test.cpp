#include <gtest/gtest.h>

#include <cmath>

#include "dense_reference.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/ops.h"

namespace dgat::nn {
namespace {

/// Loss of one training pass; dropout masks depend on the seed only, so it is a smooth function of
/// the parameters.
double loss_of(Model<double>& model, const test::TinyProblem& problem, bool backward) {
  tensor::Tape<double> tape;
  tape.begin({.training = true, .seed = 3, .step = 1});
  const auto logits = model.forward(tape, problem.input);
  const std::vector<int32_t> rows = {0, 1, 2, 4, 5};
  auto loss = tensor::cross_entropy(tape, logits, problem.input.training_labels, rows);
  if (const auto extra = model.auxiliary_loss(tape, problem.input)) {
    loss = tensor::add(tape, loss, extra);
  }
  const double value = loss.value()(0, 0);
  if (backward) tape.backward(loss);
  return value;
}

void expect_gradients_match(const std::string& name, Recipe recipe, bool sparse) {
  const auto problem = test::tiny_problem(sparse);
  ModelOptions o;
  o.features = problem.input.features->cols();
  o.classes = problem.classes;
  o.nodes = problem.input.nodes();
  o.recipe = recipe;
  o.hidden = 8;
  o.heads = 2;
  o.layers = 2;
  o.dropout = 0.25;
  o.projection = true;
  o.seed = 9;
  const auto model = make_model<double>(name, o);
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
          << name << " " << to_string(recipe) << " " << p.name << " entry " << at;
    }
  }
}

class Gradient : public testing::TestWithParam<std::string> {};

TEST_P(Gradient, MatchesFiniteDifferences) {
  for (const bool sparse : {false, true}) {
    expect_gradients_match(GetParam(), Recipe::kResidual, sparse);
    if (find_model(GetParam()).has_classic) {
      expect_gradients_match(GetParam(), Recipe::kClassic, sparse);
    }
  }
}

/// Every registered model, so that a new baseline is covered by its line in the registry.
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ModelInfo& info : all_models()) all.push_back(info.name);
  return all;
}
std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Models, Gradient, testing::ValuesIn(names()), test_name);

}  // namespace
}  // namespace dgat::nn
