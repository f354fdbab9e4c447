// Row kernels: sums over the columns of a row, and layer normalisation. See kernels.h for the
// contracts.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vector.h"

namespace dgat::tensor::DGAT_LEVEL {

/// Sum over c of term(c) with whole vectors, then the rest one by one. `vector_term(c)` covers
/// columns [c, c + lanes).
template <class T, class VectorTerm, class Term>
inline T reduce(int64_t n, VectorTerm vector_term, Term term) {
  constexpr int64_t kStep = kLanes<T>;
  Vector<T> sum0{}, sum1{};
  int64_t c = 0;
  for (; c + 2 * kStep <= n; c += 2 * kStep) {
    sum0 += vector_term(c);
    sum1 += vector_term(c + kStep);
  }
  if (c + kStep <= n) {
    sum0 += vector_term(c);
    c += kStep;
  }
  T total = sum<T>(sum0 + sum1);
  for (; c < n; ++c) total += term(c);
  return total;
}

template <class T>
inline T dot(const T* x, const T* y, int64_t n) {
  return reduce<T>(
      n, [=](int64_t c) { return load(x + c) * load(y + c); },
      [=](int64_t c) { return x[c] * y[c]; });
}

template <class T>
inline T root(T x) {
  if constexpr (sizeof(T) == 4)
    return __builtin_sqrtf(x);
  else
    return __builtin_sqrt(x);
}

template <class T>
void layer_norm(const T* x, const T* weight, const T* bias, T epsilon, T* out, T* stats,
                int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols, out += cols, stats += 2) {
    const T mean =
        reduce<T>(
            cols, [=](int64_t c) { return load(x + c); }, [=](int64_t c) { return x[c]; }) /
        static_cast<T>(cols);
    const T variance = reduce<T>(
                           cols,
                           [=](int64_t c) {
                             const Vector<T> d = load(x + c) - mean;
                             return d * d;
                           },
                           [=](int64_t c) { return (x[c] - mean) * (x[c] - mean); }) /
                       static_cast<T>(cols);
    const T scale = T{1} / root(variance + epsilon);
    for (int64_t c = 0; c < cols; ++c) out[c] = (x[c] - mean) * scale * weight[c] + bias[c];
    stats[0] = mean;
    stats[1] = scale;
  }
}

template <class T>
void layer_norm_backward(const T* x, const T* weight, const T* stats, const T* g, T* dx,
                         bool accumulate, T* dweight, T* dbias, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols, g += cols, dx += cols, stats += 2) {
    const T mean = stats[0], scale = stats[1];
    const T sum_g = dot(g, weight, cols);
    const T sum_gx =
        reduce<T>(
            cols, [=](int64_t c) { return load(g + c) * load(weight + c) * (load(x + c) - mean); },
            [=](int64_t c) { return g[c] * weight[c] * (x[c] - mean); }) *
        scale;
    const T mean_g = sum_g / static_cast<T>(cols), mean_gx = sum_gx / static_cast<T>(cols);
    int64_t c = 0;
    for (; c + kLanes<T> <= cols; c += kLanes<T>) {
      const Vector<T> gradient = load(g + c), normal = (load(x + c) - mean) * scale;
      store(dweight + c, load(dweight + c) + gradient * normal);
      store(dbias + c, load(dbias + c) + gradient);
      const Vector<T> d = (gradient * load(weight + c) - mean_g - normal * mean_gx) * scale;
      store(dx + c, accumulate ? load(dx + c) + d : d);
    }
    for (; c < cols; ++c) {
      const T normal = (x[c] - mean) * scale;
      dweight[c] += g[c] * normal;
      dbias[c] += g[c];
      const T d = (g[c] * weight[c] - mean_g - normal * mean_gx) * scale;
      dx[c] = accumulate ? dx[c] + d : d;
    }
  }
}

}  // namespace dgat::tensor::DGAT_LEVEL
