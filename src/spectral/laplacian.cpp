#include "dgat/spectral/laplacian.h"

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

using graph::ArcIndex;
using graph::CsrGraph;
using graph::NodeId;

constexpr int64_t kLaplacianGrain = 32768;        // entries of a vector per block
constexpr int64_t kBlockWork = int64_t{1} << 17;  // arcs plus rows per block

/// Cuts the rows where their arcs add up: a hub's row weighs as much as many leaves'.
std::vector<NodeId> balanced_blocks(const CsrGraph& graph) {
  std::vector<NodeId> begin = {0};
  int64_t work = 0;
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    work += 1 + graph.degree(i);
    if (work >= kBlockWork || i + 1 == graph.nodes()) {
      begin.push_back(i + 1);
      work = 0;
    }
  }
  return begin;
}

/// sum over the senders j of row i of z_i - z_j; four partial sums hide the latency of an addition.
double row_difference(const CsrGraph& graph, const double* z, NodeId i) {
  const NodeId* targets = graph.targets().data();
  const double zi = z[i];
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  ArcIndex e = graph.begin(i);
  const ArcIndex end = graph.end(i);
  for (; e + 4 <= end; e += 4) {
    s0 += zi - z[targets[e]];
    s1 += zi - z[targets[e + 1]];
    s2 += zi - z[targets[e + 2]];
    s3 += zi - z[targets[e + 3]];
  }
  for (; e < end; ++e) s0 += zi - z[targets[e]];
  return (s0 + s1) + (s2 + s3);
}

/// The same with every difference multiplied by the weight of its arc.
double weighted_row_difference(const CsrGraph& graph, const double* z, NodeId i) {
  const NodeId* targets = graph.targets().data();
  const float* weights = graph.weights().data();
  const double zi = z[i];
  double s0 = 0, s1 = 0;
  ArcIndex e = graph.begin(i);
  const ArcIndex end = graph.end(i);
  for (; e + 2 <= end; e += 2) {
    s0 += double{weights[e]} * (zi - z[targets[e]]);
    s1 += double{weights[e + 1]} * (zi - z[targets[e + 1]]);
  }
  if (e < end) s0 += double{weights[e]} * (zi - z[targets[e]]);
  return s0 + s1;
}

double row_energy(const CsrGraph& graph, const double* z, NodeId i) {
  double sum = 0;
  if (graph.weighted()) {
    for (ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
      const double difference = z[i] - z[graph.targets()[static_cast<size_t>(e)]];
      sum += graph.weight(e) * difference * difference;
    }
    return sum;
  }
  for (const NodeId j : graph.neighbors(i)) {
    const double difference = z[i] - z[j];
    sum += difference * difference;
  }
  return sum;
}

}  // namespace

Laplacian::Laplacian(const CsrGraph& graph, const LaplacianOptions& options)
    : graph_(&graph), options_(options), block_begin_(balanced_blocks(graph)) {
  const auto [alpha, gamma] = options;
  if (!(alpha >= 0 && alpha <= 1)) {
    throw_input("laplacian: alpha must lie in [0, 1], got {}", alpha);
  }
  if (!(gamma >= 0 && gamma <= 1)) {
    throw_input("laplacian: gamma must lie in [0, 1], got {}", gamma);
  }
  if (graph.directed()) {
    throw_input("laplacian: the graph is directed, an undirected one is needed; symmetrise it");
  }
  if (gamma == 0) {
    double most = 0;
    for (NodeId i = 0; i < graph.nodes(); ++i) most = std::max(most, graph.strength(i));
    scale_ = graph.weighted() ? most : most + 1;
    return;
  }
  factor_ = gamma;
  const auto n = static_cast<size_t>(graph.nodes());
  left_.resize(n);
  right_.resize(n);
  scratch_.resize(n);
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    left_[static_cast<size_t>(i)] = gamma * std::pow(mass(i), -alpha);
    right_[static_cast<size_t>(i)] = std::pow(mass(i), alpha - 1);
  }
}

double Laplacian::diagonal(NodeId i) const {
  return factor_ * graph_->strength(i) / mass(i);
}

void Laplacian::apply(std::span<const double> x, std::span<double> y) const {
  const auto n = static_cast<size_t>(nodes());
  expects(x.size() == n && y.size() == n, "vectors of the Laplacian have one entry per node");
  const double* z = x.data();
  if (!right_.empty()) {
    parallel_for(nodes(), kLaplacianGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const auto at = static_cast<size_t>(i);
        scratch_[at] = right_[at] * x[at];
      }
    });
    z = scratch_.data();
  }
  const auto each_row = [&](const auto& row_sum) {
    const auto blocks = static_cast<int64_t>(block_begin_.size()) - 1;
    parallel_for(blocks, 1, [&](int64_t block, int64_t) {
      const auto b = static_cast<size_t>(block);
      for (NodeId i = block_begin_[b]; i < block_begin_[b + 1]; ++i) {
        const auto at = static_cast<size_t>(i);
        const double sum = row_sum(i);
        y[at] = left_.empty() ? sum : left_[at] * sum;
      }
    });
  };
  if (graph_->weighted()) {
    each_row([&](NodeId i) { return weighted_row_difference(*graph_, z, i); });
  } else {
    each_row([&](NodeId i) { return row_difference(*graph_, z, i); });
  }
}

double Laplacian::energy(std::span<const double> x) const {
  std::vector<double> z(x.begin(), x.end());
  if (!right_.empty()) {
    for (NodeId i = 0; i < nodes(); ++i) z[static_cast<size_t>(i)] /= std::sqrt(mass(i));
  }
  const auto blocks = static_cast<int64_t>(block_begin_.size()) - 1;
  const double twice = parallel_sum<double>(blocks, 1, [&](int64_t block, int64_t) {
    const auto b = static_cast<size_t>(block);
    double sum = 0;
    for (NodeId i = block_begin_[b]; i < block_begin_[b + 1]; ++i) {
      sum += row_energy(*graph_, z.data(), i);
    }
    return sum;
  });
  return factor_ * twice / 2;
}

std::vector<double> Laplacian::null_vector() const {
  std::vector<double> v(static_cast<size_t>(nodes()));
  double sum = 0;
  for (NodeId i = 0; i < nodes(); ++i) {
    const double entry = std::pow(mass(i), 1 - options_.alpha);
    v[static_cast<size_t>(i)] = entry;
    sum += entry * entry;
  }
  const double norm = std::sqrt(sum);
  for (double& entry : v) entry /= norm;
  return v;
}

}  // namespace dgat::spectral
