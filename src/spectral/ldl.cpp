#include "ldl.h"

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCore>
#include <algorithm>
#include <cmath>

#include "dgat/core/interrupt.h"

namespace dgat::spectral {
namespace {

using graph::ArcIndex;
using graph::CsrGraph;
using graph::NodeId;

std::vector<NodeId> minimum_degree_order(const CsrGraph& graph) {
  const NodeId n = graph.nodes();
  Eigen::SparseMatrix<double, Eigen::ColMajor, NodeId> pattern(n, n);
  pattern.resizeNonZeros(graph.arcs() + n);  // the routine wants the diagonal too
  NodeId at = 0;
  for (NodeId i = 0; i < n; ++i) {
    const auto row = graph.neighbors(i);
    const auto above = std::ranges::lower_bound(row, i);
    NodeId* columns = pattern.innerIndexPtr() + at;
    columns = std::copy(row.begin(), above, columns);
    *columns++ = i;
    std::copy(above, row.end(), columns);
    at += static_cast<NodeId>(row.size()) + 1;
    pattern.outerIndexPtr()[i + 1] = at;
  }
  std::fill_n(pattern.valuePtr(), at, 1.0);
  Eigen::PermutationMatrix<Eigen::Dynamic, Eigen::Dynamic, NodeId> order;
  Eigen::AMDOrdering<NodeId>()(pattern, order);
  return {order.indices().data(), order.indices().data() + n};
}

}  // namespace

SparseLdl::SparseLdl(const CsrGraph& graph, int64_t max_entries) : graph_(graph) {
  const auto n = static_cast<size_t>(graph.nodes());
  if (graph.arcs() / 2 > max_entries || graph.arcs() > INT32_MAX / 2) return;
  order_ = minimum_degree_order(graph);
  place_.resize(n);
  for (size_t k = 0; k < n; ++k) place_[static_cast<size_t>(order_[k])] = static_cast<NodeId>(k);
  parent_.assign(n, -1);
  begin_.assign(n + 1, 0);
  std::vector<NodeId> seen(n, -1);
  // Row k of L: from every earlier neighbour up the elimination tree, until a node seen in this
  // row.
  for (NodeId k = 0; k < graph.nodes(); ++k) {
    seen[static_cast<size_t>(k)] = k;
    for (const NodeId neighbor : graph.neighbors(order_[static_cast<size_t>(k)])) {
      auto i = static_cast<size_t>(place_[static_cast<size_t>(neighbor)]);
      if (static_cast<NodeId>(i) > k) continue;
      while (seen[i] != k) {
        if (parent_[i] < 0) parent_[i] = k;
        ++begin_[i + 1];
        ++entries_;
        seen[i] = k;
        i = static_cast<size_t>(parent_[i]);
      }
    }
    if (entries_ > max_entries) return;
  }
  for (size_t i = 0; i < n; ++i) {
    const auto count = static_cast<double>(begin_[i + 1]);
    operations_ += count * count;
    begin_[i + 1] += begin_[i];
  }
  fits_ = true;
}

void SparseLdl::factorise(std::span<const double> x, bool grounded) {
  const auto n = static_cast<size_t>(graph_.nodes());
  rows_.resize(static_cast<size_t>(entries_));
  values_.resize(static_cast<size_t>(entries_));
  pivots_.assign(n, 0);
  work_.assign(n, 0);
  std::vector<int64_t> end(begin_.begin(), begin_.end() - 1);
  std::vector<NodeId> seen(n, -1), pattern(n), path(n);
  std::vector<double>& y = work_;
  for (NodeId k = 0; k < graph_.nodes(); ++k) {
    if (k % 1024 == 0) throw_if_interrupted("eigensolver");
    const NodeId node = order_[static_cast<size_t>(k)];
    seen[static_cast<size_t>(k)] = k;
    size_t top =
        n;  // pattern[top..n) is row k in an order in which every column comes before its parent
    for (const NodeId neighbor : graph_.neighbors(node)) {
      NodeId i = place_[static_cast<size_t>(neighbor)];
      if (i > k) continue;
      y[static_cast<size_t>(i)] -= 1;
      size_t length = 0;
      for (; seen[static_cast<size_t>(i)] != k; i = parent_[static_cast<size_t>(i)]) {
        path[length++] = i;
        seen[static_cast<size_t>(i)] = k;
      }
      while (length > 0) pattern[--top] = path[--length];
    }
    double pivot = x[static_cast<size_t>(node)];
    for (; top < n; ++top) {
      const auto i = static_cast<size_t>(pattern[top]);
      const double yi = y[i];
      y[i] = 0;
      const auto first = static_cast<size_t>(begin_[i]), last = static_cast<size_t>(end[i]);
      for (size_t p = first; p < last; ++p) y[static_cast<size_t>(rows_[p])] -= values_[p] * yi;
      const double l = yi / pivots_[i];
      pivot -= l * yi;
      rows_[last] = k;
      values_[last] = l;
      ++end[i];
    }
    // A pivot of exactly zero would poison the rest; any tiny number leaves the inertia right.
    pivots_[static_cast<size_t>(k)] = pivot == 0 ? 1e-300 : pivot;
  }
  if (grounded && n > 0) pivots_[n - 1] = INFINITY;
}

int64_t SparseLdl::negative_pivots() const {
  return std::count_if(pivots_.begin(), pivots_.end(), [](double d) { return d < 0; });
}

void SparseLdl::solve(std::span<const double> b, std::span<double> x) const {
  const size_t n = order_.size();
  std::vector<double>& y = work_;
  for (size_t k = 0; k < n; ++k) y[k] = b[static_cast<size_t>(order_[k])];
  for (size_t j = 0; j < n; ++j) {
    const double yj = y[j];
    for (auto p = static_cast<size_t>(begin_[j]); p < static_cast<size_t>(begin_[j + 1]); ++p) {
      y[static_cast<size_t>(rows_[p])] -= values_[p] * yj;
    }
  }
  for (size_t j = n; j-- > 0;) {
    double yj = y[j] / pivots_[j];
    for (auto p = static_cast<size_t>(begin_[j]); p < static_cast<size_t>(begin_[j + 1]); ++p) {
      yj -= values_[p] * y[static_cast<size_t>(rows_[p])];
    }
    y[j] = yj;
  }
  for (size_t k = 0; k < n; ++k) x[static_cast<size_t>(order_[k])] = y[k];
  std::ranges::fill(y, 0.0);
}

FactorCorrection::FactorCorrection(const Laplacian& S, SparseLdl& factor)
    : factor_(factor), work_(static_cast<size_t>(S.nodes())) {
  std::vector<double> degree;
  for (NodeId i = 0; i < S.nodes(); ++i) {
    root_mass_.push_back(std::sqrt(S.mass(i)));
    degree.push_back(static_cast<double>(S.graph().degree(i)));
  }
  factor_.factorise(degree, true);
}

void FactorCorrection::multiply(std::span<const double> r, std::span<double> t) {
  for (size_t i = 0; i < r.size(); ++i) work_[i] = root_mass_[i] * r[i];
  factor_.solve(work_, t);
  for (size_t i = 0; i < r.size(); ++i) t[i] *= root_mass_[i];
}

int64_t eigenvalues_below(const Laplacian& S, SparseLdl& factor, double value) {
  std::vector<double> diagonal;
  diagonal.reserve(static_cast<size_t>(S.nodes()));
  for (NodeId i = 0; i < S.nodes(); ++i) {
    diagonal.push_back(static_cast<double>(S.graph().degree(i)) - value / S.factor() * S.mass(i));
  }
  factor.factorise(diagonal, false);
  return factor.negative_pivots();
}

}  // namespace dgat::spectral
