#include "solver_plan.h"

#include <algorithm>
#include <cmath>

#include "dgat/core/error.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;

constexpr NodeId kSmall = 150;           // a full decomposition takes milliseconds
constexpr double kDeepPerLog = 4;        // depth beyond this times log2 N is deep
constexpr double kDeepOperations = 2e9;  // of a factorisation: about two seconds
constexpr double kShallowOperations = 5e7;
constexpr int64_t kShallowArcs = 80'000;    // of a shallow graph whose ordering is worth a try
constexpr NodeId kOrderingNodes = 250'000;  // beyond this, multigrid beats a factor on a mesh
constexpr double kTreeLike = 1.2;           // edges per node up to which a factor has no fill

struct BreadthFirst {
  NodeId farthest;
  int64_t depth;
};

BreadthFirst breadth_first(const CsrGraph& graph, NodeId start) {
  std::vector<bool> seen(static_cast<size_t>(graph.nodes()));
  std::vector<NodeId> level = {start}, next;
  seen[static_cast<size_t>(start)] = true;
  int64_t depth = 0;
  while (true) {
    next.clear();
    for (const NodeId i : level) {
      for (const NodeId j : graph.neighbors(i)) {
        if (seen[static_cast<size_t>(j)]) continue;
        seen[static_cast<size_t>(j)] = true;
        next.push_back(j);
      }
    }
    if (next.empty()) return {level.front(), depth};
    ++depth;
    level.swap(next);
  }
}

/// The factor, ordered and counted, or nothing when it would be too large or too slow.
std::unique_ptr<SparseLdl> affordable_factor(const CsrGraph& graph, const EigenOptions& options,
                                             double max_operations) {
  const int64_t budget = options.factor_bytes / SparseLdl::bytes_per_entry();
  auto factor = std::make_unique<SparseLdl>(graph, budget);
  if (factor->fits() && factor->operations() <= max_operations) return factor;
  return nullptr;
}

}  // namespace

SolverPlan plan_solvers(const CsrGraph& graph, const EigenOptions& options) {
  SolverPlan result;
  const NodeId n = graph.nodes();
  if (options.solver == Solver::kAuto && n <= kSmall) {
    result.methods = {Solver::kDense};
    return result;
  }
  if (options.solver == Solver::kDense && n > kDenseLimit) {
    throw_input(
        "eigensolver: solver dense is limited to {} nodes per component, this one has {}; "
        "use solver auto",
        kDenseLimit, n);
  }
  if (options.solver == Solver::kFactor) {
    result.factor = affordable_factor(graph, options, INFINITY);
    if (!result.factor) {
      throw_compute(
          "eigensolver: the factor of a component of {} nodes exceeds the budget of {} MB; raise "
          "the "
          "budget or use solver auto",
          n, options.factor_bytes >> 20);
    }
  }
  if (options.solver != Solver::kAuto) {
    result.methods = {options.solver};
    return result;
  }
  result.depth = breadth_first(graph, breadth_first(graph, 0).farthest).depth;
  result.deep = static_cast<double>(result.depth) > kDeepPerLog * std::log2(n);
  const bool tree_like = static_cast<double>(graph.edges()) <= kTreeLike * n;
  if (tree_like || (result.deep ? n <= kOrderingNodes : graph.arcs() <= kShallowArcs)) {
    result.factor =
        affordable_factor(graph, options, result.deep ? kDeepOperations : kShallowOperations);
  }
  if (result.factor) result.methods.push_back(Solver::kFactor);
  if (result.deep) result.methods.push_back(Solver::kMultigrid);
  result.methods.push_back(Solver::kDavidson);
  result.methods.push_back(Solver::kLanczos);
  if (!result.deep) result.methods.push_back(Solver::kMultigrid);
  return result;
}

}  // namespace dgat::spectral
