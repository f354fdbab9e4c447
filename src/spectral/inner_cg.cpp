#include "inner_cg.h"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "dgat/core/parallel.h"

namespace dgat::spectral {
namespace {

using graph::NodeId;

constexpr double kInnerTolerance = 0.1;
constexpr int64_t kCgGrain = 32768;

/// Sums of a few numbers per block, added in block order.
struct Sums {
  Eigen::VectorXd values;
  Sums& operator+=(const Sums& other) {
    values = values.size() == 0 ? other.values : (values + other.values).eval();
    return *this;
  }
};

}  // namespace

template <class T>
InnerCg<T>::InnerCg(const Laplacian& S, int steps) : S_(S), steps_(steps) {
  const auto entries = static_cast<size_t>(S.nodes()) * kColumns;
  for (auto* vector : {&w_, &g_, &p_, &q_, &t_}) vector->resize(entries);
}

template <class T>
void InnerCg<T>::load(const Basis& known, std::span<const double> theta, const Basis& residuals) {
  const NodeId n = S_.nodes();
  known_ = known.count();
  k_.resize(static_cast<size_t>(n) * static_cast<size_t>(known_));
  double size[kColumns] = {};
  for (int c = 0; c < kColumns; ++c) {
    columns_[c] = {};
    if (c >= residuals.count()) continue;
    size[c] = norm(residuals.column(c));
    columns_[c].theta = theta[static_cast<size_t>(c)];
    columns_[c].active = size[c] > 0;
  }
  const int squares = known_ * known_;
  const Sums sums = parallel_sum<Sums>(n, kCgGrain, [&](int64_t begin, int64_t end) {
    Sums part{Eigen::VectorXd::Zero(kColumns * squares)};
    for (int64_t i = begin; i < end; ++i) {
      const auto node = static_cast<NodeId>(i);
      const double mass = S_.mass(node), root = std::sqrt(mass);
      const double degree = S_.graph().strength(node);
      T* k = k_.data() + i * known_;
      for (int j = 0; j < known_; ++j) {
        k[j] = static_cast<T>(root * known.column(j)[static_cast<size_t>(i)]);
      }
      for (int c = 0; c < kColumns; ++c) {
        const auto at = static_cast<size_t>(i * kColumns + c);
        w_[at] = g_[at] = t_[at] = p_[at] = 0;
        if (!columns_[c].active) continue;
        g_[at] = static_cast<T>(root * residuals.column(c)[static_cast<size_t>(i)] / size[c]);
        const double d = S_.factor() * degree;
        const double w = 1 / std::max(d - columns_[c].theta * mass, 0.1 * d);
        w_[at] = static_cast<T>(w);
        double* gram = part.values.data() + c * squares;
        for (int a = 0; a < known_; ++a) {
          for (int b = 0; b <= a; ++b) gram[a * known_ + b] += w * double{k[a]} * double{k[b]};
        }
      }
    }
    return part;
  });
  for (int c = 0; c < kColumns; ++c) {
    gram_[c] = Eigen::Map<const Eigen::Matrix<double, -1, -1, Eigen::RowMajor>>(
        sums.values.data() + c * squares, known_, known_);
  }
}

template <class T>
void InnerCg<T>::multiply() {
  const graph::CsrGraph& graph = S_.graph();
  const NodeId* targets = graph.targets().data();
  const float* weights = graph.weighted() ? graph.weights().data() : nullptr;
  const T gamma = static_cast<T>(S_.factor());
  const T theta[kColumns] = {static_cast<T>(columns_[0].theta), static_cast<T>(columns_[1].theta)};
  const std::span<const NodeId> blocks = S_.row_blocks();
  const Sums sums = parallel_sum<Sums>(std::ssize(blocks) - 1, 1, [&](int64_t block, int64_t) {
    double curvature[kColumns] = {};
    for (NodeId i = blocks[static_cast<size_t>(block)]; i < blocks[static_cast<size_t>(block) + 1];
         ++i) {
      const size_t at = static_cast<size_t>(i) * kColumns;
      const T p0 = p_[at], p1 = p_[at + 1];
      T s0 = 0, s1 = 0, r0 = 0, r1 = 0;
      graph::ArcIndex e = graph.begin(i);
      const graph::ArcIndex end = graph.end(i);
      if (weights != nullptr) {
        for (; e < end; ++e) {
          const T* x = p_.data() + size_t{2} * static_cast<size_t>(targets[e]);
          s0 += static_cast<T>(weights[e]) * (p0 - x[0]);
          s1 += static_cast<T>(weights[e]) * (p1 - x[1]);
        }
      }
      for (; e + 2 <= end; e += 2) {
        const T* x = p_.data() + size_t{2} * static_cast<size_t>(targets[e]);
        const T* y = p_.data() + size_t{2} * static_cast<size_t>(targets[e + 1]);
        s0 += p0 - x[0];
        s1 += p1 - x[1];
        r0 += p0 - y[0];
        r1 += p1 - y[1];
      }
      if (e < end) {
        const T* x = p_.data() + size_t{2} * static_cast<size_t>(targets[e]);
        s0 += p0 - x[0];
        s1 += p1 - x[1];
      }
      const T mass = static_cast<T>(S_.mass(i));
      q_[at] = gamma * (s0 + r0) - theta[0] * mass * p0;
      q_[at + 1] = gamma * (s1 + r1) - theta[1] * mass * p1;
      curvature[0] += double{p0} * double{q_[at]};
      curvature[1] += double{p1} * double{q_[at + 1]};
    }
    return Sums{Eigen::Vector2d(curvature[0], curvature[1])};
  });
  for (int c = 0; c < kColumns; ++c) {
    Scalars& column = columns_[c];
    const double curvature = sums.values[c];
    if (column.active && !(curvature > 0)) column.active = false;
    column.step = column.active ? static_cast<T>(column.energy / curvature) : 0;
  }
}

template <class T>
void InnerCg<T>::descend() {
  const int width = known_ + 1;  // K^T N^-1 g, then g^T N^-1 g
  const Sums sums = parallel_sum<Sums>(S_.nodes(), kCgGrain, [&](int64_t begin, int64_t end) {
    Sums part{Eigen::VectorXd::Zero(kColumns * width)};
    for (int64_t i = begin; i < end; ++i) {
      const T* k = k_.data() + i * known_;
      for (int c = 0; c < kColumns; ++c) {
        const auto at = static_cast<size_t>(i * kColumns + c);
        t_[at] += columns_[c].step * p_[at];
        g_[at] -= columns_[c].step * q_[at];
        const double z = double{w_[at]} * double{g_[at]};
        double* sum = part.values.data() + c * width;
        for (int j = 0; j < known_; ++j) sum[j] += double{k[j]} * z;
        sum[known_] += double{g_[at]} * z;
      }
    }
    return part;
  });
  for (int c = 0; c < kColumns; ++c) {
    Scalars& column = columns_[c];
    const Eigen::VectorXd kz = sums.values.segment(c * width, known_);
    multiplier_[c] = column.active ? gram_[c].selfadjointView<Eigen::Lower>().llt().solve(kz)
                                   : Eigen::VectorXd::Zero(known_).eval();
    const double energy = sums.values[c * width + known_] - multiplier_[c].dot(kz);
    if (column.first == 0) column.first = energy;
    column.turn = column.energy > 0 ? static_cast<T>(energy / column.energy) : 0;
    column.energy = energy;
    if (!(energy > kInnerTolerance * kInnerTolerance * column.first)) column.active = false;
  }
}

template <class T>
void InnerCg<T>::turn() {
  parallel_for(S_.nodes(), kCgGrain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const T* k = k_.data() + i * known_;
      for (int c = 0; c < kColumns; ++c) {
        if (!columns_[c].active) continue;
        const auto at = static_cast<size_t>(i * kColumns + c);
        double g = g_[at];
        for (int j = 0; j < known_; ++j) g -= multiplier_[c][j] * double{k[j]};
        g_[at] = static_cast<T>(g);
        p_[at] = static_cast<T>(double{w_[at]} * g) + columns_[c].turn * p_[at];
      }
    }
  });
}

template <class T>
void InnerCg<T>::apply(const Basis& known, std::span<const double> theta, const Basis& residuals,
                       Basis& directions) {
  load(known, theta, residuals);
  descend();  // with steps of zero: the projection of the first z
  turn();
  const Columns fresh = columns_;
  for (int step = 0; step < steps_ && (columns_[0].active || columns_[1].active); ++step) {
    multiply();
    if (step == 0) {
      // No curvature along the very first direction: take it as it is.
      for (int c = 0; c < kColumns; ++c) {
        if (fresh[c].active && !columns_[c].active) columns_[c].step = 1;
      }
    }
    descend();
    turn();
  }
  directions.truncate(0);
  for (int c = 0; c < residuals.count(); ++c) {
    const std::span<double> out = directions.push();
    parallel_for(S_.nodes(), kCgGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        out[static_cast<size_t>(i)] = std::sqrt(S_.mass(static_cast<NodeId>(i))) *
                                      double{t_[static_cast<size_t>(i * kColumns + c)]};
      }
    });
  }
}

template class InnerCg<float>;
template class InnerCg<double>;

}  // namespace dgat::spectral
