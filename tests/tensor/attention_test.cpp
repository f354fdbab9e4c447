// The fused attention is the composition of plain edge operations, forward and backward.
#include "dgat/tensor/attention.h"

#include <gtest/gtest.h>

#include "dgat/core/parallel.h"
#include "dgat/graph/builder.h"
#include "dgat/tensor/edge_ops.h"
#include "dgat/tensor/ops.h"
#include "support/gradcheck.h"
#include "support/test_names.h"
#include "support/tiny_graphs.h"

namespace dgat::tensor {
namespace {
using test::random_matrix;

enum class Form { kAdditive, kGatv2, kDot };

/// Shapes of the inputs: values or dst, then the rest of the form, then edge coefficients and bias.
template <class T>
std::vector<Parameter<T>> inputs(Form form, const MessageGraph& graph, int64_t heads, int64_t d,
                                 int64_t k) {
  const int64_t receivers = graph.nodes(), senders = graph.sender_nodes();
  std::vector<Parameter<T>> result;
  const auto add = [&](int64_t rows, int64_t cols) {
    result.push_back(test::random_parameter<T>(rows, cols, 10 + result.size()));
  };
  add(form == Form::kAdditive ? senders : receivers, heads * d);
  switch (form) {
    case Form::kAdditive:
      add(receivers, heads);
      add(senders, heads);
      break;
    case Form::kGatv2:
      add(senders, heads * d);
      add(heads, d);
      break;
    case Form::kDot:
      add(senders, heads * d);
      add(senders, heads * d);
      break;
  }
  add(heads, k);
  add(1, heads);
  return result;
}

template <class T>
Var<T> fused(Tape<T>& t, Form form, const MessageGraph& graph, const Matrix<T>& features,
             const std::vector<Var<T>>& v, const AttentionOptions& options,
             AlphaOut<T> alpha = nullptr) {
  const EdgeTerm<T> edge{&features, v[3], v[4]};
  switch (form) {
    case Form::kAdditive:
      return additive_attention(t, graph, v[0], v[1], v[2], edge, options, alpha);
    case Form::kGatv2:
      return gatv2_attention(t, graph, v[0], v[1], v[2], edge, options, alpha);
    case Form::kDot:
      return dot_attention(t, graph, v[0], v[1], v[2], edge, options, alpha);
  }
  return {};
}

template <class T>
Var<T> composed(Tape<T>& t, Form form, const MessageGraph& graph, const Matrix<T>& features,
                const std::vector<Var<T>>& v, const AttentionOptions& options) {
  const Var<T> edge = linear(t, t.reference(features), v[3], v[4]);
  const int64_t heads = options.heads, d = v[0].cols() / heads;
  Var<T> scores, values = v[0];
  switch (form) {
    case Form::kAdditive:
      scores = activate(t, add(t, edge_additive_scores(t, graph, v[1], v[2]), edge),
                        Activation::kLeakyRelu, options.slope);
      break;
    case Form::kGatv2:
      values = v[1];
      scores = add(t, edge_gatv2_scores(t, graph, v[0], v[1], v[2], options.slope), edge);
      break;
    case Form::kDot:
      values = v[2];
      scores = add(
          t, edge_dot_scores(t, graph, v[0], v[1], heads, 1 / std::sqrt(static_cast<double>(d))),
          edge);
      break;
  }
  return edge_aggregate(t, graph, edge_softmax(t, graph, scores), values);
}

/// Output and all gradients, one after another.
template <class T, class Run>
std::vector<Matrix<T>> results(std::vector<Parameter<T>>& parameters, const Run& run) {
  Tape<T> tape({.training = true, .seed = 1, .step = 2});
  std::vector<Var<T>> vars;
  for (auto& parameter : parameters) {
    parameter.clear_grad();
    vars.push_back(tape.parameter(parameter));
  }
  const Var<T> out = run(tape, vars);
  std::vector<Matrix<T>> all;
  all.push_back(out.value().clone());
  tape.backward(test::probe(tape, out));
  for (auto& parameter : parameters) all.push_back(parameter.grad.clone());
  return all;
}

template <class T>
double largest(const Matrix<T>& a) {
  double size = 0;
  for (const T value : a.values()) size = std::max(size, std::abs(static_cast<double>(value)));
  return size;
}

/// Random arcs, an isolated node (its row is empty without self loops) and a hub of 2,100 arcs,
/// which is cut into pieces.
MessageGraph graph_with_hub() {
  constexpr graph::NodeId kLeaves = 2100;
  std::vector<graph::Edge> edges;
  for (graph::NodeId i = 1; i <= kLeaves; ++i) edges.push_back({0, i});
  for (graph::NodeId i = 1; i < kLeaves; i += 3) edges.push_back({i, i + 1});
  return MessageGraph::from(graph::build_graph(kLeaves + 2, edges).graph, false);
}

struct Case {
  Form form;
  int64_t heads, d, k;
};
std::ostream& operator<<(std::ostream& out, const Case& c) {
  const char* forms[] = {"additive", "gatv2", "dot"};
  return out << forms[static_cast<size_t>(c.form)] << " " << c.heads << " heads of " << c.d
             << " with " << c.k << " directions";
}
class AttentionForm : public testing::TestWithParam<Case> {};

template <class T>
void expect_fused_equals_composed(const Case& c, const MessageGraph& graph, double tolerance) {
  auto parameters = inputs<T>(c.form, graph, c.heads, c.d, c.k);
  const Matrix<T> features = random_matrix<T>(graph.arcs(), c.k, 77);
  const AttentionOptions options{.heads = c.heads};
  const auto a = results<T>(parameters, [&](Tape<T>& t, const std::vector<Var<T>>& v) {
    return fused(t, c.form, graph, features, v, options);
  });
  const auto b = results<T>(parameters, [&](Tape<T>& t, const std::vector<Var<T>>& v) {
    return composed(t, c.form, graph, features, v, options);
  });
  // A gradient may vanish (a bias on all scores of a row has no effect): what is left of it is
  // judged by the size of the largest one.
  double gradients = 0;
  for (size_t i = 1; i < b.size(); ++i) gradients = std::max(gradients, largest(b[i]));
  for (size_t i = 0; i < a.size(); ++i) {
    double difference = 0;
    for (int64_t e = 0; e < a[i].size(); ++e) {
      difference =
          std::max(difference, std::abs(static_cast<double>(a[i].data()[e] - b[i].data()[e])));
    }
    EXPECT_LT(difference, tolerance * (i == 0 ? largest(b[i]) : gradients))
        << (i == 0 ? "output" : "gradient ") << i;
  }
}

TEST_P(AttentionForm, FusedEqualsComposedInFloat) {
  expect_fused_equals_composed<float>(GetParam(), graph_with_hub(), 3e-5);
}
TEST_P(AttentionForm, FusedEqualsComposedInDouble) {
  expect_fused_equals_composed<double>(GetParam(), graph_with_hub(), 1e-12);
}

TEST_P(AttentionForm, FusedEqualsComposedForSomeReceivers) {
  // The hub, a leaf twice, the isolated node: fewer receivers than senders, in any order.
  const std::vector<int32_t> receivers = {7, 0, 2101, 3, 7};
  expect_fused_equals_composed<double>(GetParam(), graph_with_hub().into(receivers), 1e-12);
}

TEST_P(AttentionForm, GradientMatchesFiniteDifferencesWithDropout) {
  const Case& c = GetParam();
  const MessageGraph graph = MessageGraph::from(test::random_graph(6, 0.4, 3), true);
  const Matrix<double> features = random_matrix<double>(graph.arcs(), c.k, 77);
  auto parameters = inputs<double>(c.form, graph, c.heads, 3, c.k);
  std::vector<Matrix<double>> values;
  for (auto& parameter : parameters) values.push_back(std::move(parameter.value));
  test::expect_gradients(
      std::move(values), [&](Tape<double>& t, const std::vector<Var<double>>& v) {
        return fused(t, c.form, graph, features, v, {.heads = c.heads, .dropout = 0.3});
      });
}

TEST_P(AttentionForm, SameBitsAtEveryThreadCount) {
  const Case& c = GetParam();
  const MessageGraph graph = graph_with_hub();
  auto parameters = inputs<float>(c.form, graph, c.heads, c.d, c.k);
  const Matrix<float> features = random_matrix<float>(graph.arcs(), c.k, 77);
  std::vector<Matrix<float>> reference;
  for (const int threads : {1, 2, 4}) {
    const ThreadScope scope(threads);
    auto now = results<float>(parameters, [&](Tape<float>& t, const std::vector<Var<float>>& v) {
      return fused(t, c.form, graph, features, v, {.heads = c.heads, .dropout = 0.2});
    });
    if (reference.empty()) {
      reference = std::move(now);
      continue;
    }
    for (size_t i = 0; i < now.size(); ++i) {
      EXPECT_TRUE(
          std::equal(now[i].values().begin(), now[i].values().end(), reference[i].values().begin()))
          << "result " << i << " at " << threads << " threads";
    }
  }
}

TEST_P(AttentionForm, EvaluationGivesTheSameOutputWithoutKeepingAlpha) {
  const Case& c = GetParam();
  const MessageGraph graph = graph_with_hub();
  auto parameters = inputs<float>(c.form, graph, c.heads, c.d, c.k);
  const Matrix<float> features = random_matrix<float>(graph.arcs(), c.k, 77);
  const auto run = [&](bool training, AlphaOut<float> alpha) {
    Tape<float> tape({.training = training});
    std::vector<Var<float>> v;
    for (auto& parameter : parameters) v.push_back(tape.parameter(parameter));
    return fused(tape, c.form, graph, features, v, {.heads = c.heads}, alpha).value().clone();
  };
  Matrix<float> alpha;
  const Matrix<float> train = run(true, nullptr), eval = run(false, nullptr),
                      inspected = run(false, &alpha);
  EXPECT_TRUE(std::equal(train.values().begin(), train.values().end(), eval.values().begin()));
  EXPECT_TRUE(std::equal(eval.values().begin(), eval.values().end(), inspected.values().begin()));
  // Every row of alpha sums to one, the hub's too.
  for (int64_t i = 0; i < graph.nodes(); ++i) {
    const int64_t begin = graph.offsets()[static_cast<size_t>(i)];
    const int64_t end = graph.offsets()[static_cast<size_t>(i) + 1];
    for (int64_t h = 0; h < c.heads; ++h) {
      double sum = 0;
      for (int64_t e = begin; e < end; ++e) sum += static_cast<double>(alpha(e, h));
      EXPECT_NEAR(sum, begin == end ? 0 : 1, 1e-5) << "row " << i;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, AttentionForm,
                         testing::Values(Case{Form::kAdditive, 1, 5, 2},
                                         Case{Form::kAdditive, 3, 7, 2},
                                         Case{Form::kAdditive, 8, 16, 4},
                                         Case{Form::kGatv2, 1, 5, 2}, Case{Form::kGatv2, 3, 7, 2},
                                         Case{Form::kGatv2, 8, 16, 2}, Case{Form::kDot, 1, 5, 2},
                                         Case{Form::kDot, 3, 7, 4}, Case{Form::kDot, 8, 17, 2}),
                         [](const auto& tested) {
                           return test::test_name(testing::PrintToString(tested.param));
                         });

TEST(Attention, HugeScoresDoNotOverflow) {
  const MessageGraph graph = MessageGraph::from(test::star(3), true);
  Tape<float> tape;
  const Var<float> values = tape.constant(random_matrix<float>(4, 2, 1));
  const Var<float> dst = tape.constant(Matrix<float>::filled(4, 1, 300.0f));
  const Var<float> src = tape.constant(Matrix<float>::from(4, 1, std::vector<float>{0, 1, 900, 2}));
  const Var<float> out = additive_attention<float>(tape, graph, values, dst, src, {}, {.heads = 1});
  // Node 2 wins every softmax it takes part in.
  EXPECT_NEAR(out.value()(0, 0), values.value()(2, 0), 1e-6);
  EXPECT_TRUE(all_finite(out.value()));
}

TEST(Attention, EqualScoresAverageTheNeighbours) {
  const MessageGraph graph = MessageGraph::from(test::ring(5), true);
  Tape<double> tape;
  const Var<double> values = tape.constant(random_matrix<double>(5, 4, 1));
  const Var<double> zero = tape.constant(Matrix<double>::zeros(5, 2));
  const Var<double> out =
      additive_attention<double>(tape, graph, values, zero, zero, {}, {.heads = 2});
  for (int64_t c = 0; c < 4; ++c) {
    EXPECT_NEAR(out.value()(1, c),
                (values.value()(0, c) + values.value()(1, c) + values.value()(2, c)) / 3, 1e-14);
  }
}

}  // namespace
}  // namespace dgat::tensor
