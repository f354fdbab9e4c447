#pragma once

#include "dense_reference.h"

/// More baselines written a second time: loops over dense matrices, from the equations at the top
/// of src/nn/baselines/NAME.cpp. Logits in evaluation mode.
namespace dgat::test {

using DenseForward = Dense (*)(const nn::ModelOptions&, const Weights&, const TinyProblem&);

Dense h2gcn(const nn::ModelOptions& options, const Weights& weights, const TinyProblem& problem);
/// With running statistics at their start, mean 0 and variance 1.
Dense dgn(const nn::ModelOptions& options, const Weights& weights, const TinyProblem& problem);
/// Forms the N x N matrix Z.
Dense glognn(const nn::ModelOptions& options, const Weights& weights, const TinyProblem& problem);
Dense gbkgnn(const nn::ModelOptions& options, const Weights& weights, const TinyProblem& problem);
/// The second stage.
Dense cpgnn(const nn::ModelOptions& options, const Weights& weights, const TinyProblem& problem);

}  // namespace dgat::test
