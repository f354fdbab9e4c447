// The baselines: every forward pass against loops over dense matrices, written from the equations;
// and what each must do whatever its equations. (gradient_test.cpp checks the gradients of every
// registered model.) A new baseline adds a row to baselines() and its dense form.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dense_baselines.h"
#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/core/random.h"
#include "dgat/nn/registry.h"
#include "dgat/tensor/adam.h"
#include "dgat/tensor/ops.h"
#include "support/tiny_graphs.h"

namespace dgat::nn {
namespace {
using test::Dense;
using test::linear;
using test::product;
using test::sum;
using test::symmetric;
using test::TinyProblem;
using test::Weights;

double relu(double v) {
  return std::max(0.0, v);
}
Dense times(double factor, const Dense& a) {
  return test::each(a, [factor](double v) { return factor * v; });
}

Dense pgcn(const ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const double gamma = o.extra.at("gamma");
  Dense p = problem.adjacency;
  for (size_t i = 0; i < p.size(); ++i) {
    double degree = 0;
    for (const double v : p[i]) degree += v;
    const double mass = gamma * degree + 1 - gamma;
    for (size_t j = 0; j < p.size(); ++j) {
      p[i][j] = mass == 0 ? 0 : (gamma * p[i][j] + (i == j ? 1 - gamma : 0)) / mass;
    }
  }
  Dense h = test::each(linear(product(p, problem.features), w("input.weight")), relu);
  for (int64_t l = 1; l < o.layers; ++l) {
    h = test::each(linear(product(p, h), w(fmt::format("layers.{}.lin.weight", l))), relu);
  }
  return linear(h, w("output.weight"), w("output.bias"));
}

Dense gprgnn(const ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  Dense z = test::each(linear(problem.features, w("input.weight"), w("input.bias")), relu);
  z = linear(z, w("output.weight"), w("output.bias"));
  const Dense s = symmetric(problem.adjacency, true), weights = w("propagation.weights");
  Dense out = times(weights[0][0], z);
  for (size_t k = 1; k <= static_cast<size_t>(o.extra.at("k")); ++k) {
    z = product(s, z);
    out = sum(out, times(weights[0].at(k), z));
  }
  return out;
}

Dense fsgnn(const ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  std::vector<Dense> blocks = {problem.features};
  for (int hop = 1; hop <= static_cast<int>(o.extra.at("hops")); ++hop) {
    for (const bool loops : {false, true}) {
      Dense x = problem.features;
      for (int k = 0; k < hop; ++k) x = product(symmetric(problem.adjacency, loops), x);
      blocks.push_back(x);
    }
  }
  const Dense mixing = w("mixing");
  double total = 0;
  for (const double a : mixing[0]) total += std::exp(a);
  Dense all(problem.features.size());
  for (size_t l = 0; l < blocks.size(); ++l) {
    const std::string name = fmt::format("blocks.{}", l);
    Dense t = linear(blocks[l], w(name + ".weight"), w(name + ".bias"));
    for (auto& row : t) {
      double squares = 0;
      for (const double v : row) squares += v * v;
      const double norm = o.extra.at("normalise_rows") != 0 ? std::sqrt(squares) : 1;
      for (double& v : row) v *= std::exp(mixing[0].at(l)) / total / norm;
    }
    all = test::beside(all, t);
  }
  return linear(test::each(all, relu), w("output.weight"), w("output.bias"));
}

Dense fagcn(const ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const size_t n = problem.features.size(), d = static_cast<size_t>(o.hidden);
  const Dense first =
      test::each(linear(problem.features, w("input.weight"), w("input.bias")), relu);
  const Dense scale = symmetric(problem.adjacency, false);
  Dense h = first;
  for (int64_t l = 0; l < o.layers; ++l) {
    const Dense g = w(fmt::format("layers.{}.gate.weight", l));
    const double c = w(fmt::format("layers.{}.gate.bias", l))[0][0];
    Dense next = times(o.extra.at("eps"), first);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double score = c;
        for (size_t k = 0; k < d; ++k) score += g[0][k] * h[i][k] + g[0][d + k] * h[j][k];
        for (size_t k = 0; k < d; ++k) next[i][k] += scale[i][j] * std::tanh(score) * h[j][k];
      }
    }
    h = next;
  }
  return linear(h, w("output.weight"), w("output.bias"));
}

/// P_k^{a,b}(x) by the explicit sum over powers of (x - 1) / 2 (Rodrigues), not by recurrence.
std::vector<double> jacobi_in_half_differences(int k, double a, double b) {
  std::vector<double> out;
  for (int s = 0; s <= k; ++s) {
    double c = 1;
    for (int i = 1; i <= s; ++i) c *= (k + a + b + i) * (k - i + 1) / (i * (a + i));
    for (int i = 1; i <= k; ++i) c *= (a + i) / i;
    out.push_back(c);
  }
  return out;
}

Dense jacobiconv(const ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const Dense z = linear(problem.features, w("input.weight"), w("input.bias"));
  Dense half = times(0.5, symmetric(problem.adjacency, false));  // (S - I) / 2
  for (size_t i = 0; i < half.size(); ++i) half[i][i] -= 0.5;
  const Dense beta = w("filter.beta"), eta = w("filter.eta");
  Dense out = test::zeros(z.size(), z[0].size());
  double gammas = 1;
  for (int k = 0; k <= static_cast<int>(o.extra.at("k")); ++k) {
    const auto row = static_cast<size_t>(k);
    if (k > 0) gammas *= o.extra.at("bound") * std::tanh(eta[0].at(row - 1));
    const auto powers = jacobi_in_half_differences(k, o.extra.at("a"), o.extra.at("b"));
    Dense basis = test::zeros(z.size(), z[0].size()), power = z;
    for (const double c : powers) {
      basis = sum(basis, times(c, power));
      power = product(half, power);
    }
    for (size_t i = 0; i < z.size(); ++i) {
      for (size_t l = 0; l < z[i].size(); ++l) out[i][l] += beta.at(row)[l] * gammas * basis[i][l];
    }
  }
  return out;
}

struct Baseline {
  const char* name;
  Dense (*dense)(const ModelOptions&, const Weights&, const TinyProblem&);
  /// Settings to recompute the forward pass with; the depths 1 and 3 are always tried.
  std::vector<std::map<std::string, double>> variants;
  /// Extras that switch off what keeps a model from fitting its training nodes (dropouts).
  std::map<std::string, double> free_fit;
};

std::vector<Baseline> baselines() {
  return {{"pgcn", pgcn, {{{"gamma", 0.3}}, {{"gamma", 0}}, {{"gamma", 1}}}, {}},
          {"gprgnn", gprgnn, {{{"k", 10}}, {{"k", 0}}}, {{"propagation_dropout", 0}}},
          {"fsgnn",
           fsgnn,
           {{{"hops", 3}}, {{"hops", 2}, {"store", 0}}, {{"hops", 0}, {"normalise_rows", 0}}},
           {}},
          {"fagcn", fagcn, {{{"eps", 0.3}}}, {}},
          {"jacobiconv",
           jacobiconv,
           {{{"a", 0.5}, {"b", -0.25}, {"k", 6}}, {{"a", 0}, {"b", 0}, {"bound", 0.5}, {"k", 1}}},
           {{"output_dropout", 0}}},
          {"h2gcn",
           test::h2gcn,
           {{{"relu", 1}, {"dense", 0}}, {{"relu", 1}, {"dense", 1}}, {{"relu", 0}}},
           {}},
          {"dgn",
           test::dgn,
           {{{"complex", 1}},
            {{"complex", 0}},
            {{"complex", 0}, {"mean", 0}},
            {{"av", 0}},
            {{"scalers", 1}, {"graph_norm", 1}},
            {{"complex", 1}, {"scalers", 1}, {"xavier", 1}}},
           {}},
          {"glognn",
           test::glognn,
           {{{"delta", 0.3}, {"gamma", 0.4}, {"beta1", 0.2}, {"beta2", 0.7}, {"orders", 3}},
            {{"delta", 0}, {"beta1", 1}, {"beta2", 0}},
            {{"delta", 1}, {"beta2", 1000}}},
           {}},
          {"gbkgnn", test::gbkgnn, {{}}, {}},
          {"cpgnn", test::cpgnn, {{{"chebyshev", 0}}, {{"chebyshev", 1}, {"symmetric", 1}}}, {}}};
}

class Baselines : public testing::TestWithParam<size_t> {
 protected:
  const Baseline baseline = baselines()[GetParam()];
};

TEST_P(Baselines, ForwardEqualsTheDenseComputation) {
  for (const bool sparse : {false, true}) {
    const TinyProblem problem = test::tiny_problem(sparse);
    for (const auto& variant : baseline.variants) {
      for (const int64_t classes : {3, 2}) {
        ModelOptions o = test::tiny_options(problem, Recipe::kResidual);
        o.classes = classes;
        o.layers = classes == 3 ? 1 : 3;
        o.dropout = 0.4;  // off outside training
        o.extra = variant;
        const auto model = make_model<double>(baseline.name, o);
        for (auto& entry : model->parameters().entries()) {  // constant starts hide mistakes
          Random random(entry.parameter.name.size());
          for (double& v : entry.parameter.value.values()) v += 0.1 * random.normal();
        }
        model->prepare(problem.input);
        tensor::Tape<double> tape;
        const auto logits = model->forward(tape, problem.input).value().clone();
        const Dense expected = baseline.dense(model->options(), test::weights_of(*model), problem);
        ASSERT_EQ(logits.rows(), static_cast<int64_t>(expected.size()));
        ASSERT_EQ(logits.cols(), classes == 2 ? 1 : 3);
        for (int64_t i = 0; i < logits.rows(); ++i) {
          for (int64_t j = 0; j < logits.cols(); ++j) {
            ASSERT_NEAR(logits(i, j), expected[static_cast<size_t>(i)].at(static_cast<size_t>(j)),
                        1e-10)
                << "node " << i << ", column " << j;
          }
        }
      }
    }
  }
}

/// A random graph with an isolated node and random features, sparse or dense, and labels.
GraphInput<float> random_input(graph::NodeId nodes, int64_t features, bool sparse) {
  const auto n = static_cast<size_t>(nodes);
  Random random(23);
  auto graph = std::make_shared<graph::CsrGraph>(
      test::disjoint_union(test::disjoint_union(test::random_graph(nodes / 2, 6.0 / nodes, 3),
                                                test::star(nodes - nodes / 2 - 2)),
                           test::path(1)));
  std::vector<float> values;
  for (size_t i = 0; i < n * static_cast<size_t>(features); ++i) {
    values.push_back(sparse && random.uniform() < 0.9 ? 0 : static_cast<float>(random.normal()));
  }
  GraphInput<float> input;
  input.features = std::make_shared<NodeFeatures<float>>(
      sparse ? data::Features::compact(nodes, features, values)
             : data::Features::dense(nodes, features, values));
  std::vector<double> phi(n);
  for (double& v : phi) v = random.normal();
  input.messages =
      std::make_shared<Messages<float>>(rewire::message_graph(*graph, spectral::NodeVectors(phi)));
  input.graph = std::move(graph);
  for (size_t i = 0; i < n; ++i) {
    input.training_labels.push_back(static_cast<int32_t>(random.below(3)));
  }
  return input;
}

ModelOptions options_for(const GraphInput<float>& input, int64_t hidden) {
  ModelOptions o;
  o.features = input.features->cols();
  o.classes = 3;
  o.nodes = input.nodes();
  o.hidden = hidden;
  return o;
}

/// One training pass over all nodes; the gradients stay in the model.
tensor::Matrix<float> pass(Model<float>& model, const GraphInput<float>& input, uint64_t step) {
  std::vector<int32_t> rows;
  for (int32_t i = 0; i < input.nodes(); ++i) rows.push_back(i);
  tensor::Tape<float> tape({.training = true, .seed = 1, .step = step});
  const auto logits = model.forward(tape, input);
  auto result = logits.value().clone();
  auto loss = tensor::cross_entropy<float>(tape, logits, input.training_labels, rows);
  if (const auto extra = model.auxiliary_loss(tape, input)) loss = tensor::add(tape, loss, extra);
  tape.backward(loss);
  return result;
}

TEST_P(Baselines, FitsEveryLabelOfATinyGraph) {
  const GraphInput<float> input = random_input(24, 40, false);
  ModelOptions o = options_for(input, 32);
  o.layers = 1;
  o.dropout = 0;
  o.extra = baseline.free_fit;
  const auto model = make_model(baseline.name, o);
  model->prepare(input);
  std::vector<tensor::AdamMoments<float>> moments(model->parameters().entries().size());
  for (auto& entry : model->parameters().entries()) entry.parameter.own_weight_decay = 0;
  int64_t right = 0;
  for (int64_t step = 1; step <= 300 && right < input.nodes(); ++step) {
    const auto logits = pass(*model, input, static_cast<uint64_t>(step));
    right = 0;
    for (int64_t i = 0; i < logits.rows(); ++i) {
      const float* row = logits.row(i);
      right +=
          std::max_element(row, row + 3) - row == input.training_labels[static_cast<size_t>(i)];
    }
    size_t next = 0;
    for (auto& entry : model->parameters().entries()) {
      adam_update(entry.parameter, moments[next++], {.lr = 0.02}, step);
      entry.parameter.clear_grad();
    }
  }
  EXPECT_EQ(right, input.nodes());
}

TEST_P(Baselines, SameBitsWithOneTwoAndFourThreads) {
  for (const bool sparse : {false, true}) {
    const GraphInput<float> input = random_input(3000, 21, sparse);
    std::vector<std::vector<float>> reference;
    for (const int threads : {1, 2, 4}) {
      const ThreadScope scope(threads);
      ModelOptions o = options_for(input, 17);
      o.dropout = 0.3;
      const auto model = make_model(baseline.name, o);
      model->prepare(input);
      const auto logits = pass(*model, input, 1);
      std::vector<std::vector<float>> now = {{logits.values().begin(), logits.values().end()}};
      for (const auto& entry : model->parameters().entries()) {
        const auto gradient = entry.parameter.grad.values();
        now.emplace_back(gradient.begin(), gradient.end());
      }
      if (threads == 1) reference = now;
      EXPECT_EQ(now, reference) << threads << " threads";
    }
  }
}

TEST_P(Baselines, DefaultsAndExtrasAreKnownOptions) {
  const ModelInfo& info = find_model(baseline.name);
  EXPECT_TRUE(info.own_recipe);
  EXPECT_FALSE(info.grid.empty());
  for (const auto& [key, values] : info.grid) {
    if (!key.starts_with("extra.")) continue;
    const auto extra =
        std::find_if(info.extras.begin(), info.extras.end(),
                     [&wanted = key](const ExtraOption& e) { return "extra." + e.name == wanted; });
    ASSERT_NE(extra, info.extras.end()) << key;
    for (const std::string& value : values) {
      EXPECT_GE(std::stod(value), extra->first) << key;
      EXPECT_LE(std::stod(value), extra->last) << key;
    }
  }
  for (const ExtraOption& extra : info.extras) {
    ModelOptions o;
    o.features = 4;
    o.classes = 3;
    o.nodes = 7;
    o.hidden = 8;
    o.extra[extra.name] = std::nan("");
    EXPECT_THROW(make_model(baseline.name, o), InputError) << extra.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Baselines, testing::Range<size_t>(0, baselines().size()),
                         [](const auto& tested) {
                           return std::string(baselines()[tested.param].name);
                         });

/// A graph whose features say nothing.
GraphInput<double> bare_input(graph::CsrGraph graph) {
  GraphInput<double> input;
  const graph::NodeId n = graph.nodes();
  input.features = std::make_shared<NodeFeatures<double>>(
      data::Features::dense(n, 1, std::vector<float>(static_cast<size_t>(n), 1)));
  input.graph = std::make_shared<graph::CsrGraph>(std::move(graph));
  return input;
}

TEST(Cpgnn, StartsFromTheCompatibilityOfTheTrainingLabels) {
  // Classes 0, 1, 2, 0, 1, 2, ... around a ring: a node of one class sees the two others equally.
  GraphInput<double> input = bare_input(test::disjoint_union(test::ring(9), test::path(1)));
  for (int32_t i = 0; i < 10; ++i) input.training_labels.push_back(i % 3);  // the last is isolated
  ModelOptions o;
  o.features = 1;
  o.classes = 3;
  o.hidden = 4;
  const auto model = make_model<double>("cpgnn", o);
  model->prepare(input);
  model->end_pretraining(input);
  const Dense h = test::weights_of(*model)("compatibility");
  for (size_t a = 0; a < 3; ++a) {
    for (size_t b = 0; b < 3; ++b) EXPECT_NEAR(h[a][b], a == b ? -1.0 / 3 : 1.0 / 6, 1e-9);
  }
  // Half of the labels hidden: still symmetric with rows that sum to zero.
  for (size_t i = 0; i < 10; i += 2) input.training_labels[i] = -1;
  model->end_pretraining(input);
  const Dense partial = test::weights_of(*model)("compatibility");
  for (size_t a = 0; a < 3; ++a) {
    EXPECT_NEAR(partial[a][0] + partial[a][1] + partial[a][2], 0, 1e-9);
    for (size_t b = 0; b < 3; ++b) EXPECT_NEAR(partial[a][b], partial[b][a], 1e-12);
  }
}

TEST(Dgn, ForgetsTheSignsOfItsEigenvectors) {
  GraphInput<double> input = bare_input(test::random_graph(30, 0.2, 5));
  ModelOptions o;
  o.features = 1;
  o.classes = 3;
  o.hidden = 8;
  o.eigenvectors = 2;
  Random random(3);
  std::vector<double> phi(60);
  for (double& v : phi) v = random.normal();
  std::vector<tensor::Matrix<double>> logits;
  for (const double sign : {1.0, -1.0}) {
    for (size_t i = 0; i < 30; ++i) phi[i] *= sign;  // the first of the two
    input.messages = std::make_shared<Messages<double>>(
        rewire::message_graph(*input.graph, spectral::NodeVectors(phi, 30, 2)));
    const auto model = make_model<double>("dgn", o);
    model->prepare(input);
    tensor::Tape<double> tape;
    logits.push_back(model->forward(tape, input).value().clone());
  }
  for (int64_t k = 0; k < logits[0].size(); ++k) {
    EXPECT_EQ(logits[0].data()[k], logits[1].data()[k]);
  }
}

TEST(Dgn, StartsAsItsAuthorsDoWhenAsked) {
  ModelOptions o;
  o.features = 5;
  o.classes = 3;
  o.hidden = 8;
  o.layers = 1;
  o.extra = {{"complex", 1}, {"xavier", 1}};
  const auto model = make_model<double>("dgn", o);
  const auto largest = [&](const char* name) {
    double size = 0;
    for (const double v : model->parameters().find(name)->parameter.value.values()) {
      size = std::max(size, std::abs(v));
    }
    return size;
  };
  // One map of [h_i || h_j] (16 columns) in two parts; mix reads h and three aggregators.
  const double message = std::sqrt(6.0 / (16 + 8)) / 16, mix = std::sqrt(6.0 / (32 + 8)) / 32;
  for (const char* name : {"layers.0.sender.weight", "layers.0.receiver.weight"}) {
    EXPECT_LE(largest(name), message) << name;
    EXPECT_GT(largest(name), 0.8 * message) << name;
  }
  EXPECT_LE(largest("layers.0.mix.weight"), mix);
  EXPECT_GT(largest("layers.0.mix.weight"), 0.8 * mix);
  EXPECT_EQ(largest("layers.0.receiver.bias"), 0);
  EXPECT_EQ(largest("layers.0.mix.bias"), 0);
  EXPECT_GT(largest("readout.0.bias"), 0) << "maps behind the layers start as elsewhere";
}

TEST(H2gcn, RefusesATwoHopGraphBeyondTheBudget) {
  GraphInput<double> input = bare_input(test::star(1000));
  input.precomputed = std::make_shared<PrecomputedParts>(2'000'000);
  ModelOptions o;
  o.features = 1;
  o.classes = 3;
  const auto model = make_model<double>("h2gcn", o);
  try {
    model->prepare(input);
    FAIL() << "999,000 pairs in 2 MB";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("two-hop graph: needs 0.0"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("999000 pairs at distance two"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace dgat::nn
