// Kernels on arcs x heads arrays: softmax of scores and edge terms. See kernels.h for the
// contracts.
#pragma once

#include "kernels/elementwise.h"

namespace dgat::tensor::DGAT_LEVEL {

/// Calls body with the number of heads as a constant where it is common, so that the inner loops
/// become whole vectors.
template <int kCount>
struct Constant {
  constexpr operator int64_t() const { return kCount; }
};
template <class Body>
inline void with_heads(int64_t heads, Body body) {
  switch (heads) {
    case 1:
      return body(Constant<1>{});
    case 4:
      return body(Constant<4>{});
    case 8:
      return body(Constant<8>{});
    default:
      return body(heads);
  }
}

template <class T>
void softmax_parts(T* scores, int64_t heads, int64_t count, T* max, T* sum) {
  with_heads(heads, [=](auto H) {
    for (int64_t h = 0; h < H; ++h) max[h] = scores[h];
    for (int64_t e = 1; e < count; ++e) {
      const T* s = scores + e * H;
      for (int64_t h = 0; h < H; ++h) max[h] = max[h] < s[h] ? s[h] : max[h];
    }
    for (int64_t e = 0; e < count; ++e) {
      T* s = scores + e * H;
      for (int64_t h = 0; h < H; ++h) s[h] -= max[h];
    }
    map(scores, scores, count * H, [](Vector<T> v) { return exponential_nonpositive(v); });
    for (int64_t h = 0; h < H; ++h) sum[h] = 0;
    for (int64_t e = 0; e < count; ++e) {
      const T* s = scores + e * H;
      for (int64_t h = 0; h < H; ++h) sum[h] += s[h];
    }
  });
}

template <class T>
void scale_heads(T* x, const T* factor, int64_t heads, int64_t count) {
  with_heads(heads, [=](auto H) {
    for (int64_t e = 0; e < count; ++e) {
      for (int64_t h = 0; h < H; ++h) x[e * H + h] *= factor[h];
    }
  });
}

template <class T>
void softmax_backward(const T* alpha, const T* mean, T scale, int64_t heads, int64_t count, T* g) {
  with_heads(heads, [=](auto H) {
    for (int64_t e = 0; e < count; ++e) {
      for (int64_t h = 0; h < H; ++h) {
        const T a = alpha[e * H + h];
        const T kept = a < T{0} ? T{0} : g[e * H + h] * scale;
        g[e * H + h] = (a < T{0} ? -a : a) * (kept - mean[h]);
      }
    }
  });
}

template <class T>
void add_edge_terms(const T* features, int64_t k, const T* coefficients, const T* bias,
                    int64_t heads, int64_t count, T* out) {
  with_heads(heads, [=](auto H) {
    for (int64_t e = 0; e < count; ++e) {
      T* row = out + e * H;
      if (bias != nullptr) {
        for (int64_t h = 0; h < H; ++h) row[h] += bias[h];
      }
      for (int64_t c = 0; c < k; ++c) {
        const T f = features[e * k + c];
        for (int64_t h = 0; h < H; ++h) row[h] += f * coefficients[c * H + h];
      }
    }
  });
}

}  // namespace dgat::tensor::DGAT_LEVEL
