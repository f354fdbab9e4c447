#include "multigrid.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

using graph::ArcIndex;
using graph::CsrGraph;
using graph::NodeId;
using Level = Multigrid::Level;

constexpr int64_t kMultigridGrain = 16384;
constexpr NodeId kCoarsest = 200;
constexpr double kSlowest =
    0.85;  // a level that keeps more than this share of nodes ends the hierarchy
// Richardson steps at the two Chebyshev nodes of [1/2, 2], the upper part of the spectrum of D^-1
// L.
constexpr double kStep[] = {1 / (1.25 + 0.75 * 0.70710678118654752),
                            1 / (1.25 - 0.75 * 0.70710678118654752)};

double weight(const Level& level, ArcIndex e) {
  return level.weights.empty() ? 1.0 : level.weights[static_cast<size_t>(e)];
}

/// Pairs every node with its heaviest unpaired neighbour; one without joins its heaviest
/// neighbour's set. Low degrees choose first: a leaf has no choice.
NodeId pair_nodes(const Level& level, std::vector<NodeId>& set) {
  const NodeId n = level.nodes();
  set.assign(static_cast<size_t>(n), -1);
  std::vector<NodeId> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  const auto arcs = [&](NodeId i) {
    return level.offsets[static_cast<size_t>(i) + 1] - level.offsets[static_cast<size_t>(i)];
  };
  std::ranges::stable_sort(order, {}, [&](NodeId i) { return std::min<ArcIndex>(arcs(i), 3); });
  NodeId sets = 0;
  for (const NodeId i : order) {
    if (set[static_cast<size_t>(i)] >= 0) continue;
    NodeId free = -1, any = -1;
    double free_weight = 0, any_weight = 0;
    const ArcIndex end = level.offsets[static_cast<size_t>(i) + 1];
    for (ArcIndex e = level.offsets[static_cast<size_t>(i)]; e < end; ++e) {
      const NodeId j = level.targets[static_cast<size_t>(e)];
      const double w = weight(level, e);
      if (w > any_weight) any = j, any_weight = w;
      if (w > free_weight && set[static_cast<size_t>(j)] < 0) free = j, free_weight = w;
    }
    if (free >= 0) {
      set[static_cast<size_t>(i)] = set[static_cast<size_t>(free)] = sets++;
    } else {
      set[static_cast<size_t>(i)] = any >= 0 ? set[static_cast<size_t>(any)] : sets++;
    }
  }
  return sets;
}

/// The graph whose nodes are the sets; weights between two sets add up.
Level contract(const Level& fine, const std::vector<NodeId>& set, NodeId sets) {
  const auto count = static_cast<size_t>(sets);
  std::vector<NodeId> begin(count + 1, 0), members(set.size());
  for (const NodeId s : set) ++begin[static_cast<size_t>(s) + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<NodeId> next(begin.begin(), begin.end() - 1);
  for (size_t i = 0; i < set.size(); ++i) {
    members[static_cast<size_t>(next[static_cast<size_t>(set[i])]++)] = static_cast<NodeId>(i);
  }
  Level coarse;
  coarse.own_offsets.assign(1, 0);
  coarse.degree.assign(count, 0);
  std::vector<ArcIndex> place(count, -1);  // where the arc to a set stands in the row at work
  for (NodeId s = 0; s < sets; ++s) {
    const ArcIndex row = coarse.own_offsets.back();
    for (NodeId m = begin[static_cast<size_t>(s)]; m < begin[static_cast<size_t>(s) + 1]; ++m) {
      const NodeId i = members[static_cast<size_t>(m)];
      const ArcIndex end = fine.offsets[static_cast<size_t>(i) + 1];
      for (ArcIndex e = fine.offsets[static_cast<size_t>(i)]; e < end; ++e) {
        const NodeId to = set[static_cast<size_t>(fine.targets[static_cast<size_t>(e)])];
        if (to == s) continue;
        ArcIndex& at = place[static_cast<size_t>(to)];
        if (at < row) {
          at = static_cast<ArcIndex>(coarse.own_targets.size());
          coarse.own_targets.push_back(to);
          coarse.weights.push_back(0);
        }
        coarse.weights[static_cast<size_t>(at)] += weight(fine, e);
        coarse.degree[static_cast<size_t>(s)] += weight(fine, e);
      }
    }
    coarse.own_offsets.push_back(static_cast<ArcIndex>(coarse.own_targets.size()));
  }
  coarse.offsets = coarse.own_offsets;
  coarse.targets = coarse.own_targets;
  return coarse;
}

/// f(i, (L x)_i) for every row, in parallel.
template <class Use>
void for_product(const Level& level, std::span<const double> x, Use use) {
  parallel_for(level.nodes(), kMultigridGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      double sum = 0;
      const ArcIndex last = level.offsets[i + 1];
      if (level.weights.empty()) {
        for (ArcIndex e = level.offsets[i]; e < last; ++e) {
          sum += x[static_cast<size_t>(level.targets[static_cast<size_t>(e)])];
        }
      } else {
        for (ArcIndex e = level.offsets[i]; e < last; ++e) {
          sum += level.weights[static_cast<size_t>(e)] *
                 x[static_cast<size_t>(level.targets[static_cast<size_t>(e)])];
        }
      }
      use(i, level.degree[i] * x[i] - sum);
    }
  });
}

/// x += step * D^-1 (b - L x), through the scratch vector t.
void relax(Level& level, double step, std::span<const double> b, std::span<double> x) {
  for_product(level, x,
              [&](size_t i, double lx) { level.t[i] = step * (b[i] - lx) / level.degree[i]; });
  add_scaled(1, level.t, x);
}

void remove_mean(std::span<double> x) {
  const double mean =
      parallel_sum<double>(std::ssize(x), kMultigridGrain,
                           [&](int64_t begin, int64_t end) {
                             return std::accumulate(x.begin() + begin, x.begin() + end, 0.0);
                           }) /
      static_cast<double>(x.size());
  for (double& entry : x) entry -= mean;
}

}  // namespace

Multigrid::Multigrid(const CsrGraph& graph) {
  Level finest;
  finest.offsets = graph.offsets();
  finest.targets = graph.targets();
  finest.weights.assign(graph.weights().begin(), graph.weights().end());
  for (NodeId i = 0; i < graph.nodes(); ++i) {
    finest.degree.push_back(graph.strength(i));
  }
  levels_.push_back(std::move(finest));
  while (levels_.back().nodes() > kCoarsest) {
    Level& fine = levels_.back();
    std::vector<NodeId> half, quarter;
    const NodeId halves = pair_nodes(fine, half);
    const Level middle = contract(fine, half, halves);
    const NodeId quarters = pair_nodes(middle, quarter);
    if (quarters > kSlowest * fine.nodes()) break;
    for (NodeId& set : half) set = quarter[static_cast<size_t>(set)];
    fine.aggregate = std::move(half);
    Level coarse = contract(middle, quarter, quarters);
    const auto n = static_cast<size_t>(fine.nodes()), c = static_cast<size_t>(quarters);
    fine.r.resize(n);
    fine.t.resize(n);
    for (auto* v : {&fine.b, &fine.x, &fine.p, &fine.q, &fine.s, &fine.best}) v->resize(c);
    levels_.push_back(std::move(coarse));
  }
  const Level& last = levels_.back();
  Eigen::MatrixXd dense = Eigen::MatrixXd::Constant(last.nodes(), last.nodes(), 1.0);
  for (NodeId i = 0; i < last.nodes(); ++i) {
    dense(i, i) += last.degree[static_cast<size_t>(i)];
    const ArcIndex end = last.offsets[static_cast<size_t>(i) + 1];
    for (ArcIndex e = last.offsets[static_cast<size_t>(i)]; e < end; ++e) {
      dense(i, last.targets[static_cast<size_t>(e)]) -= weight(last, e);
    }
  }
  coarsest_.compute(dense);  // L + 1 1^T: positive definite, and L on vectors of zero sum
}

void Multigrid::cycle(size_t at, std::span<const double> b, std::span<double> x) {
  Level& level = levels_[at];
  if (level.aggregate.empty()) {
    Eigen::Map<Eigen::VectorXd> out(x.data(), std::ssize(x));
    out = coarsest_.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), std::ssize(b)));
    return;
  }
  parallel_for(level.nodes(), kMultigridGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      x[i] = kStep[0] * b[i] / level.degree[i];
    }
  });
  relax(level, kStep[1], b, x);
  for_product(level, x, [&](size_t i, double lx) { level.r[i] = b[i] - lx; });
  std::ranges::fill(level.b, 0.0);
  for (size_t i = 0; i < level.r.size(); ++i) {
    level.b[static_cast<size_t>(level.aggregate[i])] += level.r[i];
  }
  solve_coarse(at, level.b, level.x);
  parallel_for(level.nodes(), kMultigridGrain, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      x[i] += level.x[static_cast<size_t>(level.aggregate[i])];
    }
  });
  relax(level, kStep[1], b, x);
  relax(level, kStep[0], b, x);
}

/// Two steps of flexible CG on level at+1, its cycle as the preconditioner. The scratch vectors
/// belong to level `at`, so the recursion does not overwrite them.
void Multigrid::solve_coarse(size_t at, std::span<const double> b, std::span<double> x) {
  Level& level = levels_[at];
  const Level& coarse = levels_[at + 1];
  cycle(at + 1, b, x);
  if (coarse.aggregate.empty() || coarse.nodes() > level.nodes() / 2) return;
  for_product(coarse, x, [&](size_t i, double lx) { level.q[i] = lx; });
  const double curvature = dot(x, level.q);
  if (!(curvature > 0)) return;
  const double a = dot(x, b) / curvature;
  for (size_t i = 0; i < level.best.size(); ++i) level.best[i] = b[i] - a * level.q[i];
  cycle(at + 1, level.best, level.p);
  for_product(coarse, level.p, [&](size_t i, double lx) { level.s[i] = lx; });
  const double mixed = dot(level.p, level.q) / curvature;
  const double second = dot(level.p, level.s) - mixed * mixed * curvature;
  if (!(second > 0)) {
    scale(a, x);
    return;
  }
  const double c = dot(level.p, level.best) / second;
  for (size_t i = 0; i < x.size(); ++i) x[i] = (a - c * mixed) * x[i] + c * level.p[i];
}

void Multigrid::apply(std::span<const double> b, std::span<double> x) {
  cycle(0, b, x);
  remove_mean(x);
}

MultigridCorrection::MultigridCorrection(const Laplacian& S)
    : multigrid_(S.graph()), work_(static_cast<size_t>(S.nodes())) {
  for (NodeId i = 0; i < S.nodes(); ++i) root_mass_.push_back(std::sqrt(S.mass(i)));
}

void MultigridCorrection::multiply(std::span<const double> r, std::span<double> t) {
  for (size_t i = 0; i < r.size(); ++i) work_[i] = root_mass_[i] * r[i];
  multigrid_.apply(work_, t);
  for (size_t i = 0; i < r.size(); ++i) t[i] *= root_mass_[i];
}

}  // namespace dgat::spectral
