#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dgat/nn/model.h"

/// The models of spec section 6 written a second time: nested loops over dense N x N matrices, in
/// double, from the formulas alone. Slow and plain on purpose.
namespace dgat::test {

using Dense = std::vector<std::vector<double>>;  ///< rows

/// A graph with everything a model may look at.
struct TinyProblem {
  nn::GraphInput<double> input;
  Dense features;                  ///< [n, f]
  Dense adjacency;                 ///< 0/1 without self loops
  std::vector<Dense> edge_values;  ///< per edge feature an n x n matrix (self loops included)
  int64_t classes = 3;
};
/// Seven nodes, one of them isolated, a hub; random features, sparse or dense; phi random.
TinyProblem tiny_problem(bool sparse_features);

/// Parameters by name, [out, in] (a vector is one row).
using Weights = std::function<Dense(const std::string& name)>;
Weights weights_of(nn::Model<double>& model);

/// Logits of a model of either recipe without dropout.
Dense dense_forward(const std::string& model, const nn::ModelOptions& options,
                    const Weights& weights, const TinyProblem& problem);

}  // namespace dgat::test
