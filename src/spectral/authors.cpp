#include "authors.h"

#include <algorithm>
#include <cmath>

#include "dense_pairs.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/random.h"

namespace dgat::spectral {
namespace {

using graph::CsrGraph;
using graph::NodeId;
using Vector = Eigen::VectorXd;

constexpr int kMostVectors = 300;  // of Lanczos
constexpr int kMostInner = 10000;  // of conjugate gradients
constexpr int kCheckEvery = 10;

class AuthorsOperator {
 public:
  AuthorsOperator(const CsrGraph& graph, double alpha, double gamma)
      : graph_(graph), gamma_(gamma), side_(graph.nodes()), diagonal_(graph.nodes()) {
    for (NodeId i = 0; i < graph.nodes(); ++i) {
      side_[i] = std::pow(authors_mass(graph, i, gamma), 0.5 - alpha);
      diagonal_[i] = graph.strength(i) + 1;
    }
    // Gershgorin: row i of K sums to 2 d_i + 1 in absolute value.
    for (NodeId i = 0; i < graph.nodes(); ++i) {
      scale_ = std::max(scale_, gamma * side_[i] * side_[i] * (2 * graph.strength(i) + 1));
    }
  }
  int64_t nodes() const { return side_.size(); }
  double scale() const { return scale_; }

  Vector times(const Vector& x) const {  ///< B x
    return gamma_ * side_.cwiseProduct(times_k(side_.cwiseProduct(x)));
  }

  /// B^-1 x by conjugate gradients for K, whose smallest eigenvalue is 1; its diagonal
  /// preconditions.
  Vector solve(const Vector& x) const {
    const Vector b = x.cwiseQuotient(side_);
    Vector y = b.cwiseQuotient(diagonal_), r = b - times_k(y);
    Vector z = r.cwiseQuotient(diagonal_), p = z;
    double rz = r.dot(z);
    const double enough = 1e-14 * b.norm();
    for (int step = 0; step < kMostInner && r.norm() > enough; ++step) {
      const Vector q = times_k(p);
      const double length = rz / p.dot(q);
      y += length * p;
      r -= length * q;
      z = r.cwiseQuotient(diagonal_);
      const double next = r.dot(z);
      p = z + next / rz * p;
      rz = next;
    }
    return y.cwiseQuotient(side_) / gamma_;
  }

 private:
  Vector times_k(const Vector& z) const {
    Vector out(z.size());
    for (NodeId i = 0; i < graph_.nodes(); ++i) {
      double sum = z[i];
      for (graph::ArcIndex e = graph_.begin(i); e < graph_.end(i); ++e) {
        sum += graph_.weight(e) * (z[i] - z[graph_.targets()[static_cast<size_t>(e)]]);
      }
      out[i] = sum;
    }
    return out;
  }

  const CsrGraph& graph_;
  double gamma_, scale_ = 0;
  Vector side_, diagonal_;  // M^(1/2-alpha), the diagonal of K
};

struct Pairs {
  Vector values;  // increasing
  Eigen::MatrixXd vectors;
  int64_t steps = 0;
};

Pairs dense(const AuthorsOperator& B) {
  const int64_t n = B.nodes();
  Eigen::MatrixXd matrix(n, n);
  for (int64_t j = 0; j < n; ++j) matrix.col(j) = B.times(Vector::Unit(n, j));
  DensePairs all = dense_pairs((matrix + matrix.transpose()) / 2);
  return {std::move(all.values), std::move(all.vectors), 1};
}

double residual(const AuthorsOperator& B, const Vector& u, double value) {
  return (B.times(u) - value * u).norm() / B.scale();
}

/// Lanczos for B^-1 with full orthogonalisation, until the `wanted` smallest pairs of B are there.
Pairs lanczos(const AuthorsOperator& B, int wanted, const EigenOptions& options) {
  const int64_t n = B.nodes();
  const int most = static_cast<int>(std::min<int64_t>(n, std::max(kMostVectors, 4 * wanted)));
  Eigen::MatrixXd basis(n, most);
  Eigen::MatrixXd small = Eigen::MatrixXd::Zero(most, most);
  Random numbers(options.seed);
  Vector next(n);
  for (double& entry : next) entry = numbers.uniform() - 0.5;
  Pairs pairs;
  for (int m = 0; m < most; ++m) {
    throw_if_interrupted("eigensolver");
    basis.col(m) = next.normalized();
    next = B.solve(basis.col(m));
    for (int pass = 0; pass < 2; ++pass) {  // twice is enough
      const Vector parts = basis.leftCols(m + 1).transpose() * next;
      next -= basis.leftCols(m + 1) * parts;
      small.col(m).head(m + 1) += parts;
    }
    pairs.steps = m + 1;
    const bool last = m + 1 == most || next.norm() < 1e-14 * std::abs(small(m, m));
    if (m + 1 < wanted || ((m + 1) % kCheckEvery != 0 && !last)) continue;
    const Eigen::MatrixXd head = small.topLeftCorner(m + 1, m + 1).selfadjointView<Eigen::Upper>();
    const DensePairs ritz = dense_pairs(head);
    const int count = std::min(wanted, m + 1);
    pairs.values.resize(count);
    pairs.vectors.resize(n, count);
    double worst = 0;
    for (int j = 0; j < count; ++j) {
      pairs.values[j] = 1 / ritz.values[m - j];
      pairs.vectors.col(j) = (basis.leftCols(m + 1) * ritz.vectors.col(m - j)).normalized();
      worst = std::max(worst, residual(B, pairs.vectors.col(j), pairs.values[j]));
    }
    if (worst <= options.tolerance || last) break;
  }
  return pairs;
}

}  // namespace

double authors_mass(const CsrGraph& graph, NodeId i, double gamma) {
  return gamma * (graph.strength(i) + 2) + (1 - gamma);
}

ComponentSolution solve_authors(const CsrGraph& graph, const EigenOptions& options) {
  const AuthorsOperator B(graph, options.alpha, options.gamma);
  const int64_t n = graph.nodes();
  const int wanted = static_cast<int>(std::min<int64_t>(options.k, n - 1));
  // One before the first that is wanted, and one after the last, for its gap.
  const int needed = static_cast<int>(std::min<int64_t>(wanted + 2, n));
  const bool small = n <= kAuthorsDense;
  const Pairs pairs = small ? dense(B) : lanczos(B, needed, options);
  ComponentSolution solution;
  ComponentSpectrum& out = solution.spectrum;
  out.nodes = n;
  out.solver = small ? Solver::kDense : Solver::kLanczos;
  out.iterations = pairs.steps;
  const auto equal = [&](double a, double b) {
    return std::abs(a - b) <= options.gap_tolerance * std::max(std::abs(a), std::abs(b));
  };
  for (int64_t m = 1; m <= std::min<int64_t>(wanted, pairs.values.size() - 1); ++m) {
    const double value = pairs.values[m];
    double gap = INFINITY;
    int copies = 0;
    for (const double other : pairs.values) {
      if (equal(other, value)) {
        ++copies;
      } else {
        gap = std::min(gap, std::abs(other - value));
      }
    }
    const Vector u = pairs.vectors.col(m);
    out.eigenvalues.push_back(value);
    out.residuals.push_back(residual(B, u, value));
    out.gaps.push_back(std::isfinite(gap) ? gap : 0);
    out.angle_bounds.push_back(gap > 0 ? std::min(1.0, out.residuals.back() * B.scale() / gap) : 1);
    out.multiplicity.push_back(copies);
    solution.vectors.insert(solution.vectors.end(), u.begin(), u.end());
  }
  out.converged = std::ssize(out.eigenvalues) == wanted &&
                  std::ranges::all_of(out.residuals, [&](double r) { return r <= options.accept; });
  return solution;
}

}  // namespace dgat::spectral
