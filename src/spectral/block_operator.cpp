#include "block_operator.h"

#include <algorithm>
#include <cmath>

#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

using graph::NodeId;

template <class T>
using Row = Eigen::Array<T, BlockOperator::kWidth, 1>;
template <class T>
Eigen::Map<Row<T>> row(std::vector<T>& values, NodeId i) {
  return Eigen::Map<Row<T>>(values.data() + static_cast<size_t>(i) * BlockOperator::kWidth);
}

constexpr int64_t kGrain = 4096;
constexpr double kHigh = 2;
constexpr int kFewestChebyshev = 8, kMostChebyshev = 40, kMoreChebyshev = 4;

/// Damping reaches down to here with so many steps: what lies at 0 is magnified about tenfold.
double low_end(int steps) {
  const double share = 1.5 / steps;
  return std::min(kHigh * share * share, 1.0);
}

}  // namespace

BlockOperator::BlockOperator(const Laplacian& S)
    : S_(S), z_(static_cast<size_t>(S.nodes()) * kWidth) {
  for (NodeId i = 0; i < S.nodes(); ++i) {
    inverse_root_.push_back(S.options().gamma == 0 ? 1 : 1 / std::sqrt(S.mass(i)));
  }
}

void BlockOperator::apply(const Basis& X, int first, Basis& Y) {
  const graph::CsrGraph& graph = S_.graph();
  const NodeId* targets = graph.targets().data();
  const float* weights = graph.weighted() ? graph.weights().data() : nullptr;
  const std::span<const NodeId> blocks = S_.row_blocks();
  for (int begin = first; begin < X.count(); begin += kWidth) {
    const int width = std::min(kWidth, X.count() - begin);
    double* out[kWidth] = {};
    for (int c = 0; c < width; ++c) out[c] = Y.push().data();
    parallel_for(S_.nodes(), kGrain, [&](int64_t from, int64_t to) {
      for (int c = 0; c < kWidth; ++c) {
        const double* x = X.column(begin + std::min(c, width - 1)).data();
        for (int64_t i = from; i < to; ++i) {
          z_[static_cast<size_t>(i * kWidth + c)] = inverse_root_[static_cast<size_t>(i)] * x[i];
        }
      }
    });
    parallel_for(std::ssize(blocks) - 1, 1, [&](int64_t block, int64_t) {
      const auto b = static_cast<size_t>(block);
      for (NodeId i = blocks[b]; i < blocks[b + 1]; ++i) {
        const Row<double> own = row(z_, i);
        Row<double> sum = Row<double>::Zero();
        for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
          if (weights != nullptr) {
            sum += double{weights[e]} * (own - row(z_, targets[e]));
          } else {
            sum += own - row(z_, targets[e]);
          }
        }
        const double scale = S_.factor() * inverse_root_[static_cast<size_t>(i)];
        for (int c = 0; c < width; ++c) out[c][i] = scale * sum[c];
      }
    });
    work_ += width * graph.arcs();
  }
}

void ColumnCorrection::apply(const Basis& residuals, double, double, Basis& directions) {
  directions.truncate(0);
  for (int c = 0; c < residuals.count(); ++c) {
    correction_.multiply(residuals.column(c), directions.push());
  }
  work_ += cost_ * residuals.count() * arcs_;
}

ChebyshevCorrection::ChebyshevCorrection(const Laplacian& S) : S_(S) {
  const auto n = static_cast<size_t>(S.nodes());
  for (auto* vector : {&z_, &r_, &d_, &next_}) vector->resize(n * kWidth);
  for (NodeId i = 0; i < S.nodes(); ++i) {
    const double mass = S.options().gamma == 0 ? 1 : S.mass(i);
    const double diagonal = S.factor() * S.graph().strength(i);
    mass_per_diagonal_ = std::max(mass_per_diagonal_, mass / diagonal);
    root_mass_.push_back(std::sqrt(mass));
    mass_.push_back(static_cast<float>(mass));
    inverse_diagonal_.push_back(static_cast<float>(1 / diagonal));
  }
}

int ChebyshevCorrection::steps_for(double top) const {
  int steps = kFewestChebyshev;
  while (steps < kMostChebyshev && low_end(steps) > top * mass_per_diagonal_)
    steps += kMoreChebyshev;
  return steps;
}

/// r -= (gamma (D - A) - shift M) d,  d <- keep d + add N^-1 r,  z += d.
void ChebyshevCorrection::multiply(float shift, float keep, float add) {
  const graph::CsrGraph& graph = S_.graph();
  const NodeId* targets = graph.targets().data();
  const float* weights = graph.weighted() ? graph.weights().data() : nullptr;
  const std::span<const NodeId> blocks = S_.row_blocks();
  const auto gamma = static_cast<float>(S_.factor());
  parallel_for(std::ssize(blocks) - 1, 1, [&](int64_t block, int64_t) {
    const auto b = static_cast<size_t>(block);
    for (NodeId i = blocks[b]; i < blocks[b + 1]; ++i) {
      const auto node = static_cast<size_t>(i);
      const Row<float> own = row(d_, i);
      Row<float> sum = Row<float>::Zero();
      for (graph::ArcIndex e = graph.begin(i); e < graph.end(i); ++e) {
        if (weights != nullptr) {
          sum += weights[e] * row(d_, targets[e]);
        } else {
          sum += row(d_, targets[e]);
        }
      }
      const float diagonal = gamma * static_cast<float>(graph.strength(i)) - shift * mass_[node];
      const Row<float> r = row(r_, i) + gamma * sum - diagonal * own;
      const Row<float> next = keep * own + add * inverse_diagonal_[node] * r;
      row(r_, i) = r;
      row(next_, i) = next;
      row(z_, i) += next;
    }
  });
  d_.swap(next_);
}

void ChebyshevCorrection::apply(const Basis& residuals, double shift, double top,
                                Basis& directions) {
  const int steps = steps_for(top);
  const double low = low_end(steps), centre = (kHigh + low) / 2, radius = (kHigh - low) / 2;
  directions.truncate(0);
  for (int begin = 0; begin < residuals.count(); begin += kWidth) {
    const int width = std::min(kWidth, residuals.count() - begin);
    double size[kWidth] = {};
    for (int c = 0; c < width; ++c) size[c] = norm(residuals.column(begin + c));
    parallel_for(S_.nodes(), kGrain, [&](int64_t from, int64_t to) {
      for (int64_t i = from; i < to; ++i) {
        const auto node = static_cast<size_t>(i);
        for (int c = 0; c < kWidth; ++c) {
          const size_t at = node * kWidth + static_cast<size_t>(c);
          const bool used = c < width && size[c] > 0;
          const double r = used ? residuals.column(begin + c)[node] / size[c] : 0;
          r_[at] = static_cast<float>(root_mass_[node] * r);
          d_[at] = z_[at] = r_[at] * inverse_diagonal_[node] / static_cast<float>(centre);
        }
      }
    });
    double rho = radius / centre;
    for (int step = 0; step < steps; ++step) {
      const double next = 1 / (2 * centre / radius - rho);
      multiply(static_cast<float>(shift), static_cast<float>(next * rho),
               static_cast<float>(2 * next / radius));
      rho = next;
    }
    for (int c = 0; c < width; ++c) {
      const std::span<double> out = directions.push();
      parallel_for(S_.nodes(), kGrain, [&](int64_t from, int64_t to) {
        for (auto i = static_cast<size_t>(from); i < static_cast<size_t>(to); ++i) {
          out[i] = root_mass_[i] * double{z_[i * kWidth + static_cast<size_t>(c)]};
        }
      });
    }
    work_ += int64_t{steps} * width * S_.graph().arcs();
  }
}

}  // namespace dgat::spectral
