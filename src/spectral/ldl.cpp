#include "ldl.h"

#include <Eigen/OrderingMethods>
#include <algorithm>
#include <cmath>

#include "dgat/core/interrupt.h"

namespace dgat::spectral {
namespace {

using graph::ArcIndex;
using graph::CsrGraph;
using graph::NodeId;

/// -A with a diagonal of its own.
template <class Matrix>
Matrix minus_adjacency(const CsrGraph& graph) {
  const NodeId n = graph.nodes();
  Matrix matrix(n, n);
  matrix.resizeNonZeros(graph.arcs() + n);
  NodeId at = 0;
  for (NodeId i = 0; i < n; ++i) {
    const auto row = graph.neighbors(i);
    const auto above = std::ranges::lower_bound(row, i);
    NodeId* columns = matrix.innerIndexPtr() + at;
    columns = std::copy(row.begin(), above, columns);
    *columns++ = i;
    std::copy(above, row.end(), columns);
    at += static_cast<NodeId>(row.size()) + 1;
    matrix.outerIndexPtr()[i + 1] = at;
  }
  std::fill_n(matrix.valuePtr(), at, -1.0);
  if (graph.weighted()) {
    auto* value = matrix.valuePtr();
    for (NodeId i = 0; i < n; ++i) {
      bool passed = false;  // the place of the diagonal, which factorise() fills
      for (ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
        if (!passed && graph.targets()[static_cast<size_t>(e)] > i) {
          passed = true;
          ++value;
        }
        *value++ = -graph.weight(e);
      }
      if (!passed) ++value;
    }
  }
  return matrix;
}

}  // namespace

SparseLdl::SparseLdl(const CsrGraph& graph, int64_t max_entries) {
  max_entries = std::min<int64_t>(max_entries, INT32_MAX);
  if (graph.arcs() / 2 > max_entries || graph.arcs() > INT32_MAX / 2) return;
  const auto matrix = minus_adjacency<Matrix>(graph);
  Eigen::AMDOrdering<NodeId>()(matrix, order_);
  upper_.resize(graph.nodes(), graph.nodes());
  upper_.selfadjointView<Eigen::Upper>() =
      matrix.selfadjointView<Eigen::Lower>().twistedBy(order_.inverse());
  count(max_entries);
  if (fits_) ldlt_.analyzePattern(upper_);
}

/// Row k of L: from every earlier neighbour up the elimination tree, until a node seen in this row.
void SparseLdl::count(int64_t max_entries) {
  const auto n = static_cast<size_t>(upper_.cols());
  std::vector<NodeId> parent(n, -1), seen(n, -1);
  std::vector<int64_t> column(n);
  int64_t entries = 0;
  for (NodeId k = 0; k < upper_.cols(); ++k) {
    seen[static_cast<size_t>(k)] = k;
    for (Matrix::InnerIterator it(upper_, k); it; ++it) {
      auto i = static_cast<size_t>(it.index());
      while (seen[i] != k) {
        if (parent[i] < 0) parent[i] = k;
        ++column[i];
        ++entries;
        seen[i] = k;
        i = static_cast<size_t>(parent[i]);
      }
    }
    if (entries > max_entries) return;
  }
  for (const int64_t c : column) operations_ += static_cast<double>(c) * static_cast<double>(c);
  fits_ = true;
}

void SparseLdl::factorise(std::span<const double> x, bool grounded) {
  throw_if_interrupted("eigensolver");
  for (NodeId k = 0; k < upper_.cols(); ++k) {
    for (Matrix::InnerIterator it(upper_, k); it; ++it) {
      if (it.index() == k) it.valueRef() = x[static_cast<size_t>(order_.indices()[k])];
    }
  }
  ldlt_.setShift(0).factorize(upper_);
  // Eigen stops at a pivot of exactly zero. In a grounded factor that is the last one, which is
  // left out; elsewhere a shift far below every gap leaves the inertia right.
  if (!grounded && ldlt_.info() != Eigen::Success) ldlt_.setShift(1e-14).factorize(upper_);
  pivots_ = ldlt_.vectorD();
  if (grounded && pivots_.size() > 0) pivots_[pivots_.size() - 1] = INFINITY;
}

void SparseLdl::solve(std::span<const double> b, std::span<double> x) const {
  const auto n = pivots_.size();
  Eigen::VectorXd y = order_.inverse() * Eigen::Map<const Eigen::VectorXd>(b.data(), n);
  ldlt_.matrixL().solveInPlace(y);
  y.array() /= pivots_.array();
  ldlt_.matrixU().solveInPlace(y);
  Eigen::Map<Eigen::VectorXd>(x.data(), n) = order_ * y;
}

FactorCorrection::FactorCorrection(const Laplacian& S, SparseLdl& factor)
    : factor_(factor), work_(static_cast<size_t>(S.nodes())) {
  std::vector<double> degree;
  for (NodeId i = 0; i < S.nodes(); ++i) {
    root_mass_.push_back(std::sqrt(S.mass(i)));
    degree.push_back(S.graph().strength(i));
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
    diagonal.push_back(S.graph().strength(i) - value / S.factor() * S.mass(i));
  }
  factor.factorise(diagonal, false);
  return factor.negative_pivots();
}

}  // namespace dgat::spectral
