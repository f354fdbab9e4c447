// Element-by-element kernels: activations and dropout. See kernels.h for the contracts.
#pragma once

#include "kernels/kernels.h"
#include "kernels/vector.h"

namespace dgat::tensor::DGAT_LEVEL {

/// y = f(x) with whole vectors; the rest goes through a padded vector, so an entry's result does
/// not depend on where it stands.
template <class T, class F>
inline void map(const T* x, T* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, f(load(x + i)));
  if (i < n) {
    T rest[kLanes<T>] = {};
    __builtin_memcpy(rest, x + i, static_cast<size_t>(n - i) * sizeof(T));
    store(rest, f(load(rest)));
    __builtin_memcpy(y + i, rest, static_cast<size_t>(n - i) * sizeof(T));
  }
}
/// y = f(x, y).
template <class T, class F>
inline void update(const T* x, T* y, int64_t n, F f) {
  int64_t i = 0;
  for (; i + kLanes<T> <= n; i += kLanes<T>) store(y + i, f(load(x + i), load(y + i)));
  if (i < n) {
    T rest_x[kLanes<T>] = {}, rest_y[kLanes<T>] = {};
    __builtin_memcpy(rest_x, x + i, static_cast<size_t>(n - i) * sizeof(T));
    __builtin_memcpy(rest_y, y + i, static_cast<size_t>(n - i) * sizeof(T));
    store(rest_y, f(load(rest_x), load(rest_y)));
    __builtin_memcpy(y + i, rest_y, static_cast<size_t>(n - i) * sizeof(T));
  }
}

template <class T>
inline Vector<T> logistic(Vector<T> x) {
  return T{1} / (exponential(-x) + T{1});
}
template <class T>
inline Vector<T> hyperbolic_tangent(Vector<T> x) {
  // Odd polynomial near 0, where 1 - 2 / (e^2x + 1) would cancel.
  const Vector<T> square = x * x;
  const Vector<T> large = T{1} - T{2} / (exponential(x * T{2}) + T{1});
  Vector<T> p = square * T(21844.0 / 6081075) - T(1382.0 / 155925);
  p = p * square + T(62.0 / 2835);
  p = p * square - T(17.0 / 315);
  p = p * square + T(2.0 / 15);
  p = p * square - T(1.0 / 3);
  const Vector<T> near = x + x * square * p;
  return select<T>(square < T(sizeof(T) == 4 ? 0.0225 : 0.0004), near, large);
}
template <class T>
inline Vector<T> exponential_minus_one(Vector<T> x) {
  const Vector<T> large = exponential(x) - T{1};
  Vector<T> p = x * T(1.0 / 40320) + T(1.0 / 5040);
  p = p * x + T(1.0 / 720);
  p = p * x + T(1.0 / 120);
  p = p * x + T(1.0 / 24);
  p = p * x + T(1.0 / 6);
  p = p * x + T(0.5);
  const Vector<T> near = x + x * x * p;
  const T limit = T(sizeof(T) == 4 ? 0.25 : 0.01);
  return select<T>((x < limit) & (x > -limit), near, large);
}

template <class T>
void activate(Activation activation, T slope, const T* x, T* y, int64_t n) {
  using V = Vector<T>;
  switch (activation) {
    case Activation::kGelu:
      return map(x, y, n, [](V v) { return v * normal(v).cumulative; });
    case Activation::kElu:
      return map(x, y, n, [](V v) { return select<T>(v > T{0}, v, exponential_minus_one<T>(v)); });
    case Activation::kRelu:
      return map(x, y, n, [](V v) { return select<T>(v < T{0}, V{}, v); });
    case Activation::kLeakyRelu:
      return map(x, y, n, [slope](V v) { return select<T>(v < T{0}, v * slope, v); });
    case Activation::kTanh:
      return map(x, y, n, [](V v) { return hyperbolic_tangent<T>(v); });
    case Activation::kSigmoid:
      return map(x, y, n, [](V v) { return logistic<T>(v); });
  }
}

template <class T>
inline Vector<T> gelu_backward(Vector<T> x, Vector<T> g) {
  const Normal<T> at = normal(x);
  return g * (at.cumulative + x * at.density);
}

template <class T>
void activate_backward(Activation activation, T slope, const T* x, T* g, int64_t n) {
  using V = Vector<T>;
  switch (activation) {
    case Activation::kGelu:
      return update(x, g, n, [](V v, V w) { return gelu_backward<T>(v, w); });
    case Activation::kElu:
      return update(x, g, n, [](V v, V w) { return select<T>(v > T{0}, w, w * exponential(v)); });
    case Activation::kRelu:
      return update(x, g, n, [](V v, V w) { return select<T>(v > T{0}, w, V{}); });
    case Activation::kLeakyRelu:
      return update(x, g, n, [slope](V v, V w) { return select<T>(v > T{0}, w, w * slope); });
    case Activation::kTanh:
      return update(x, g, n, [](V v, V w) {
        const V y = hyperbolic_tangent<T>(v);
        return w * (T{1} - y * y);
      });
    case Activation::kSigmoid:
      return update(x, g, n, [](V v, V w) {
        const V y = logistic<T>(v);
        return w * y * (T{1} - y);
      });
  }
}

constexpr int64_t kGroup = 64;   // positions served by eight Philox counters
constexpr int64_t kTile = 1024;  // positions handled while their bits are in the first-level cache

/// The 64 16-bit numbers of a group: counters 8g .. 8g+7; first the low 64 bits of all eight
/// blocks, then the high ones. The same numbers at every level.
inline void random_group(const DropoutMask& mask, uint64_t group, uint16_t* bits) {
  constexpr int kCount = kBytes / 8;
  for (int first = 0; first < 8; first += kCount) {
    Words c0, c2 = Words{} + (mask.stream & 0xFFFFFFFFu), c3 = Words{} + (mask.stream >> 32);
    for (int i = 0; i < kCount; ++i) c0[i] = group * 8 + static_cast<uint64_t>(first + i);
    Words c1 = c0 >> 32;
    uint32_t k0 = static_cast<uint32_t>(mask.seed), k1 = static_cast<uint32_t>(mask.seed >> 32);
    const Words m0 = Words{} + 0xD2511F53u, m1 = Words{} + 0xCD9E8D57u;
    for (int round = 0; round < 10; ++round) {
      const Words p0 = multiply_low_halves(m0, c0), p1 = multiply_low_halves(m1, c2);
      // High halves may hold rubbish: every use below reads the low half only.
      c0 = (p1 >> 32) ^ c1 ^ uint64_t { k0 };
      c2 = (p0 >> 32) ^ c3 ^ uint64_t { k1 };
      c1 = p1;
      c3 = p0;
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    const Words low = (c0 & 0xFFFFFFFFu) | (c1 << 32), high = (c2 & 0xFFFFFFFFu) | (c3 << 32);
    __builtin_memcpy(bits + 4 * first, &low, sizeof low);
    __builtin_memcpy(bits + 32 + 4 * first, &high, sizeof high);
  }
}

inline void random_bits(const DropoutMask& mask, int64_t position, int64_t n, uint16_t* bits) {
  for (int64_t i = 0; i < n; i += kGroup) {
    random_group(mask, static_cast<uint64_t>((position + i) / kGroup), bits + i);
  }
}

/// body(first, count, bits) for tiles of [0, n).
template <class Body>
inline void for_tiles(const DropoutMask& mask, int64_t position, int64_t n, Body body) {
  alignas(64) uint16_t bits[kTile];
  for (int64_t first = 0; first < n; first += kTile) {
    const int64_t count = n - first < kTile ? n - first : kTile;
    random_bits(mask, position + first, count, bits);
    body(first, count, bits);
  }
}

/// y = dropout(f(x)).
template <class T, class F>
inline void dropout_of(F f, const DropoutMask& mask, int64_t position, const T* x, T* y,
                       int64_t n) {
  const T scale = static_cast<T>(mask.scale);
  const uint32_t threshold = mask.threshold;
  for_tiles(mask, position, n, [=](int64_t first, int64_t count, const uint16_t* bits) {
    for (int64_t i = 0; i < count; ++i) {
      y[first + i] = bits[i] >= threshold ? f(x[first + i]) * scale : T{0};
    }
  });
}

template <class T>
void dropout(const DropoutMask& mask, int64_t position, const T* x, T* y, int64_t n) {
  dropout_of([](T v) { return v; }, mask, position, x, y, n);
}

template <class T>
void add_dropout(const DropoutMask& mask, int64_t position, const T* x, const T* y, T* out,
                 int64_t n) {
  const T scale = static_cast<T>(mask.scale);
  const uint32_t threshold = mask.threshold;
  for_tiles(mask, position, n, [=](int64_t first, int64_t count, const uint16_t* bits) {
    for (int64_t i = 0; i < count; ++i) {
      out[first + i] = x[first + i] + (bits[i] >= threshold ? y[first + i] * scale : T{0});
    }
  });
}

template <class T>
void dropout_gelu(const DropoutMask& mask, int64_t position, const T* x, T* y, T* slope,
                  int64_t n) {
  const T scale = static_cast<T>(mask.scale);
  const uint32_t threshold = mask.threshold;
  for_tiles(mask, position, n, [=](int64_t first, int64_t count, const uint16_t* bits) {
    alignas(64) T kept[kTile], factor[kTile];
    for (int64_t i = 0; i < count; ++i) {
      factor[i] = bits[i] >= threshold ? scale : T{0};
      kept[i] = bits[i] >= threshold ? x[first + i] * scale : T{0};
    }
    const auto both = [](Vector<T> v, Vector<T> f, T* value, T* derivative) {
      const Normal<T> at = normal(v);
      store(value, v * at.cumulative);
      store(derivative, f * (at.cumulative + v * at.density));
    };
    int64_t i = 0;
    for (; i + kLanes<T> <= count; i += kLanes<T>) {
      both(load(kept + i), load(factor + i), y + first + i, slope + first + i);
    }
    if (i < count) {  // what follows `count` in the tile is computed and left there
      const auto rest = static_cast<size_t>(count - i) * sizeof(T);
      T value[kLanes<T>], derivative[kLanes<T>];
      for (int64_t l = count; l < i + kLanes<T>; ++l) kept[l] = factor[l] = T{0};
      both(load(kept + i), load(factor + i), value, derivative);
      __builtin_memcpy(y + first + i, value, rest);
      __builtin_memcpy(slope + first + i, derivative, rest);
    }
  });
}

template <class T>
void negate_dropped(const DropoutMask& mask, int64_t position, T* x, int64_t n) {
  const int64_t lead = position % kGroup;  // entries of the first group that stand before x
  for_tiles(mask, position - lead, n + lead,
            [=](int64_t first, int64_t count, const uint16_t* bits) {
              for (int64_t i = first == 0 ? lead : 0; i < count; ++i) {
                if (bits[i] < mask.threshold) x[first + i - lead] = -x[first + i - lead];
              }
            });
}

template <class T>
void exponential_range(const T* x, T* y, int64_t n) {
  map(x, y, n, [](Vector<T> v) { return exponential(v); });
}

template <class T>
void adam(T* __restrict value, const T* __restrict gradient, T* __restrict first,
          T* __restrict second, int64_t n, const AdamStep& step) {
  const T beta1 = static_cast<T>(step.beta1), beta2 = static_cast<T>(step.beta2);
  const T rest1 = static_cast<T>(1 - step.beta1), rest2 = static_cast<T>(1 - step.beta2);
  const T rate = static_cast<T>(step.lr / step.correction1);
  const T root2 = static_cast<T>(1 / __builtin_sqrt(step.correction2));
  const T epsilon = static_cast<T>(step.epsilon), l2 = static_cast<T>(step.l2);
  const T shrink = static_cast<T>(step.shrink), scale = static_cast<T>(step.gradient_scale);
  for (int64_t i = 0; i < n; ++i) {
    const T g = gradient[i] * scale + l2 * value[i];
    first[i] = beta1 * first[i] + rest1 * g;
    second[i] = beta2 * second[i] + rest2 * g * g;
    const T root = sizeof(T) == 4 ? static_cast<T>(__builtin_sqrtf(static_cast<float>(second[i])))
                                  : static_cast<T>(__builtin_sqrt(static_cast<double>(second[i])));
    value[i] = value[i] * shrink - rate * first[i] / (root * root2 + epsilon);
  }
}

/// x - x is 0 for a finite x and not a number otherwise.
template <class T>
bool all_finite(const T* x, int64_t n) {
  constexpr int kSums = 4;  // an addition takes as long as four loads
  Vector<T> zeros[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * kLanes<T> <= n; i += kSums * kLanes<T>) {
    for (int s = 0; s < kSums; ++s) {
      const Vector<T> v = load(x + i + s * kLanes<T>);
      zeros[s] += v - v;
    }
  }
  T zero = sum<T>((zeros[0] + zeros[1]) + (zeros[2] + zeros[3]));
  for (; i < n; ++i) zero += x[i] - x[i];
  return zero == T{0};
}

}  // namespace dgat::tensor::DGAT_LEVEL
