#include "dense_baselines.h"

#include <fmt/format.h>

#include <cmath>

namespace dgat::test {
namespace {

double relu(double v) {
  return std::max(0.0, v);
}
Dense times(double factor, const Dense& a) {
  return each(a, [factor](double v) { return factor * v; });
}
Dense identity(size_t n) {
  Dense out = zeros(n, n);
  for (size_t i = 0; i < n; ++i) out[i][i] = 1;
  return out;
}
/// Rows divided by their sums; empty rows stay.
Dense averaged(Dense a) {
  for (auto& row : a) {
    double sum = 0;
    for (const double v : row) sum += v;
    for (double& v : row) v = sum == 0 ? 0 : v / sum;
  }
  return a;
}
Dense inverse(Dense a) {  // Gauss-Jordan; positive definite, so without pivoting
  Dense out = identity(a.size());
  for (size_t k = 0; k < a.size(); ++k) {
    const double pivot = a[k][k];
    for (size_t j = 0; j < a.size(); ++j) {
      a[k][j] /= pivot;
      out[k][j] /= pivot;
    }
    for (size_t i = 0; i < a.size(); ++i) {
      const double factor = a[i][k];
      for (size_t j = 0; j < a.size() && i != k; ++j) {
        a[i][j] -= factor * a[k][j];
        out[i][j] -= factor * out[k][j];
      }
    }
  }
  return out;
}
/// Two columns become their difference.
Dense logits(const Dense& z) {
  if (z[0].size() != 2) return z;
  Dense out;
  for (const auto& row : z) out.push_back({row[1] - row[0]});
  return out;
}

}  // namespace

Dense h2gcn(const nn::ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const Dense& a = problem.adjacency;
  Dense two = product(a, a);
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < a.size(); ++j) {
      two[i][j] = two[i][j] > 0 && i != j && a[i][j] == 0 ? 1 : 0;
    }
  }
  Dense r = linear(problem.features, w("embed.weight"));
  if (o.extra.at("relu") != 0) r = each(r, relu);
  Dense all = r;
  for (int64_t k = 0; k < o.layers; ++k) {
    r = beside(product(symmetric(a, false), r), product(symmetric(two, false), r));
    all = beside(all, r);
  }
  return linear(all, w("classify.weight"));
}

/// [a || a log(d + 1) / delta || a delta / log(d + 1)], delta the mean of log(d + 1).
static Dense with_degree_scalers(const Dense& a, const Dense& adjacency) {
  std::vector<double> logs;
  double delta = 0;
  for (const auto& row : adjacency) {
    double degree = 0;
    for (const double v : row) degree += v;
    logs.push_back(std::log(degree + 1));
    delta += logs.back() / static_cast<double>(adjacency.size());
  }
  Dense larger = a, smaller = a;
  for (size_t i = 0; i < a.size(); ++i) {
    for (double& v : larger[i]) v *= logs[i] / delta;
    for (double& v : smaller[i]) v *= logs[i] == 0 ? 0 : delta / logs[i];
  }
  return beside(beside(a, larger), smaller);
}

Dense dgn(const nn::ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const size_t n = problem.features.size(), d = static_cast<size_t>(o.hidden);
  const bool complex = o.extra.at("complex") != 0;
  Dense g = problem.edge_values[1];
  for (size_t i = 0; i < n; ++i) g[i][i] = 0;
  Dense h = linear(problem.features, w("input.weight"), w("input.bias"));
  for (int64_t l = 0; l < o.layers; ++l) {
    const std::string at = fmt::format("layers.{}.", l);
    Dense mean = zeros(n, d), av = zeros(n, d), dx = zeros(n, d);
    for (size_t i = 0; i < n; ++i) {
      double degree = 0;
      for (const double a : problem.adjacency[i]) degree += a;
      for (size_t j = 0; j < n; ++j) {
        if (problem.adjacency[i][j] == 0) continue;
        Dense e = {h[j]};
        if (complex) {
          e = sum(linear(e, w(at + "sender.weight")),
                  linear({h[i]}, w(at + "receiver.weight"), w(at + "receiver.bias")));
        }
        for (size_t c = 0; c < d; ++c) {
          mean[i][c] += e[0][c] / degree;
          av[i][c] += std::abs(g[i][j]) * e[0][c];
          dx[i][c] += g[i][j] * (e[0][c] - h[i][c]);
        }
      }
    }
    Dense parts(n);
    if (o.extra.at("mean") != 0) parts = beside(parts, mean);
    if (o.extra.at("av") != 0) parts = beside(parts, av);
    if (o.extra.at("dx") != 0) {
      parts = beside(parts, each(dx, [](double v) { return std::abs(v); }));
    }
    if (o.extra.at("scalers") != 0) parts = with_degree_scalers(parts, problem.adjacency);
    if (complex) parts = beside(h, parts);
    Dense out = linear(parts, w(at + "mix.weight"), w(at + "mix.bias"));
    if (o.extra.at("graph_norm") != 0) out = times(1 / std::sqrt(static_cast<double>(n)), out);
    const Dense weight = w(at + "norm.weight"), bias = w(at + "norm.bias");
    for (size_t i = 0; i < n; ++i) {
      for (size_t c = 0; c < d; ++c) {
        h[i][c] += relu(out[i][c] / std::sqrt(1 + 1e-5) * weight[0][c] + bias[0][c]);
      }
    }
  }
  for (const std::string name : {"readout.0", "readout.1"}) {
    h = each(linear(h, w(name + ".weight"), w(name + ".bias")), relu);
  }
  return linear(h, w("output.weight"), w("output.bias"));
}

Dense glognn(const nn::ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const size_t n = problem.features.size();
  const double delta = o.extra.at("delta"), g = o.extra.at("gamma"), b1 = o.extra.at("beta1"),
               b2 = o.extra.at("beta2");
  const Dense p = averaged(sum(problem.adjacency, identity(n)));
  Dense u = zeros(n, static_cast<size_t>(o.hidden));
  if (delta > 0) {
    u = sum(u, times(delta, linear(problem.features, w("features.weight"), w("features.bias"))));
  }
  if (delta < 1) {
    const Dense bias(n, w("nodes.bias")[0]);
    u = sum(u, times(1 - delta, sum(product(p, w("nodes.weight")), bias)));
  }
  const Dense start = linear(each(u, relu), w("output.weight"), w("output.bias"));
  const Dense hops = w("hops");
  Dense h = start;
  for (int64_t l = 0; l < o.layers; ++l) {
    const Dense outer = product(h, transposed(h));
    Dense left = sum(times(1 - g, outer), times(-g * (1 - g), product(start, transposed(h))));
    Dense power = identity(n);
    for (const double hop : hops[0]) {
      power = product(p, power);
      left = sum(left, times(b2 * hop, power));
    }
    const Dense z =
        product(left, inverse(sum(times((1 - g) * (1 - g), outer), times(b1 + b2, identity(n)))));
    h = sum(times(1 - g, product(z, h)), times(g, start));
  }
  return logits(h);
}

Dense gbkgnn(const nn::ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const size_t n = problem.features.size();
  Dense x = problem.features;
  for (int64_t l = 0; l < o.layers; ++l) {
    const std::string at = fmt::format("layers.{}.", l);
    if (l > 0) x = each(x, relu);
    const Dense gate = linear(x, w(at + "gate.weight"));
    const Dense dst = linear(gate, w(at + "gate_dst.weight")),
                src = linear(gate, w(at + "gate_src.weight"));
    const Dense similar = linear(x, w(at + "similar.weight")),
                dissimilar = linear(x, w(at + "dissimilar.weight"));
    Dense out = linear(x, w(at + "own.weight"), w(at + "own.bias"));
    const Dense mean = averaged(problem.adjacency);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) {
        double score = dst[i][0] + src[j][0];
        if (score < 0) score *= 0.2;
        const double sigma = 1 / (1 + std::exp(-score));
        for (size_t c = 0; c < out[i].size(); ++c) {
          out[i][c] += mean[i][j] * (sigma * similar[j][c] + (1 - sigma) * dissimilar[j][c]);
        }
      }
    }
    x = out;
  }
  return x;
}

Dense cpgnn(const nn::ModelOptions& o, const Weights& w, const TinyProblem& problem) {
  const size_t n = problem.features.size();
  const Dense s = symmetric(problem.adjacency, false);
  const auto layer = [&](const Dense& x, const std::string& name) {
    if (o.extra.at("chebyshev") == 0) return linear(x, w(name + ".0.weight"));
    const Dense t1 = times(-1, s);
    const Dense t2 = sum(times(2, product(t1, t1)), times(-1, identity(n)));
    return sum(linear(x, w(name + ".0.weight")),
               sum(product(t1, linear(x, w(name + ".1.weight"))),
                   product(t2, linear(x, w(name + ".2.weight")))));
  };
  Dense start = layer(each(layer(problem.features, "prior.0"), relu), "prior.1");
  for (auto& row : start) {
    double total = 0;
    for (double& v : row) total += v = std::exp(v);
    for (double& v : row) v = v / total - 1 / static_cast<double>(o.classes);
  }
  const Dense& a = o.extra.at("symmetric") != 0 ? s : problem.adjacency;
  Dense beliefs = start;
  for (int64_t k = 0; k < o.layers; ++k) {
    beliefs = sum(start, product(a, product(beliefs, w("compatibility"))));
  }
  return logits(beliefs);
}

}  // namespace dgat::test
