#include "block_davidson.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "dense_pairs.h"
#include "dgat/core/interrupt.h"
#include "dgat/core/progress.h"

namespace dgat::spectral {
namespace {

constexpr int kGuard = kMaxMultiplicity + 1;  // Ritz pairs beyond those wanted
constexpr int kRoom = 6;                      // blocks that are added before the space is cut back
constexpr int kPatience = 40;             // steps without any progress before the search gives up
constexpr int kIdle = 6;                  // steps that did not halve a residual near rounding
constexpr double kAngle = 3e-7;           // residual over gap
constexpr double kLooseBeyond = 0.02;     // residual over distance for the pair beyond those wanted
constexpr double kBlockRounding = 1e-15;  // of a residual, relative to the scale of S
constexpr double kNearRounding = 1e-12;
constexpr double kDependent = 1e-12;  // of the Gram matrix of new directions: not new

struct BlockShape {
  int starts;  // vectors that the space starts with
  int limit;   // pairs among which the answer must lie
};

class BlockSearch {
 public:
  BlockSearch(const Laplacian& S, int wanted, BlockShape shape, BlockCorrection& correction,
              const EigenOptions& options)
      : S_(S),
        options_(options),
        correction_(correction),
        wanted_(wanted),
        dimension_(S.nodes() - 1),
        block_(BlockOperator::kWidth),
        starts_(limited(shape.starts)),
        limit_(limited(shape.limit)),
        keep_(limited(limit_ + block_ / 2)),
        capacity_(limited(keep_ + kRoom * block_)),
        apply_(S),
        v_(S.nodes(), 1 + capacity_),
        w_(S.nodes(), capacity_),
        residuals_(S.nodes(), block_),
        directions_(S.nodes(), std::max(block_, starts_)),
        h_(capacity_, capacity_),
        best_(static_cast<size_t>(capacity_), INFINITY),
        idle_(static_cast<size_t>(capacity_), 0) {
    std::ranges::copy(S.null_vector(), v_.push().begin());
  }

  FoundPairs run(std::span<const graph::NodeId> original) {
    for (int c = 0; c < starts_; ++c) {
      std::ranges::copy(fixed_vector(original, options_.seed, c), directions_.push().begin());
    }
    widen();
    Progress progress("spectrum", 0);
    for (int step = 0;; ++step) {
      throw_if_interrupted("eigensolver");
      solve();
      const State state = examine();
      if (state != State::kOpen) return result(step, true, state == State::kManyEqual);
      if (stuck() || over_limit()) return result(step, false, false);
      progress.update(step, fmt::format("{} of {} pairs, residual {:.1e}", first_, wanted_,
                                        best_[static_cast<size_t>(first_)]));
      correction_.apply(residuals_, theta_[window_.front()], theta_[std::min(limit_, size()) - 1],
                        directions_);
      if (size() + directions_.count() > capacity_) cut_back();
      if (widen()) continue;
      directions_.truncate(0);
      directions_.append(residuals_,
                         Eigen::MatrixXd::Identity(std::ssize(window_), std::ssize(window_)));
      if (!widen()) return result(step, false, false);
    }
  }

 private:
  enum class State { kOpen, kDone, kManyEqual };

  int limited(int64_t count) const {
    return static_cast<int>(std::min<int64_t>(count, dimension_));
  }
  int size() const { return w_.count(); }
  bool whole() const { return size() == dimension_; }
  bool equal(double a, double b) const { return equal_values(a, b, options_.gap_tolerance); }

  /// Orthonormalises the directions against the space and one another and adds what is new.
  bool widen() {
    for (int pass = 0; pass < 2; ++pass) {
      v_.subtract(v_.inner(directions_), directions_);
      Eigen::MatrixXd gram = directions_.inner(directions_);
      const Eigen::VectorXd size = gram.diagonal().cwiseMax(0).cwiseSqrt();
      const Eigen::VectorXd inverse =
          size.unaryExpr([](double s) { return s > 1e-150 && std::isfinite(s) ? 1 / s : 0.0; });
      gram = inverse.asDiagonal() * gram * inverse.asDiagonal();
      const DensePairs pairs = dense_pairs(gram);
      const auto columns = static_cast<int>(pairs.values.size());
      int used = 0;
      while (used < columns && pairs.values[columns - 1 - used] > kDependent) ++used;
      used = std::min(used, capacity_ - this->size());
      if (used == 0) return false;
      const Eigen::VectorXd scale = pairs.values.tail(used).cwiseSqrt().cwiseInverse();
      directions_.rotate(inverse.asDiagonal() * pairs.vectors.rightCols(used) * scale.asDiagonal());
    }
    const int before = size(), added = directions_.count();
    v_.append(directions_, Eigen::MatrixXd::Identity(added, added));
    Basis& image = directions_;  // no longer needed: holds S times the new columns
    image.truncate(0);
    apply_.apply(v_, 1 + before, image);
    w_.append(image, Eigen::MatrixXd::Identity(added, added));
    const Eigen::MatrixXd columns = v_.inner(image).bottomRows(before + added);
    h_.block(0, before, before + added, added) = columns;
    h_.block(before, 0, added, before) = columns.topRows(before).transpose();
    return true;
  }

  void solve() {
    DensePairs projected = dense_pairs(h_.topLeftCorner(size(), size()));
    theta_ = std::move(projected.values);
    s_ = std::move(projected.vectors);
    // A smaller value may have come up: what was thought to be known has moved.
    for (int j = 0; j < first_; ++j) {
      if (std::abs(theta_[j] - known_[static_cast<size_t>(j)]) <= 1e-9 * S_.scale()) continue;
      first_ = j;
      std::fill(best_.begin() + j, best_.end(), INFINITY);
    }
    known_.resize(static_cast<size_t>(first_));
  }

  /// Distance of value j to the nearest one that differs.
  double gap(int j) const {
    double nearest = theta_[j];
    for (int i = j - 1; i >= 0; --i) {
      if (equal(theta_[i], theta_[j])) continue;
      nearest = std::min(nearest, theta_[j] - theta_[i]);
      break;
    }
    for (int i = j + 1; i < size(); ++i) {
      if (equal(theta_[i], theta_[j])) continue;
      nearest = std::min(nearest, theta_[i] - theta_[j]);
      break;
    }
    return nearest;
  }

  bool good(int j, double residual) {
    const auto at = static_cast<size_t>(j);
    if (residual < 0.5 * best_[at]) {
      best_[at] = residual;
      idle_[at] = 0;
    } else {
      ++idle_[at];
    }
    const double scale = S_.scale();
    if (whole() || residual <= kBlockRounding * scale) return true;
    if (idle_[at] >= kIdle && residual <= kNearRounding * scale) return true;
    if (j >= wanted_ && !equal(theta_[j], theta_[wanted_ - 1])) {
      return residual <= kLooseBeyond * (theta_[j] - theta_[wanted_ - 1]);
    }
    return residual <= std::min(options_.tolerance * scale, kAngle * gap(j));
  }

  /// The residuals of the lowest pairs that are not good enough: residuals_, window_.
  State examine() {
    while (true) {
      const int end = std::min({size(), limit_, first_ + block_});
      if (first_ == end) return end == dimension_ ? State::kDone : State::kManyEqual;
      const Eigen::MatrixXd s = s_.middleCols(first_, end - first_);
      Eigen::MatrixXd c = Eigen::MatrixXd::Zero(v_.count(), end - first_);
      c.bottomRows(size()) = s * theta_.segment(first_, end - first_).asDiagonal();
      residuals_.truncate(0);
      residuals_.append(w_, s);
      v_.subtract(c, residuals_);
      window_.clear();
      Eigen::MatrixXd selected = Eigen::MatrixXd::Zero(end - first_, end - first_);
      const int begin = first_;
      // Pairs beyond those wanted are worked on beside them: among these are copies of the last.
      for (int j = begin; j < end; ++j) {
        const double residual = norm(residuals_.column(j - begin));
        const bool enough = good(j, residual);
        const bool beyond = j >= wanted_ && !equal(theta_[j], theta_[wanted_ - 1]);
        if (enough && window_.empty()) {
          if (beyond) return found_ = j + 1, last_residual_ = residual, State::kDone;
          ++first_;
          known_.push_back(theta_[j]);
        } else if (!enough) {
          selected(j - begin, static_cast<Eigen::Index>(window_.size())) = 1;
          window_.push_back(j);
        }
      }
      if (window_.empty()) {
        found_ = first_;
        continue;
      }
      residuals_.rotate(selected.leftCols(static_cast<Eigen::Index>(window_.size())));
      return State::kOpen;
    }
  }

  /// Whether the lowest open pair, the number of good pairs and the residuals have all stood still.
  bool stuck() {
    const double residual = best_[static_cast<size_t>(first_)];
    if (first_ > seen_first_ || residual < 0.7 * seen_residual_) {
      seen_first_ = first_;
      seen_residual_ = residual;
      quiet_ = 0;
    }
    return ++quiet_ > kPatience;
  }

  bool over_limit() const {
    return options_.work_limit > 0 && apply_.work() + correction_.work() > options_.work_limit;
  }

  void cut_back() {
    const int keep = std::min(keep_, size());
    Eigen::MatrixXd rotation = Eigen::MatrixXd::Zero(v_.count(), 1 + keep);
    rotation(0, 0) = 1;
    rotation.bottomRightCorner(size(), keep) = s_.leftCols(keep);
    w_.rotate(s_.leftCols(keep));
    v_.rotate(rotation);
    h_.setZero();
    h_.topLeftCorner(keep, keep) = theta_.head(keep).asDiagonal();
  }

  FoundPairs result(int steps, bool converged, bool many) {
    const int pairs = converged ? std::max(found_, first_) : std::min(wanted_, size());
    FoundPairs out{{Basis(S_.nodes(), pairs), {}, 0}, steps, converged, many};
    Eigen::MatrixXd c = Eigen::MatrixXd::Zero(v_.count(), pairs);
    c.bottomRows(size()) = s_.leftCols(pairs);
    out.candidate.vectors.append(v_, c);
    out.candidate.residuals.assign(static_cast<size_t>(pairs), last_residual_);
    return out;
  }

  const Laplacian& S_;
  const EigenOptions& options_;
  BlockCorrection& correction_;
  int wanted_;
  int64_t dimension_;
  int block_, starts_, limit_, keep_, capacity_;
  BlockOperator apply_;
  Basis v_, w_;  // the null vector and the space; S times the space
  Basis residuals_, directions_;
  Eigen::MatrixXd h_, s_;  // V^T S V and its eigenvectors
  Eigen::VectorXd theta_;
  int first_ = 0, found_ = 0;  // pairs below first_ are good enough
  std::vector<double> known_;  // their values
  std::vector<int> window_;    // open pairs, columns of residuals_
  std::vector<double> best_;   // per pair, the smallest residual seen
  std::vector<int> idle_;
  double last_residual_ = 0, seen_residual_ = INFINITY;
  int seen_first_ = 0, quiet_ = 0;
};

}  // namespace

FoundPairs block_davidson(const Laplacian& S, std::span<const graph::NodeId> original, int wanted,
                          BlockCorrection& correction, LinearCorrection& krylov,
                          const EigenOptions& options) {
  const BlockShape shape{wanted + kGuard, wanted + kGuard};
  FoundPairs out = BlockSearch(S, wanted, shape, correction, options).run(original);
  if (!out.many_equal) return out;
  // A Krylov space of `wanted` fixed vectors shows at most so many copies, and shows the pair
  // after.
  ColumnCorrection column(S, krylov, 0);
  const int64_t before = out.steps;
  out = BlockSearch(S, wanted, {wanted, 2 * wanted}, column, options).run(original);
  out.steps += before;
  out.candidate.last_multiplicity = kMaxMultiplicity + 1;
  return out;
}

}  // namespace dgat::spectral
