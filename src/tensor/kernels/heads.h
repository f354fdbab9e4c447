// Kernels on arcs x heads arrays: softmax of scores and edge terms. See kernels.h for the
// contracts.
#pragma once

#include "kernels/elementwise.h"

namespace dgat::tensor::DGAT_LEVEL {

/// body(V{}, h) for blocks of heads that start at h: whole vectors first, then one by one.
template <class T, class Body>
inline void for_head_blocks(int64_t heads, Body body) {
  constexpr int64_t kWidth = kNarrowLanes<T>;
  int64_t h = 0;
  for (; h + kWidth <= heads; h += kWidth) body(Narrow<T>{}, h);
  for (; h < heads; ++h) body(T{}, h);
}

template <class T>
void softmax_parts(T* scores, int64_t heads, int64_t count, T* max, T* sum) {
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    V largest = get<V>(scores + h);
    for (int64_t e = 1; e < count; ++e) {
      const V s = get<V>(scores + e * heads + h);
      largest = largest < s ? s : largest;
    }
    put(max + h, largest);
  });
  if (heads % kNarrowLanes<T> == 0) {  // one pass for subtracting, exponential and sum
    using V = Narrow<T>;
    for (int64_t h = 0; h < heads; h += kNarrowLanes<T>) {
      const V largest = get<V>(max + h);
      V total{};
      for (int64_t e = 0; e < count; ++e) {
        T* s = scores + e * heads + h;
        const V power = exponential_nonpositive<V>(get<V>(s) - largest);
        put(s, power);
        total += power;
      }
      put(sum + h, total);
    }
    return;
  }
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    const V largest = get<V>(max + h);
    for (int64_t e = 0; e < count; ++e) {
      T* s = scores + e * heads + h;
      put(s, get<V>(s) - largest);
    }
  });
  map(scores, scores, count * heads, [](Vector<T> v) { return exponential_nonpositive(v); });
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    V total = zero;
    for (int64_t e = 0; e < count; ++e) total += get<V>(scores + e * heads + h);
    put(sum + h, total);
  });
}

template <class T>
void scale_heads(T* x, const T* factor, int64_t heads, int64_t count) {
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    const V f = get<V>(factor + h);
    for (int64_t e = 0; e < count; ++e) {
      T* entry = x + e * heads + h;
      put(entry, get<V>(entry) * f);
    }
  });
}

template <class T>
void softmax_backward(const T* alpha, const T* mean, T scale, int64_t heads, int64_t count, T* g) {
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    const V average = get<V>(mean + h);
    for (int64_t e = 0; e < count; ++e) {
      const V a = get<V>(alpha + e * heads + h);
      T* entry = g + e * heads + h;
      const V through = get<V>(entry) * scale;
      const V kept = a < zero ? zero : through, size = a < zero ? -a : a;
      put(entry, size * (kept - average));
    }
  });
}

template <class T>
void add_edge_terms(const T* features, int64_t k, const T* coefficients, const T* bias,
                    int64_t heads, int64_t count, T* out) {
  for_head_blocks<T>(heads, [=](auto zero, int64_t h) {
    using V = decltype(zero);
    const V start = bias != nullptr ? get<V>(bias + h) : zero;
    for (int64_t e = 0; e < count; ++e) {
      T* entry = out + e * heads + h;
      V sum = get<V>(entry) + start;
      for (int64_t c = 0; c < k; ++c) {
        sum += get<V>(coefficients + c * heads + h) * features[e * k + c];
      }
      put(entry, sum);
    }
  });
}

/// body(V{}, h, raw) for blocks of heads: raw(e) is the sum before the LeakyReLU.
template <class T, class Body>
inline void for_additive_blocks(const AdditiveScores<T>& scores, Body body) {
  const int64_t heads = scores.senders.width;
  for_head_blocks<T>(heads, [&](auto zero, int64_t h) {
    using V = decltype(zero);
    const V mine = get<V>(scores.receiver + h);
    const V bias = scores.bias != nullptr ? get<V>(scores.bias + h) : zero;
    const auto gathered = [=, &scores](int64_t e) {
      return mine + get<V>(scores.senders.data + scores.senders.index[e] * heads + h);
    };
    if (scores.k == 0) {
      body(zero, h, gathered);
    } else if (scores.k == 2) {  // one eigenvector: the coefficients stay in registers
      const V first = get<V>(scores.coefficients + h),
              second = get<V>(scores.coefficients + heads + h);
      const T* features = scores.features;
      body(zero, h, [=](int64_t e) {
        V sum = gathered(e) + bias;
        sum += first * features[2 * e];
        sum += second * features[2 * e + 1];
        return sum;
      });
    } else {
      body(zero, h, [=, &scores](int64_t e) {
        V sum = gathered(e) + bias;
        for (int64_t c = 0; c < scores.k; ++c) {
          sum += get<V>(scores.coefficients + c * heads + h) * scores.features[e * scores.k + c];
        }
        return sum;
      });
    }
  });
}

template <class T>
void additive_scores(const AdditiveScores<T>& scores, int64_t count, T* out) {
  const int64_t heads = scores.senders.width;
  const T slope = scores.slope;
  for_additive_blocks(scores, [=](auto zero, int64_t h, const auto& raw) {
    for (int64_t e = 0; e < count; ++e) {
      const auto s = raw(e);
      put(out + e * heads + h, s > zero ? s : s * slope);
    }
  });
}

template <class T>
void additive_scores_backward(const AdditiveScores<T>& scores, int64_t count, T* g, T* sum) {
  const int64_t heads = scores.senders.width;
  const T slope = scores.slope;
  for_additive_blocks(scores, [=](auto zero, int64_t h, const auto& raw) {
    using V = decltype(zero);
    V total = get<V>(sum + h);
    for (int64_t e = 0; e < count; ++e) {
      T* entry = g + e * heads + h;
      V gradient = get<V>(entry);
      gradient = raw(e) > zero ? gradient : gradient * slope;
      put(entry, gradient);
      total += gradient;
    }
    put(sum + h, total);
  });
}

}  // namespace dgat::tensor::DGAT_LEVEL
