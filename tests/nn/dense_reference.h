#pragma once

#include <functional>
#include <string>
#include <vector>

#include "dgat/nn/model.h"

/// The models of spec section 6 written a second time: nested loops over dense N x N matrices, in
/// double, from the formulas alone. Slow and plain on purpose.
namespace dgat::test {

using Dense = std::vector<std::vector<double>>;  ///< rows

Dense zeros(size_t rows, size_t cols);
Dense product(const Dense& a, const Dense& b);
Dense transposed(const Dense& a);
Dense each(Dense a, const std::function<double(double)>& f);
Dense sum(Dense a, const Dense& b);
Dense beside(Dense a, const Dense& b);  ///< [a || b]
/// x weight^T + bias (one row, or empty).
Dense linear(const Dense& x, const Dense& weight, const Dense& bias = {});
/// D^-1/2 A D^-1/2, or that of A + I; rows of isolated nodes stay 0.
Dense symmetric(Dense adjacency, bool self_loops);

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
/// Two layers of 8 hidden numbers and 2 heads for it.
nn::ModelOptions tiny_options(const TinyProblem& problem, nn::Recipe recipe);

/// Parameters and buffers by name, [out, in] (a vector is one row).
using Weights = std::function<Dense(const std::string& name)>;
Weights weights_of(nn::Model<double>& model);

/// Logits of a model of any recipe without dropout. `training`: a batch norm takes the statistics
/// of these nodes, not the running ones.
Dense dense_forward(const std::string& model, const nn::ModelOptions& options,
                    const Weights& weights, const TinyProblem& problem, bool training = false);

}  // namespace dgat::test
