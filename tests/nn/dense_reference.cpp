#include "dense_reference.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "dgat/core/random.h"
#include "dgat/graph/builder.h"

namespace dgat::test {

Dense zeros(size_t rows, size_t cols) {
  return Dense(rows, std::vector<double>(cols, 0));
}

Dense product(const Dense& a, const Dense& b) {
  Dense out = zeros(a.size(), b.at(0).size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t k = 0; k < b.size(); ++k) {
      for (size_t j = 0; j < b[k].size(); ++j) out[i][j] += a[i].at(k) * b[k][j];
    }
  }
  return out;
}

Dense transposed(const Dense& a) {
  Dense out = zeros(a.at(0).size(), a.size());
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) out[j][i] = a[i][j];
  }
  return out;
}

Dense each(Dense a, const std::function<double(double)>& f) {
  for (auto& row : a) {
    for (double& v : row) v = f(v);
  }
  return a;
}

Dense sum(Dense a, const Dense& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a[i].size(); ++j) a[i][j] += b.at(i).at(j);
  }
  return a;
}

Dense beside(Dense a, const Dense& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i].insert(a[i].end(), b[i].begin(), b[i].end());
  return a;
}

Dense linear(const Dense& x, const Dense& weight, const Dense& bias) {
  Dense out = product(x, transposed(weight));
  for (auto& row : out) {
    for (size_t j = 0; j < row.size() && !bias.empty(); ++j) row[j] += bias[0].at(j);
  }
  return out;
}

Dense symmetric(Dense a, bool self_loops) {
  const size_t n = a.size();
  std::vector<double> degree(n, 0);
  for (size_t i = 0; i < n; ++i) {
    if (self_loops) a[i][i] += 1;
    for (const double v : a[i]) degree[i] += v;
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      if (a[i][j] != 0) a[i][j] /= std::sqrt(degree[i] * degree[j]);
    }
  }
  return a;
}

namespace {

double gelu(double v) {
  return 0.5 * v * (1 + std::erf(v / std::numbers::sqrt2));
}
double elu(double v) {
  return v > 0 ? v : std::expm1(v);
}
double leaky(double v) {
  return v > 0 ? v : 0.2 * v;
}

struct Net {
  const nn::ModelOptions& o;
  const Weights& w;
  const TinyProblem& problem;

  size_t nodes() const { return problem.features.size(); }

  Dense linear(const std::string& name, const Dense& x, bool bias = true) const {
    return test::linear(x, w(name + ".weight"), bias ? w(name + ".bias") : Dense());
  }

  Dense norm(const std::string& name, Dense x) const {
    const Dense weight = w(name + ".weight"), bias = w(name + ".bias");
    for (auto& row : x) {
      double mean = 0, variance = 0;
      for (const double v : row) mean += v / static_cast<double>(row.size());
      for (const double v : row)
        variance += (v - mean) * (v - mean) / static_cast<double>(row.size());
      for (size_t j = 0; j < row.size(); ++j) {
        row[j] = (row[j] - mean) / std::sqrt(variance + 1e-5) * weight[0][j] + bias[0][j];
      }
    }
    return x;
  }

  Dense ffn(const std::string& name, const Dense& x) const {
    return linear(name + ".1", each(linear(name + ".0", x), gelu));
  }

  /// sum_j softmax_j(score(h, i, j)) values_j per head slice, over neighbours and the node itself.
  Dense attend(size_t heads, const Dense& values,
               const std::function<double(size_t, size_t, size_t)>& score) const {
    const size_t d = values[0].size() / heads;
    Dense out = zeros(nodes(), values[0].size());
    for (size_t h = 0; h < heads; ++h) {
      for (size_t i = 0; i < nodes(); ++i) {
        double total = 0;
        for (size_t j = 0; j < nodes(); ++j) {
          if (i == j || problem.adjacency[i][j] != 0) total += std::exp(score(h, i, j));
        }
        for (size_t j = 0; j < nodes(); ++j) {
          if (i != j && problem.adjacency[i][j] == 0) continue;
          const double alpha = std::exp(score(h, i, j)) / total;
          for (size_t c = h * d; c < (h + 1) * d; ++c) out[i][c] += alpha * values[j][c];
        }
      }
    }
    return out;
  }

  /// f_ij as a row.
  Dense edge(size_t i, size_t j) const {
    Dense f(1);
    for (const Dense& values : problem.edge_values) f[0].push_back(values[i][j]);
    return f;
  }

  /// att_edge(lin_edge(f_ij)) of head h, not collapsed.
  double residual_edge(const std::string& at, size_t h, size_t i, size_t j) const {
    return linear(at + "att_edge", linear(at + "lin_edge", edge(i, j)))[0][h];
  }
  double classic_edge(const std::string& at, size_t heads, size_t h, size_t i, size_t j) const {
    const Dense y = linear(at + "lin_edge", edge(i, j), false), a = w(at + "att_edge");
    const size_t d = y[0].size() / heads;
    double dot = 0;
    for (size_t c = 0; c < d; ++c) dot += a[h][c] * y[0][h * d + c];
    return dot;
  }
};

double slice_dot(const Dense& a, size_t row, const std::vector<double>& other, size_t begin,
                 size_t width, size_t other_begin) {
  double dot = 0;
  for (size_t c = 0; c < width; ++c) dot += a[row][begin + c] * other[other_begin + c];
  return dot;
}

Dense residual_layer(const Net& net, const std::string& kind, bool sep, bool directional,
                     const std::string& at, Dense x) {
  const size_t heads = static_cast<size_t>(net.o.heads), n = net.nodes();
  const size_t d = static_cast<size_t>(net.o.hidden) / heads;
  const auto edge = [&](size_t h, size_t i, size_t j) {
    return directional ? net.residual_edge(at, h, i, j) : 0.0;
  };
  Dense y = net.norm(at + "norm", x), message;
  if (kind == "gat") {
    y = net.linear(at + "lin", y);
    const Dense src = net.linear(at + "att_src", y), dst = net.linear(at + "att_dst", y, false);
    message = net.attend(heads, y, [&](size_t h, size_t i, size_t j) {
      return leaky(dst[i][h] + src[j][h] + edge(h, i, j));
    });
  } else if (kind == "gatv2") {
    const Dense dst = net.linear(at + "lin_dst", y), a = net.w(at + "att");
    y = net.linear(at + "lin_src", y);
    message = net.attend(heads, y, [&](size_t h, size_t i, size_t j) {
      double dot = 0;
      for (size_t c = 0; c < d; ++c) dot += a[h][c] * leaky(dst[i][h * d + c] + y[j][h * d + c]);
      return dot + edge(h, i, j);
    });
  } else if (kind == "gt") {
    const Dense q = net.linear(at + "lin_query", y), k = net.linear(at + "lin_key", y);
    message = net.attend(heads, net.linear(at + "lin_value", y), [&](size_t h, size_t i, size_t j) {
      return slice_dot(q, i, k[j], h * d, d, h * d) / std::sqrt(static_cast<double>(d)) +
             edge(h, i, j);
    });
    x = sum(x, net.linear(at + "lin_out", sep ? beside(y, message) : message));
    return sum(x, net.ffn(at + "ffn", net.norm(at + "norm_ffn", x)));
  } else if (kind == "gcn" || kind == "sage") {
    Dense weights = zeros(n, n);
    std::vector<double> degree(n, kind == "gcn" ? 1 : 0);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) degree[i] += net.problem.adjacency[i][j];
    }
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        const double a = net.problem.adjacency[i][j];
        if (kind == "gcn")
          weights[i][j] = (a + (i == j ? 1.0 : 0.0)) / std::sqrt(degree[i] * degree[j]);
        if (kind == "sage" && a > 0) weights[i][j] = 1 / degree[i];
      }
    }
    message = product(weights, y);
    sep = kind == "sage";
  } else {
    message = y;  // resnet
  }
  return sum(x, net.ffn(at + "ffn", sep ? beside(y, message) : message));
}

/// The attention of recipe classic, whose parameters are AT...
Dense classic_attention(const Net& net, const std::string& kind, bool directional,
                        const std::string& at, size_t heads, size_t width, const Dense& x) {
  const size_t d = width / heads;
  const auto edge = [&](size_t h, size_t i, size_t j) {
    return directional ? net.classic_edge(at, heads, h, i, j) : 0.0;
  };
  if (kind == "gat") {
    const Dense y = net.linear(at + "lin", x, false), src = net.w(at + "att_src"),
                dst = net.w(at + "att_dst");
    return net.attend(heads, y, [&](size_t h, size_t i, size_t j) {
      return leaky(slice_dot(y, i, dst[h], h * d, d, 0) + slice_dot(y, j, src[h], h * d, d, 0) +
                   edge(h, i, j));
    });
  }
  if (kind == "gatv2") {
    const Dense y = net.linear(at + "lin_src", x, false), a = net.w(at + "att"),
                q = net.linear(at + "lin_dst", x, false);
    return net.attend(heads, y, [&](size_t h, size_t i, size_t j) {
      double dot = 0;
      for (size_t c = 0; c < d; ++c) dot += a[h][c] * leaky(q[i][h * d + c] + y[j][h * d + c]);
      return dot + edge(h, i, j);
    });
  }
  const Dense q = net.linear(at + "lin_query", x, false), k = net.linear(at + "lin_key", x, false);
  return net.attend(
      heads, net.linear(at + "lin_value", x, false), [&](size_t h, size_t i, size_t j) {
        return slice_dot(q, i, k[j], h * d, d, h * d) / std::sqrt(static_cast<double>(d)) +
               edge(h, i, j);
      });
}

Dense classic_layer(const Net& net, const std::string& kind, bool directional, size_t layer,
                    const Dense& x) {
  const std::string at = fmt::format("layers.{}.", layer);
  const bool last = layer + 1 == static_cast<size_t>(net.o.layers);
  Dense attended =
      classic_attention(net, kind, directional, at, last ? 1 : static_cast<size_t>(net.o.heads),
                        static_cast<size_t>(last ? net.o.outputs() : net.o.hidden), x);
  if (net.o.conv_bias) {
    for (auto& row : attended) row = sum({row}, net.w(at + "bias"))[0];
  }
  if (last) return attended;
  const Dense out = each(attended, elu);
  return net.o.projection ? net.linear(at + "projection", out, false) : out;
}

Dense mean_of_neighbours(Dense a) {
  for (auto& row : a) {
    double degree = 0;
    for (const double v : row) degree += v;
    for (double& v : row) v = degree > 0 ? v / degree : 0;
  }
  return a;
}

Dense deep_convolution(const Net& net, const std::string& kind, bool directional,
                       const std::string& at, const Dense& x) {
  if (kind == "gcn") {
    const Dense sums = product(symmetric(net.problem.adjacency, true), x);
    return net.linear(at + "lin", sums);
  }
  if (kind == "sage") {
    const Dense means = product(mean_of_neighbours(net.problem.adjacency), x);
    return sum(net.linear(at + "lin_own", x), net.linear(at + "lin_mean", means, false));
  }
  if (kind == "resnet") return net.linear(at + "lin", x);
  return classic_attention(net, kind, directional, at, static_cast<size_t>(net.o.heads),
                           static_cast<size_t>(net.o.hidden), x);
}

/// By the columns' own mean and variance, or by the running ones.
Dense batch_norm(const Net& net, const std::string& at, Dense x, bool training) {
  const Dense weight = net.w(at + "weight"), bias = net.w(at + "bias"),
              running_mean = net.w(at + "running_mean"), running_var = net.w(at + "running_var");
  const auto n = static_cast<double>(x.size());
  for (size_t c = 0; c < x[0].size(); ++c) {
    double mean = 0, variance = 0;
    for (const auto& row : x) mean += row[c] / n;
    for (const auto& row : x) variance += (row[c] - mean) * (row[c] - mean) / n;
    if (!training) {
      mean = running_mean[0][c];
      variance = running_var[0][c];
    }
    for (auto& row : x) {
      row[c] = (row[c] - mean) / std::sqrt(variance + 1e-5) * weight[0][c] + bias[0][c];
    }
  }
  return x;
}

Dense deep_layer(const Net& net, const std::string& kind, bool directional, size_t layer,
                 const Dense& x, bool training) {
  const std::string at = fmt::format("layers.{}.", layer);
  const bool reads_features = layer == 0 && !net.o.input_linear;
  Dense y = zeros(x.size(), static_cast<size_t>(net.o.hidden));
  if (kind != "resnet" || net.o.skip != nn::Skip::kLinear) {
    y = sum(y, deep_convolution(net, kind, directional, at + "conv.", x));
  }
  if (net.o.skip == nn::Skip::kLinear) y = sum(y, net.linear(at + "skip", x));
  if (net.o.skip == nn::Skip::kIdentity && !reads_features) y = sum(y, x);
  if (net.o.norm == nn::Norm::kLayer) y = net.norm(at + "norm", y);
  if (net.o.norm == nn::Norm::kBatch) y = batch_norm(net, at + "norm.", y, training);
  return each(y, [](double v) { return v > 0 ? v : 0; });
}

Dense deep_forward(const Net& net, const std::string& kind, bool directional, Dense x,
                   bool training) {
  if (net.o.input_linear) x = net.linear("input", x);
  Dense total, all(x.size());
  for (size_t l = 0; l < static_cast<size_t>(net.o.layers); ++l) {
    x = deep_layer(net, kind, directional, l, x, training);
    total = l == 0 ? x : sum(total, x);
    all = beside(all, x);
  }
  if (net.o.jumps == nn::Jumps::kSum) x = total;
  if (net.o.jumps == nn::Jumps::kCat) x = all;
  return net.linear("output", x);
}

}  // namespace

TinyProblem tiny_problem(bool sparse_features) {
  constexpr graph::NodeId kNodes = 7;
  constexpr int64_t kFeatures = 5;
  const std::vector<graph::Edge> edges = {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {1, 2}, {4, 5}};
  TinyProblem problem;
  auto graph = std::make_shared<graph::CsrGraph>(graph::build_graph(kNodes, edges).graph);
  Random random(11);
  std::vector<float> features;
  for (int64_t i = 0; i < kNodes * kFeatures; ++i) {
    const auto value = static_cast<float>(random.normal());
    features.push_back(sparse_features && random.uniform() < 0.6 ? 0.0F : value);
  }
  problem.features = zeros(kNodes, kFeatures);
  for (size_t i = 0; i < kNodes; ++i) {
    for (size_t j = 0; j < kFeatures; ++j) {
      problem.features[i][j] = static_cast<double>(features[i * kFeatures + j]);
    }
  }
  data::Features held = data::Features::dense(kNodes, kFeatures, features);
  if (sparse_features) {
    std::vector<int64_t> offsets = {0};
    std::vector<int32_t> columns;
    std::vector<float> values;
    for (size_t i = 0; i < kNodes; ++i) {
      for (int32_t j = 0; j < kFeatures; ++j) {
        const float v = features[i * kFeatures + static_cast<size_t>(j)];
        if (v == 0) continue;
        columns.push_back(j);
        values.push_back(v);
      }
      offsets.push_back(static_cast<int64_t>(columns.size()));
    }
    held = data::Features::sparse(kNodes, kFeatures, offsets, columns, values);
  }
  std::vector<double> phi(kNodes);
  for (double& v : phi) v = random.normal();
  const rewire::MessageGraph messages = rewire::message_graph(*graph, spectral::NodeVectors(phi));
  problem.adjacency = zeros(kNodes, kNodes);
  problem.edge_values.assign(2, zeros(kNodes, kNodes));
  for (graph::NodeId i = 0; i < kNodes; ++i) {
    for (const graph::NodeId j : graph->neighbors(i)) {
      problem.adjacency[static_cast<size_t>(i)][static_cast<size_t>(j)] = 1;
    }
    for (int64_t e = messages.offsets[static_cast<size_t>(i)];
         e < messages.offsets[static_cast<size_t>(i) + 1]; ++e) {
      for (size_t c = 0; c < 2; ++c) {
        problem.edge_values[c][static_cast<size_t>(i)]
                           [static_cast<size_t>(messages.senders[static_cast<size_t>(e)])] =
            static_cast<double>(messages.features[static_cast<size_t>(e) * 2 + c]);
      }
    }
  }
  problem.input.features = std::make_shared<nn::NodeFeatures<double>>(held);
  problem.input.messages = std::make_shared<nn::Messages<double>>(messages);
  problem.input.graph = graph;
  problem.input.training_labels = {0, 1, 2, -1, 0, 1, -1};
  return problem;
}

nn::ModelOptions tiny_options(const TinyProblem& problem, nn::Recipe recipe) {
  nn::ModelOptions o;
  o.features = problem.input.features->cols();
  o.classes = problem.classes;
  o.nodes = problem.input.nodes();
  o.recipe = recipe;
  o.hidden = 8;
  o.heads = 2;
  o.layers = 2;
  o.seed = 5;
  return o;
}

Weights weights_of(nn::Model<double>& model) {
  return [&model](const std::string& name) {
    for (const auto& buffer : model.buffers()) {
      if (buffer.name != name) continue;
      const auto values = buffer.values->values();
      return Dense{{values.begin(), values.end()}};
    }
    const auto* entry = model.parameters().find(name);
    if (entry == nullptr) throw std::out_of_range("no parameter " + name);
    const auto& value = entry->parameter.value;
    const bool turned = entry->parameter.transposed;
    Dense out = zeros(static_cast<size_t>(turned ? value.cols() : value.rows()),
                      static_cast<size_t>(turned ? value.rows() : value.cols()));
    for (size_t i = 0; i < out.size(); ++i) {
      for (size_t j = 0; j < out[i].size(); ++j) {
        const auto r = static_cast<int64_t>(i), c = static_cast<int64_t>(j);
        out[i][j] = turned ? value(c, r) : value(r, c);
      }
    }
    return out;
  };
}

Dense dense_forward(const std::string& model, const nn::ModelOptions& options,
                    const Weights& weights, const TinyProblem& problem, bool training) {
  const Net net{options, weights, problem};
  const bool sep = model.ends_with("-sep");
  std::string kind = sep ? model.substr(0, model.size() - 4) : model;
  const bool directional = kind.starts_with("d") && options.directional;
  if (kind.starts_with("d")) kind = kind.substr(1);
  Dense x = problem.features;
  if (options.recipe == nn::Recipe::kClassic) {
    for (size_t l = 0; l < static_cast<size_t>(options.layers); ++l) {
      x = classic_layer(net, kind, directional, l, x);
    }
    return x;
  }
  if (options.recipe == nn::Recipe::kDeep) {
    return deep_forward(net, kind, directional, x, training);
  }
  x = each(net.linear("input", x), gelu);
  for (int64_t l = 0; l < options.layers; ++l) {
    x = residual_layer(net, kind, sep, directional, fmt::format("layers.{}.", l), x);
  }
  return net.linear("output", net.norm("norm", x));
}

}  // namespace dgat::test
