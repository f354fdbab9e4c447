#include "canonical.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "dgat/core/parallel.h"
#include "dgat/core/random.h"

namespace dgat::spectral {
namespace {

constexpr uint64_t kFixedStream = 0x5bec7a1;
constexpr double kAngleAccepted = 1e-6;
constexpr double kRounding = 1e-15;

/// Rows of the small matrix are coordinates in the cluster's basis: Gram-Schmidt of the fixed
/// vectors' projections.
Eigen::MatrixXd canonical_rotation(const Basis& vectors, int begin, int end, int wanted,
                                   std::span<const graph::NodeId> original, uint64_t seed) {
  const int size = end - begin;
  Eigen::MatrixXd q(size, wanted);
  for (int c = 0; c < wanted; ++c) {
    const std::vector<double> b = fixed_vector(original, seed, c);
    Eigen::VectorXd x = vectors.inner(b).segment(begin, size);
    for (int pass = 0; pass < 2; ++pass) {
      x -= (q.leftCols(c) * (q.leftCols(c).transpose() * x)).eval();
    }
    q.col(c) = x.normalized();
  }
  return q;
}

}  // namespace

std::vector<double> fixed_vector(std::span<const graph::NodeId> original, uint64_t seed,
                                 int which) {
  std::vector<double> b(original.size());
  const Philox philox(seed, kFixedStream + static_cast<uint64_t>(which));
  parallel_for(std::ssize(original), 32768, [&](int64_t begin, int64_t end) {
    for (auto i = static_cast<size_t>(begin); i < static_cast<size_t>(end); ++i) {
      const Philox::Block words = philox(static_cast<uint64_t>(original[i]));
      b[i] = to_unit(words[0], words[1]) - 0.5;
    }
  });
  return b;
}

bool equal_values(double a, double b, double gap_tolerance) {
  return std::abs(a - b) <= gap_tolerance * std::max(std::abs(a), std::abs(b));
}

ComponentSolution finish(const Laplacian& S, std::span<const graph::NodeId> original,
                         const Candidate& candidate, const EigenOptions& options) {
  const int64_t n = S.nodes();
  const int pairs = candidate.vectors.count();
  const int wanted = static_cast<int>(std::min<int64_t>({options.k, n - 1, pairs}));
  std::vector<double> value(static_cast<size_t>(pairs));
  for (int j = 0; j < pairs; ++j) {
    const auto u = candidate.vectors.column(j);
    value[static_cast<size_t>(j)] = S.energy(u) / dot(u, u);
  }
  const auto at = [&](int j) { return value[static_cast<size_t>(j)]; };

  ComponentSolution out;
  out.vectors.resize(static_cast<size_t>(n * wanted));
  ComponentSpectrum& spectrum = out.spectrum;
  spectrum.nodes = n;
  for (int begin = 0, end = 0; begin < wanted; begin = end) {
    end = begin + 1;
    while (end < pairs && equal_values(at(end - 1), at(end), options.gap_tolerance)) ++end;
    const int used = std::min(end, wanted) - begin;
    Eigen::MatrixXd rotation = Eigen::MatrixXd::Zero(pairs, used);
    rotation.block(begin, 0, end - begin, used) =
        canonical_rotation(candidate.vectors, begin, end, used, original, options.seed);
    // Distance to the neighbours: the cluster before and the pair after. (Zero is deflated exactly;
    // without any neighbour it has to do.)
    const bool alone = begin == 0 && end >= pairs;
    double gap = alone       ? at(begin)
                 : begin > 0 ? at(begin) - at(begin - 1)
                             : std::numeric_limits<double>::infinity();
    if (end < pairs) {
      const double error = end + 1 == pairs ? candidate.residuals.back() : 0;
      gap = std::min(gap, std::max(at(end) - error - at(end - 1), 0.0));
    }
    for (int c = 0; c < used; ++c) {
      const size_t column = static_cast<size_t>((begin + c) * n);
      const std::span<double> u(out.vectors.data() + column, static_cast<size_t>(n));
      candidate.vectors.combine(rotation.col(c), u);
      scale(1 / norm(u), u);
      std::vector<double> r(static_cast<size_t>(n));
      S.apply(u, r);
      add_scaled(-at(begin + c), u, r);
      const double residual = norm(r);
      spectrum.eigenvalues.push_back(at(begin + c));
      spectrum.residuals.push_back(residual / S.scale());
      spectrum.gaps.push_back(gap);
      spectrum.angle_bounds.push_back(gap > 0 ? std::min(residual / gap, 1.0) : 1.0);
      spectrum.multiplicity.push_back(end - begin);
    }
    if (end >= wanted) {
      for (auto m = static_cast<size_t>(begin); m < spectrum.multiplicity.size(); ++m) {
        spectrum.multiplicity[m] = std::max(spectrum.multiplicity[m], candidate.last_multiplicity);
      }
    }
  }
  spectrum.converged = wanted == std::min<int64_t>(options.k, n - 1);
  for (size_t m = 0; m < spectrum.residuals.size(); ++m) {
    const bool sharp = spectrum.angle_bounds[m] <= kAngleAccepted ||
                       spectrum.residuals[m] <= kRounding;  // nothing better can be represented
    spectrum.converged = spectrum.converged && spectrum.residuals[m] <= options.accept && sharp;
  }
  return out;
}

}  // namespace dgat::spectral
