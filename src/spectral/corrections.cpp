#include "corrections.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

constexpr double kInnerTolerance = 0.1;

void multiply(std::span<const double> d, std::span<const double> x, std::span<double> y) {
  parallel_for(std::ssize(x), 32768, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) y[i] = d[i] * x[i];
  });
}

}  // namespace

ConjugateGradientCorrection::ConjugateGradientCorrection(const Laplacian& S, int steps)
    : S_(S), steps_(steps), constant_diagonal_(S.options().gamma == 1) {
  const auto n = static_cast<size_t>(S.nodes());
  if (!constant_diagonal_) inverse_.resize(n);
  for (auto* vector : {&g_, &z_, &p_, &q_}) vector->resize(n);
}

void ConjugateGradientCorrection::precondition(const Basis& known, std::span<const double> g,
                                               std::span<double> z) {
  if (constant_diagonal_) {
    std::ranges::copy(g, z.begin());
    return;
  }
  multiply(inverse_, g, z);
  scaled_->subtract(gram_.selfadjointView<Eigen::Lower>().llt().solve(known.inner(z)), z);
}

void ConjugateGradientCorrection::apply(const Basis& known, double theta, std::span<const double> r,
                                        std::span<double> t) {
  const graph::NodeId n = S_.nodes();
  if (!constant_diagonal_) {
    for (graph::NodeId i = 0; i < n; ++i) {
      const double d = S_.diagonal(i);
      inverse_[static_cast<size_t>(i)] = 1 / std::max(d - theta, 0.1 * d);
    }
    scaled_ = std::make_unique<Basis>(n, known.count());
    gram_.resize(known.count(), known.count());
    for (int j = 0; j < known.count(); ++j) multiply(inverse_, known.column(j), scaled_->push());
    for (int j = 0; j < known.count(); ++j) gram_.col(j) = known.inner(scaled_->column(j));
  }
  std::ranges::fill(t, 0.0);
  std::ranges::copy(r, g_.begin());
  known.subtract(known.inner(g_), g_);
  precondition(known, g_, z_);
  p_ = z_;
  double gz = dot(g_, z_);
  const double goal = kInnerTolerance * norm(g_);
  for (int step = 0; step < steps_; ++step) {
    S_.apply(p_, q_);
    ++products_;
    add_scaled(-theta, p_, q_);
    known.subtract(known.inner(q_), q_);
    const double curvature = dot(p_, q_);
    if (!(curvature > 0)) {
      if (step == 0) std::ranges::copy(z_, t.begin());
      return;
    }
    const double a = gz / curvature;
    add_scaled(a, p_, t);
    add_scaled(-a, q_, g_);
    if (norm(g_) <= goal) return;
    precondition(known, g_, z_);
    const double next = dot(g_, z_), b = next / gz;
    gz = next;
    scale(b, p_);
    add_scaled(1, z_, p_);
  }
}

}  // namespace dgat::spectral
