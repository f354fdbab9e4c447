#include "davidson.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "canonical.h"
#include "dense_pairs.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/random.h"

namespace dgat::spectral {
namespace {

constexpr double kLoose = 0.02;  // residual over distance for a pair beyond those wanted
constexpr int kOthers = 6;       // Ritz vectors handed to the search for the next pair

/// V orthonormal (the deflated vectors first), W = S times the search part of V, H = V^T W.
class Search {
 public:
  Search(const Laplacian& S, const Basis& deflated, const DavidsonOptions& options)
      : S_(S),
        fixed_(deflated.count()),
        dimension_(S.nodes() - deflated.count()),
        capacity_(static_cast<int>(std::min<int64_t>(dimension_, options.basis))),
        gap_tolerance_(options.gap_tolerance),
        v_(S.nodes(), fixed_ + capacity_),
        w_(S.nodes(), capacity_),
        known_(S.nodes(), fixed_ + options.block),
        residuals_(S.nodes(), options.block),
        h_(capacity_, capacity_) {
    for (int j = 0; j < fixed_; ++j) {
      std::ranges::copy(deflated.column(j), v_.push().begin());
      std::ranges::copy(deflated.column(j), known_.push().begin());
    }
  }

  int size() const { return w_.count(); }
  bool has_room(int columns) const { return size() + columns <= capacity_; }
  bool whole() const { return size() == dimension_; }  ///< the Ritz pairs are exact

  /// Widens the space by the part of x that is new. False when there is none.
  bool add(std::span<const double> x) {
    direction_.assign(x.begin(), x.end());
    if (!v_.orthonormalise(direction_)) return false;
    std::ranges::copy(direction_, v_.push().begin());
    const std::span<double> w = w_.push();
    S_.apply(direction_, w);
    const Eigen::VectorXd column = v_.inner(w);
    const int m = size();
    for (int i = 0; i < m; ++i) h_(i, m - 1) = h_(m - 1, i) = column[fixed_ + i];
    return true;
  }

  bool add_random(uint64_t stream) {
    std::vector<double> x(static_cast<size_t>(S_.nodes()));
    Random random(0x52414e44, stream);
    for (double& entry : x) entry = random.uniform() - 0.5;
    return add(x);
  }

  /// The smallest Ritz pairs and their residuals.
  void solve() {
    const int m = size();
    DensePairs projected = dense_pairs(h_.topLeftCorner(m, m));
    theta_ = std::move(projected.values);
    s_ = std::move(projected.vectors);
    known_.truncate(fixed_);
    residuals_.truncate(0);
    for (int j = 0; j < std::min(m, residuals_.capacity()); ++j) {
      const std::span<double> u = known_.push(), r = residuals_.push();
      ritz_vector(j, u);
      w_.combine(s_.col(j), r);
      add_scaled(-theta_[j], u, r);
    }
    residual_norm_ = norm(residuals_.column(0));
  }

  /// Keeps the best Ritz vectors; solve() was called before.
  void restart(int keep) {
    keep = std::min(keep, size() - 1);
    Eigen::MatrixXd rotation = Eigen::MatrixXd::Zero(v_.count(), fixed_ + keep);
    rotation.topLeftCorner(fixed_, fixed_).setIdentity();
    rotation.bottomRightCorner(size(), keep) = s_.leftCols(keep);
    w_.rotate(s_.leftCols(keep));
    v_.rotate(rotation);
    h_.setZero();
    for (int i = 0; i < keep; ++i) h_(i, i) = theta_[i];
  }

  double value() const { return theta_[0]; }
  double residual_norm() const { return residual_norm_; }
  const Basis& residuals() const { return residuals_; }
  std::span<const double> values() const {
    return {theta_.data(), static_cast<size_t>(residuals_.count())};
  }
  const Basis& known() const { return known_; }

  /// Distance of the value to the next Ritz value that is not equal to it, and to zero.
  double gap() const {
    double nearest = theta_[0];
    for (int i = 1; i < size(); ++i) {
      if (!equal_values(theta_[i], theta_[0], gap_tolerance_)) {
        nearest = std::min(nearest, theta_[i] - theta_[0]);
      }
    }
    return nearest;
  }

  DavidsonResult result(bool converged, int steps) const {
    const auto u = known_.column(fixed_);
    const int others = std::min(kOthers, size() - 1);
    DavidsonResult out{
        converged, theta_[0], residual_norm_, {u.begin(), u.end()}, Basis(S_.nodes(), others),
        steps};
    for (int j = 0; j < others; ++j) ritz_vector(j + 1, out.others.push());
    return out;
  }

 private:
  void ritz_vector(int j, std::span<double> out) const {
    Eigen::VectorXd c = Eigen::VectorXd::Zero(v_.count());
    c.tail(size()) = s_.col(j);
    v_.combine(c, out);
  }

  const Laplacian& S_;
  int fixed_;
  int64_t dimension_;
  int capacity_;
  double gap_tolerance_;
  Basis v_, w_, known_, residuals_;  // known: the deflated vectors, then the first Ritz vectors
  std::vector<double> direction_;
  Eigen::MatrixXd h_, s_;
  Eigen::VectorXd theta_;
  double residual_norm_ = 0;
};

bool reached(const Search& search, const DavidsonOptions& options, const DavidsonGoal& goal) {
  const double residual = search.residual_norm(), value = search.value();
  if (search.whole() || residual <= options.rounding) return true;
  const double gap = std::min(goal.gap, search.gap());
  if (residual <= std::min(options.tolerance, goal.angle * gap)) return true;
  return value > goal.beyond && !equal_values(value, goal.beyond, options.gap_tolerance) &&
         residual <= kLoose * (value - goal.beyond);
}

}  // namespace

DavidsonResult davidson(const Laplacian& S, const Basis& deflated, const Basis& start,
                        Correction& correction, const DavidsonOptions& options,
                        const DavidsonGoal& goal, Progress& progress) {
  Search search(S, deflated, options);
  for (int j = 0; j < start.count() && search.has_room(1); ++j) search.add(start.column(j));
  if (search.size() == 0) search.add_random(0);
  Basis directions(S.nodes(), options.block);
  for (int step = 0;; ++step) {
    throw_if_interrupted("eigensolver");
    search.solve();
    if (reached(search, options, goal)) return search.result(true, step);
    if (step >= options.max_steps) return search.result(false, step);
    progress.update(step, fmt::format("eigenvalue {:.6g}, residual {:.1e}", search.value(),
                                      search.residual_norm()));
    correction.apply(search.known(), search.values(), search.residuals(), directions);
    if (!search.has_room(directions.count())) search.restart(options.keep);
    bool wider = false;
    for (int j = 0; j < directions.count() && search.has_room(1); ++j) {
      wider = search.add(directions.column(j)) || wider;
    }
    if (!wider && !search.add(search.residuals().column(0)) &&
        !search.add_random(static_cast<uint64_t>(step) + 1)) {
      return search.result(false, step);
    }
  }
}

}  // namespace dgat::spectral
