// Vectors as wide as the instruction set of the including file, with the few functions the kernels
// need. Included by the other headers here only, inside one translation unit per level;
// DGAT_LEVEL names the namespace, so nothing compiled for one level can be called by another.
#pragma once

#include <cstdint>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace dgat::tensor::DGAT_LEVEL {

#if defined(__AVX512F__)
constexpr int kBytes = 64;
#elif defined(__AVX2__)
constexpr int kBytes = 32;
#else
constexpr int kBytes = 16;
#endif

template <class T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using Type = float __attribute__((vector_size(kBytes)));
  using Bits = int32_t __attribute__((vector_size(kBytes)));
};
template <>
struct VectorOf<double> {
  using Type = double __attribute__((vector_size(kBytes)));
  using Bits = int64_t __attribute__((vector_size(kBytes)));
};
template <class T>
using Vector = typename VectorOf<T>::Type;
template <class T>
using Bits = typename VectorOf<T>::Bits;
using Words = uint64_t __attribute__((vector_size(kBytes)));
template <class T>
constexpr int kLanes = kBytes / static_cast<int>(sizeof(T));

/// Vectors of at most 32 bytes: eight heads are the common case, and fill one; so do the eight
/// columns of a head in a small network.
constexpr int kNarrowBytes = kBytes < 32 ? kBytes : 32;
template <class T>
struct NarrowOf;
template <>
struct NarrowOf<float> {
  using Type = float __attribute__((vector_size(kNarrowBytes)));
};
template <>
struct NarrowOf<double> {
  using Type = double __attribute__((vector_size(kNarrowBytes)));
};
template <class T>
using Narrow = typename NarrowOf<T>::Type;
template <class T>
constexpr int kNarrowLanes = kNarrowBytes / static_cast<int>(sizeof(T));
template <class V, class T>
constexpr int kLanesOf = static_cast<int>(sizeof(V) / sizeof(T));

/// A vector or a single number from memory, and back.
template <class V, class T>
inline V get(const T* p) {
  V v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class V, class T>
inline void put(T* p, V v) {
  __builtin_memcpy(p, &v, sizeof v);
}

template <class T>
inline Vector<T> load(const T* p) {
  return get<Vector<T>>(p);
}
template <class T>
inline void store(T* p, Vector<T> v) {
  put(p, v);
}
template <class T>
inline Vector<T> broadcast(T x) {
  return x - Vector<T>{};
}
template <class T>
inline Vector<T> select(Bits<T> condition, Vector<T> yes, Vector<T> no) {
  return condition ? yes : no;
}
/// Lanes added in a fixed order, halves first.
inline float sum_four(float __attribute__((vector_size(16))) v) {
  v += __builtin_shufflevector(v, v, 2, 3, 0, 1);
  return v[0] + v[1];
}
inline double sum_two(double __attribute__((vector_size(16))) v) {
  return v[0] + v[1];
}
template <class T>
inline T sum(Narrow<T> v) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    return sum_four(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                    __builtin_shufflevector(v, v, 4, 5, 6, 7));
  } else {
    return sum_two(__builtin_shufflevector(v, v, 0, 1) + __builtin_shufflevector(v, v, 2, 3));
  }
#else
  if constexpr (sizeof(T) == 4) {
    return sum_four(v);
  } else {
    return sum_two(v);
  }
#endif
}
#if defined(__AVX512F__)
template <class T>
inline T sum(Vector<T> v) {
  if constexpr (sizeof(T) == 4) {
    return sum<T>(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7) +
                  __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15));
  } else {
    return sum<T>(__builtin_shufflevector(v, v, 0, 1, 2, 3) +
                  __builtin_shufflevector(v, v, 4, 5, 6, 7));
  }
}
#endif

/// out[i] = the sum of the lanes of v[i].
template <class T>
inline void sums_of_eight(const Narrow<T> (&v)[8], T* out) {
#if defined(__AVX2__)
  if constexpr (sizeof(T) == 4) {
    using V = Narrow<T>;
    const auto pairs = [](V a, V b) {
      return __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
             __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    };
    const auto fours = [](V a, V b) {
      return __builtin_shufflevector(a, b, 0, 1, 8, 9, 4, 5, 12, 13) +
             __builtin_shufflevector(a, b, 2, 3, 10, 11, 6, 7, 14, 15);
    };
    const V low = fours(pairs(v[0], v[1]), pairs(v[2], v[3]));
    const V high = fours(pairs(v[4], v[5]), pairs(v[6], v[7]));
    return put(out, __builtin_shufflevector(low, high, 0, 1, 2, 3, 8, 9, 10, 11) +
                        __builtin_shufflevector(low, high, 4, 5, 6, 7, 12, 13, 14, 15));
  }
#endif
  for (int i = 0; i < 8; ++i) out[i] = sum<T>(v[i]);
}
#if defined(__AVX512F__)
/// In the order of sum().
template <class T>
inline void sums_of_eight(const Vector<T> (&v)[8], T* out) {
  if constexpr (sizeof(T) == 4) {
    using V = Vector<T>;
    const auto halves = [](V a, V b) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23) +
             __builtin_shufflevector(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30,
                                     31);
    };
    const auto quarters = [](V a, V b) {
      return __builtin_shufflevector(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26,
                                     27) +
             __builtin_shufflevector(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30,
                                     31);
    };
    const V low = quarters(halves(v[0], v[1]), halves(v[2], v[3]));
    const V high = quarters(halves(v[4], v[5]), halves(v[6], v[7]));
    const V pairs = __builtin_shufflevector(low, high, 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24,
                                            25, 28, 29) +
                    __builtin_shufflevector(low, high, 2, 3, 6, 7, 10, 11, 14, 15, 18, 19, 22, 23,
                                            26, 27, 30, 31);
    return put(out, __builtin_shufflevector(pairs, pairs, 0, 2, 4, 6, 8, 10, 12, 14) +
                        __builtin_shufflevector(pairs, pairs, 1, 3, 5, 7, 9, 11, 13, 15));
  }
  for (int i = 0; i < 8; ++i) out[i] = sum<T>(v[i]);
}
#endif

/// Vectors of integers as wide as V, a vector of floats.
template <class V>
using BitsFor = decltype(V{} < V{});

/// 2^n p for integers n in [-126, 127].
template <class V>
inline V scaled(V p, BitsFor<V> exponent) {
  const BitsFor<V> bits = (exponent + 127) << 23;
  V scale;
  __builtin_memcpy(&scale, &bits, sizeof scale);
  return p * scale;
}

/// exp(x) = 2^n p with p near 1, for x in [-87.4, 88.8].
template <class V>
struct Split {
  V p;
  BitsFor<V> n;
};
template <class V>
inline Split<V> split_exponential(V x) {
  const V shift = 12582912.0f - V{};  // 1.5 * 2^23: adding it rounds to an integer
  const V shifted = x * 1.44269504f + shift;
  const V n = shifted - shift;
  V r = x - n * 0.693359375f;
  r = r - n * -2.12194440e-4f;
  V p = 1.9875691500e-4f - V{};
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * (r * r) + r + 1.0f;
  BitsFor<V> exponent;
  __builtin_memcpy(&exponent, &shifted, sizeof exponent);
  return {p, exponent - 0x4B400000};
}

/// exp(x) for x <= 0, to about one unit in the last place; below -87 it stays at exp(-87).
template <class V>
inline V exponential_nonpositive(V x) {
  if constexpr (sizeof(x[0]) == sizeof(float)) {
    const V low = -87.0f - V{};
    const Split<V> split = split_exponential<V>(x < low ? low : x);
    return scaled(split.p, split.n);
  } else {
    for (int i = 0; i < kLanesOf<V, double>; ++i) x[i] = __builtin_exp(x[i]);
    return x;
  }
}

/// exp(x) for every x, to about one unit in the last place.
inline Vector<float> exponential(Vector<float> x) {
  using V = Vector<float>;
  const V low = broadcast(-87.33654f), high = broadcast(88.72283f);
  const Bits<float> overflow = x > high, underflow = x < low, unordered = x != x;
  const V inside = select<float>(underflow | unordered, low, select<float>(overflow, high, x));
  const Split<V> split = split_exponential(inside);
  // In two steps, because 2^128 is not a float.
  const Bits<float> half = split.n >> 1;
  V p = scaled(scaled(split.p, half), split.n - half);
  p = select<float>(underflow, V{}, p);
  p = select<float>(overflow, broadcast(__builtin_inff()), p);
  return select<float>(unordered, x, p);
}
inline Vector<double> exponential(Vector<double> x) {
  for (int i = 0; i < kLanes<double>; ++i) x[i] = __builtin_exp(x[i]);
  return x;
}

/// Normal distribution function and density of x.
template <class T>
struct Normal {
  Vector<T> cumulative, density;
};
inline Normal<float> normal(Vector<float> x) {
  using V = Vector<float>;
  // The upper tail is exp(-a^2/2) R(t) with t = 1 / (1 + 0.3 a), a = |x|; R fitted to a relative
  // error of 1.5e-7 on [0, 14], beyond which the tail is below every float.
  const V a = select<float>(x < 0.0f, -x, x);
  const V t = 1.0f / (a * 0.3f + 1.0f);
  V r = broadcast(0.03567521174f);
  r = r * t - 0.1572048507f;
  r = r * t + 0.2063564230f;
  r = r * t - 0.05368618165f;
  r = r * t + 0.1285628797f;
  r = r * t + 0.09991314179f;
  r = r * t + 0.1207540073f;
  r = r * t + 0.1196292958f;
  const V bell = exponential_nonpositive(x * x * -0.5f);
  const V tail = bell * (r * t);
  return {select<float>(x < 0.0f, tail, 1.0f - tail), bell * 0.3989422804f};
}
inline Normal<double> normal(Vector<double> x) {
  Normal<double> result;
  for (int i = 0; i < kLanes<double>; ++i) {
    result.cumulative[i] = 0.5 * __builtin_erfc(-x[i] * 0.70710678118654752440);
    result.density[i] = 0.39894228040143267794 * __builtin_exp(-0.5 * x[i] * x[i]);
  }
  return result;
}

/// Low halves of every 64-bit lane multiplied to 64 bits.
inline Words multiply_low_halves(Words a, Words b) {
#if defined(__AVX512F__)
  return reinterpret_cast<Words>(
      // (the unmasked form makes GCC 12 warn about its own header)
      _mm512_maskz_mul_epu32(0xFF, reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__AVX2__)
  return reinterpret_cast<Words>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
  return reinterpret_cast<Words>(
      _mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#else
  return (a & 0xFFFFFFFFu) * (b & 0xFFFFFFFFu);
#endif
}

}  // namespace dgat::tensor::DGAT_LEVEL
