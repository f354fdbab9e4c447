// Row kernels: layer normalisation, and gathering rows by index for attention and sparse products.
// See kernels.h for the contracts.
#pragma once

#include <utility>

#include "kernels/kernels.h"
#include "kernels/vector.h"

namespace dgat::tensor::DGAT_LEVEL {

/// body(0), ..., body(kCount - 1) without a loop, so that arrays of vectors are registers.
template <int kCount, class Body>
inline void unrolled(Body body) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (body(i), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

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

/// Rows are scattered over memory: the next ones are asked for while these are used. Always inlined,
/// because GCC leaves out calls of functions that do nothing else.
template <class T>
[[gnu::always_inline]] inline void prefetch(const IndexedRows<T>& rows, int64_t e, int64_t count) {
  if (e >= count) return;
  const char* row = reinterpret_cast<const char*>(rows.data + rows.index[e] * rows.width);
  const int64_t bytes = rows.width * static_cast<int64_t>(sizeof(T));
  for (int64_t b = 0; b < bytes; b += 64) __builtin_prefetch(row + b);
}

template <class T>
inline const T* row_of(const IndexedRows<T>& rows, int64_t e) {
  return rows.data + rows.index[e] * rows.width;
}

/// out[c] += sum over rows of w * row[at + c], for kVectors vectors of columns, sums in registers.
template <int kVectors, class T>
inline void add_tile(const T* const* row, int64_t at, const T* weights, int64_t stride,
                     int64_t count, T* out) {
  Vector<T> acc[kVectors];
  for (int v = 0; v < kVectors; ++v) acc[v] = load(out + v * kLanes<T>);
  for (int64_t e = 0; e < count; ++e) {
    const T w = weights[e * stride];
    const T* from = row[e] + at;
    for (int v = 0; v < kVectors; ++v) acc[v] += load(from + v * kLanes<T>) * w;
  }
  for (int v = 0; v < kVectors; ++v) store(out + v * kLanes<T>, acc[v]);
}

/// The same for whole rows of kVectors vectors, kPerHead of them under one weight: the sums stay
/// in registers over all rows.
template <class V, int kVectors, int kPerHead, class T>
inline void add_narrow_rows(const IndexedRows<T>& rows, const T* weights, int64_t count, T* out) {
  constexpr int kHeads = kVectors / kPerHead, kWidth = kLanesOf<V, T>;
  V acc[kVectors];
  unrolled<kVectors>([&](int v) { acc[v] = get<V>(out + v * kWidth); });
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 8, count);
    const T* from = row_of(rows, e);
    const T* w = weights + e * kHeads;
    unrolled<kVectors>([&](int v) { acc[v] += get<V>(from + v * kWidth) * w[v / kPerHead]; });
  }
  unrolled<kVectors>([&](int v) { put(out + v * kWidth, acc[v]); });
}

/// Rows of kVectors vectors under one weight, or eight, or one per vector. False: nothing was done.
template <class V, int kVectors, class T>
inline bool add_rows_of(const IndexedRows<T>& rows, const T* weights, int64_t heads, int64_t count,
                        T* out) {
  if (rows.width != kVectors * kLanesOf<V, T>) return false;
  constexpr int kHeads = kVectors < 8 ? kVectors : 8;
  if (heads == 1) {
    add_narrow_rows<V, kVectors, kVectors>(rows, weights, count, out);
  } else if (heads == kHeads) {
    add_narrow_rows<V, kVectors, kVectors / kHeads>(rows, weights, count, out);
  } else {
    return false;
  }
  return true;
}

/// Heads shorter than a vector, eight of them: each is read as a whole vector that begins at the
/// head, or ends with the row, and carries some columns of its neighbours along.
template <class T>
struct ShortHeads {
  static constexpr int kHeads = 8;
  int64_t d, at[kHeads];

  static bool fit(int64_t heads, int64_t d) {
    return heads == kHeads && d < kLanes<T> && heads * d >= kLanes<T>;
  }
  explicit ShortHeads(int64_t columns) : d(columns) {
    for (int h = 0; h < kHeads; ++h) {
      at[h] = h * d < kHeads * d - kLanes<T> ? h * d : kHeads * d - kLanes<T>;
    }
  }
  /// Where the columns of head h begin in its vector.
  int64_t first_lane(int h) const { return h * d - at[h]; }
};

template <class T>
inline void add_short_heads(const IndexedRows<T>& rows, const T* weights, int64_t count, T* out) {
  constexpr int kHeads = ShortHeads<T>::kHeads;
  const ShortHeads<T> heads(rows.width / kHeads);
  Vector<T> acc[kHeads] = {};
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 8, count);
    const T* from = row_of(rows, e);
    const T* w = weights + e * kHeads;
    for (int h = 0; h < kHeads; ++h) acc[h] += load(from + heads.at[h]) * w[h];
  }
  for (int h = 0; h < kHeads; ++h) {
    for (int64_t c = 0; c < heads.d; ++c) {
      out[h * heads.d + c] += acc[h][heads.first_lane(h) + c];
    }
  }
}

template <class T>
void weighted_sum(const IndexedRows<T>& rows, const T* weights, int64_t heads, int64_t count,
                  T* out) {
  if constexpr (kBytes == 64) {  // AVX-512 has 32 registers
    if (add_rows_of<Vector<T>, 32>(rows, weights, heads, count, out) ||
        add_rows_of<Vector<T>, 16>(rows, weights, heads, count, out)) {
      return;
    }
  }
  if (add_rows_of<Vector<T>, 8>(rows, weights, heads, count, out) ||
      add_rows_of<Vector<T>, 4>(rows, weights, heads, count, out) ||
      add_rows_of<Vector<T>, 2>(rows, weights, heads, count, out) ||
      add_rows_of<Narrow<T>, 8>(rows, weights, heads, count, out)) {
    return;
  }
  if (ShortHeads<T>::fit(heads, rows.width / heads)) {
    return add_short_heads(rows, weights, count, out);
  }
  constexpr int64_t kTogether = 8;  // rows that share one load and store of each sum
  constexpr int64_t kTileWidth = 8 * kLanes<T>;
  const int64_t d = rows.width / heads;
  for (int64_t first = 0; first < count; first += kTogether) {
    const int64_t together = count - first < kTogether ? count - first : kTogether;
    const T* row[kTogether];
    for (int64_t e = 0; e < together; ++e) {
      row[e] = row_of(rows, first + e);
      prefetch(rows, first + kTogether + e, count);
    }
    for (int64_t h = 0; h < heads; ++h) {
      const T* w = weights + first * heads + h;
      int64_t c = h * d;
      const int64_t end = c + d;
      for (; c + kTileWidth <= end; c += kTileWidth) {
        add_tile<8>(row, c, w, heads, together, out + c);
      }
      for (; c + kLanes<T> <= end; c += kLanes<T>) {
        add_tile<1>(row, c, w, heads, together, out + c);
      }
      for (; c < end; ++c) {
        for (int64_t e = 0; e < together; ++e) out[c] += row[e][c] * w[e * heads];
      }
    }
  }
}

/// Rows of kVectors vectors, the sum of one in registers. Rows are short, so what is done once per
/// row counts: no call, no clearing, and no look ahead unless it is needed.
template <int kVectors, bool kFar, class T>
inline void sum_in_registers(const SparseRows<T>& rows, const T* x, T* out) {
  constexpr int64_t kAhead = 8, kWidth = kVectors * kLanes<T>;
  const int64_t last = rows.count > 0 ? rows.ends[rows.count - 1] : 0;
  for (int64_t i = 0; i < rows.count; ++i, out += kWidth) {
    Vector<T> acc[kVectors] = {};
    const int64_t end = rows.ends[i];
    for (int64_t e = rows.begins[i]; e < end; ++e) {
      if (kFar && e + kAhead < last) {
        const T* next = x + rows.columns[e + kAhead] * kWidth;
        for (int v = 0; v < kVectors; ++v) __builtin_prefetch(next + v * kLanes<T>);
      }
      const T* from = x + rows.columns[e] * kWidth;
      for (int v = 0; v < kVectors; ++v) acc[v] += load(from + v * kLanes<T>) * rows.values[e];
    }
    for (int v = 0; v < kVectors; ++v) store(out + v * kLanes<T>, acc[v]);
  }
}

/// False: nothing was done, the rows have another width.
template <int kVectors, class T>
inline bool sum_rows_of(const SparseRows<T>& rows, const T* x, int64_t width, bool far, T* out) {
  if (width != kVectors * kLanes<T>) return false;
  if (far) {
    sum_in_registers<kVectors, true>(rows, x, out);
  } else {
    sum_in_registers<kVectors, false>(rows, x, out);
  }
  return true;
}

template <class T>
void sparse_rows(const SparseRows<T>& rows, const T* x, int64_t width, bool far, T* out) {
  if (sum_rows_of<2>(rows, x, width, far, out) || sum_rows_of<4>(rows, x, width, far, out) ||
      sum_rows_of<8>(rows, x, width, far, out)) {
    return;
  }
  for (int64_t i = 0; i < rows.count; ++i, out += width) {
    for (int64_t c = 0; c < width; ++c) out[c] = T{0};
    weighted_sum<T>({x, rows.columns + rows.begins[i], width}, rows.values + rows.begins[i], 1,
                    rows.ends[i] - rows.begins[i], out);
  }
}

/// The dot products of a row's heads with those of a fixed row x.
template <class T>
class HeadDots {
 public:
  HeadDots(const T* x, int64_t heads, int64_t d) : x_(x), heads_(heads), d_(d), short_(d) {
    if (heads == 8 && d == kLanes<T>) {
      form_ = Form::kVectors;
    } else if (kInOrder && heads == 8 && d == 2 * kLanes<T>) {
      form_ = Form::kTwoVectors;
    } else if (kInOrder && heads == 8 && d == 4 * kLanes<T>) {
      form_ = Form::kFourVectors;
    } else if (heads == 8 && d == kNarrowLanes<T>) {
      form_ = Form::kNarrow;
    } else if (ShortHeads<T>::fit(heads, d)) {
      form_ = Form::kShort;
      for (int h = 0; h < 8; ++h) {
        masked_[h] = Vector<T>{};
        for (int64_t c = 0; c < d; ++c) masked_[h][short_.first_lane(h) + c] = x[h * d + c];
      }
    }
  }
  /// out[h] = x[h, :] . row[h, :].
  void operator()(const T* row, T* out) const {
    switch (form_) {
      case Form::kVectors:
        return eight<Vector<T>>(
            out, [=, this](int h) { return load(x_ + h * d_) * load(row + h * d_); });
      case Form::kTwoVectors:
        return long_heads<2>(row, out);
      case Form::kFourVectors:
        return long_heads<4>(row, out);
      case Form::kNarrow:
        return eight<Narrow<T>>(out, [=, this](int h) {
          return get<Narrow<T>>(x_ + h * d_) * get<Narrow<T>>(row + h * d_);
        });
      case Form::kShort:
        return eight<Vector<T>>(out,
                                [=, this](int h) { return masked_[h] * load(row + short_.at[h]); });
      default:
        for (int64_t h = 0; h < heads_; ++h) out[h] = dot(x_ + h * d_, row + h * d_, d_);
    }
  }

 private:
  enum class Form { kAny, kVectors, kTwoVectors, kFourVectors, kNarrow, kShort };
  /// Whether sums_of_eight() adds the lanes of a vector in the order of sum(), as dot() does.
  static constexpr bool kInOrder = kBytes == 64;

  /// Heads of kVectors vectors, with the bits of dot().
  template <int kVectors>
  void long_heads(const T* row, T* out) const {
    eight<Vector<T>>(out, [=, this](int h) {
      const int64_t first = h * kVectors * kLanes<T>;
      Vector<T> sum[2] = {};
      unrolled<kVectors>([&](int v) {
        const int64_t c = first + v * kLanes<T>;
        sum[v % 2] += load(x_ + c) * load(row + c);
      });
      return sum[0] + sum[1];
    });
  }
  template <class V, class Product>
  static void eight(T* out, Product product) {
    V p[8];
    for (int h = 0; h < 8; ++h) p[h] = product(h);
    sums_of_eight<T>(p, out);
  }
  const T* x_;
  int64_t heads_, d_;
  Form form_ = Form::kAny;
  ShortHeads<T> short_;
  Vector<T> masked_[8];  // x, without the neighbours' columns
};

template <class T>
void dots(const T* x, const IndexedRows<T>& rows, int64_t heads, int64_t count, T* out) {
  const HeadDots<T> products(x, heads, rows.width / heads);
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 8, count);
    products(row_of(rows, e), out + e * heads);
  }
}

template <class T>
void head_dots(const T* x, const T* a, int64_t heads, int64_t d, int64_t rows, T* out) {
  const HeadDots<T> products(a, heads, d);
  for (int64_t i = 0; i < rows; ++i) products(x + i * heads * d, out + i * heads);
}

template <class T>
void head_dots_backward(const T* x, const T* a, const T* g, int64_t heads, int64_t d, int64_t rows,
                        bool accumulate, T* dx, T* da) {
  for (int64_t i = 0; i < rows; ++i, x += heads * d, dx += heads * d, g += heads) {
    for (int64_t h = 0; h < heads; ++h) {
      const T gradient = g[h];
      int64_t c = h * d;
      const int64_t end = c + d;
      for (; c + kLanes<T> <= end; c += kLanes<T>) {
        const Vector<T> own = load(a + c) * gradient;
        store(dx + c, accumulate ? load(dx + c) + own : own);
        store(da + c, load(da + c) + load(x + c) * gradient);
      }
      for (; c < end; ++c) {
        dx[c] = accumulate ? dx[c] + a[c] * gradient : a[c] * gradient;
        da[c] += x[c] * gradient;
      }
    }
  }
}

template <class T>
void gatv2_scores(const T* x, const IndexedRows<T>& rows, const T* a, T slope, int64_t heads,
                  int64_t count, T* out) {
  const int64_t d = rows.width / heads;
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 4, count);
    const T* row = row_of(rows, e);
    for (int64_t h = 0; h < heads; ++h) {
      const T *xh = x + h * d, *rh = row + h * d, *ah = a + h * d;
      out[e * heads + h] = reduce<T>(
          d,
          [=](int64_t c) {
            const Vector<T> u = load(xh + c) + load(rh + c);
            return load(ah + c) * select<T>(u < T{0}, u * slope, u);
          },
          [=](int64_t c) {
            const T u = xh[c] + rh[c];
            return ah[c] * (u < T{0} ? u * slope : u);
          });
    }
  }
}

template <class T>
void gatv2_backward(const T* x, const IndexedRows<T>& rows, const T* a, T slope, const T* ds,
                    int64_t heads, int64_t count, T* dx, T* da) {
  const int64_t d = rows.width / heads;
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 4, count);
    const T* row = row_of(rows, e);
    for (int64_t h = 0; h < heads; ++h) {
      const T* xh = x + h * d;
      const T* rh = row + h * d;
      const T* ah = a + h * d;
      T* dxh = dx + h * d;
      const T gradient = ds[e * heads + h];
      for (int64_t c = 0; c < d; ++c) {
        dxh[c] += gradient * ah[c] * (xh[c] + rh[c] < T{0} ? slope : T{1});
      }
      if (da == nullptr) continue;
      T* dah = da + h * d;
      for (int64_t c = 0; c < d; ++c) {
        const T u = xh[c] + rh[c];
        dah[c] += gradient * (u < T{0} ? u * slope : u);
      }
    }
  }
}

}  // namespace dgat::tensor::DGAT_LEVEL
