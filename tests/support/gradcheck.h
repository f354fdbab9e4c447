#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "dgat/core/random.h"
#include "dgat/tensor/ops.h"

/// Finite differences against the tape, in double: one helper for every operation.
namespace dgat::test {

/// Uniform entries of unit variance times `scale`, a function of the seed.
template <class T>
tensor::Matrix<T> random_matrix(int64_t rows, int64_t cols, uint64_t seed, double scale = 1) {
  tensor::Matrix<T> result(rows, cols);
  Random random(seed);
  for (T& value : result.values())
    value = static_cast<T>(scale * std::sqrt(12.0) * (random.uniform() - 0.5));
  return result;
}

template <class T>
tensor::Parameter<T> random_parameter(int64_t rows, int64_t cols, uint64_t seed, double scale = 1) {
  tensor::Parameter<T> result;
  result.name = fmt::format("p{}", seed);
  result.value = random_matrix<T>(rows, cols, seed, scale);
  return result;
}

/// A loss that no symmetry of an operation can hide from: the mean of x times fixed random weights.
template <class T>
tensor::Var<T> probe(tensor::Tape<T>& tape, const tensor::Var<T>& x, uint64_t seed = 99) {
  return mean(tape, multiply(tape, x, tape.constant(random_matrix<T>(x.rows(), x.cols(), seed))));
}

/// Inputs become parameters; `forward` builds a result of any shape from them.
using Forward = std::function<tensor::Var<double>(tensor::Tape<double>&,
                                                  const std::vector<tensor::Var<double>>&)>;

/// Compares d(probe(forward))/d(input) of every entry with central differences.
inline void expect_gradients(std::vector<tensor::Matrix<double>> inputs, const Forward& forward,
                             double tolerance = 2e-8) {
  using tensor::Parameter;
  using tensor::Tape;
  using tensor::Var;
  std::vector<Parameter<double>> parameters(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) parameters[i].value = std::move(inputs[i]);
  const auto loss = [&](Tape<double>& tape) {
    tape.begin({.training = true, .seed = 5, .step = 3});
    std::vector<Var<double>> vars;
    for (auto& parameter : parameters) vars.push_back(tape.parameter(parameter));
    return probe(tape, forward(tape, vars));
  };
  Tape<double> tape;
  tape.backward(loss(tape));
  const double h = 1e-5;
  for (size_t p = 0; p < parameters.size(); ++p) {
    ASSERT_TRUE(parameters[p].has_grad) << "input " << p << " got no gradient";
    for (int64_t i = 0; i < parameters[p].value.size(); ++i) {
      double& entry = parameters[p].value.data()[i];
      const double saved = entry;
      entry = saved + h;
      const double up = loss(tape).value()(0, 0);
      entry = saved - h;
      const double down = loss(tape).value()(0, 0);
      entry = saved;
      const double expected = (up - down) / (2 * h);
      EXPECT_NEAR(parameters[p].grad.data()[i], expected, tolerance * (1 + std::abs(expected)))
          << "input " << p << ", entry " << i;
    }
  }
}

}  // namespace dgat::test
