// Kernels that gather rows by index, for attention and sparse products. See kernels.h for the
// contracts.
#pragma once

#include <utility>

#include "kernels/rows.h"

namespace dgat::tensor::DGAT_LEVEL {

/// body(0), ..., body(kCount - 1) without a loop, so that arrays of vectors are registers.
template <int kCount, class Body>
inline void unrolled(Body body) {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (body(i), ...);
  }
  (std::make_integer_sequence<int, kCount>{});
}

/// Rows are scattered over memory: the next ones are asked for while these are used, or `columns`
/// of them from `begin` on. Short rows, those of small networks, are in the cache. Always inlined,
/// because GCC leaves out calls of functions that do nothing else.
template <class T>
[[gnu::always_inline]] inline void prefetch(const IndexedRows<T>& rows, int64_t e, int64_t count,
                                            int64_t begin, int64_t columns) {
  constexpr int64_t kShort = 1024, kLine = 64;
  const int64_t bytes = columns * static_cast<int64_t>(sizeof(T));
  if (bytes < kShort || e >= count) return;
  const char* from = reinterpret_cast<const char*>(rows.data + rows.index[e] * rows.width + begin);
  for (int64_t b = 0; b < bytes; b += kLine) __builtin_prefetch(from + b);
}
template <class T>
[[gnu::always_inline]] inline void prefetch(const IndexedRows<T>& rows, int64_t e, int64_t count) {
  prefetch(rows, e, count, 0, rows.width);
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

/// The same for kVectors vectors of columns from `begin` on, kPerHead of them under one weight: the
/// sums stay in registers over all rows. `weights` are those of the first columns, `heads` of a
/// row.
template <class V, int kVectors, int kPerHead, class T>
void add_columns(const IndexedRows<T>& rows, int64_t begin, const T* weights, int64_t heads,
                 int64_t count, T* out) {
  constexpr int kWidth = kLanesOf<V, T>;
  V acc[kVectors];
  unrolled<kVectors>([&](int v) { acc[v] = get<V>(out + begin + v * kWidth); });
  for (int64_t e = 0; e < count; ++e) {
    prefetch(rows, e + 8, count, begin, kVectors * kWidth);
    const T* from = row_of(rows, e) + begin;
    const T* w = weights + e * heads;
    unrolled<kVectors>([&](int v) { acc[v] += get<V>(from + v * kWidth) * w[v / kPerHead]; });
  }
  unrolled<kVectors>([&](int v) { put(out + begin + v * kWidth, acc[v]); });
}

/// Rows of kVectors vectors, if heads cut them between vectors. False: nothing was done.
template <class V, int kVectors, class T>
inline bool add_rows_of(const IndexedRows<T>& rows, const T* weights, int64_t heads, int64_t count,
                        T* out) {
  if (rows.width != kVectors * kLanesOf<V, T>) return false;
  if (heads == 1) {
    add_columns<V, kVectors, kVectors>(rows, 0, weights, 1, count, out);
  } else if (heads == kVectors) {
    add_columns<V, kVectors, 1>(rows, 0, weights, kVectors, count, out);
  } else {
    return false;
  }
  return true;
}

/// Wide rows by stripes of 16 vectors, for AVX-512 with its 32 registers. False: nothing was done.
template <class T>
inline bool add_stripes(const IndexedRows<T>& rows, const T* weights, int64_t heads, int64_t count,
                        T* out) {
  using V = Vector<T>;
  constexpr int64_t kStripe = 16 * kLanes<T>;
  const int64_t d = rows.width / heads;
  const auto add = d == 2 * kLanes<T>   ? add_columns<V, 16, 2, T>
                   : d == 4 * kLanes<T> ? add_columns<V, 16, 4, T>
                   : d == 8 * kLanes<T> ? add_columns<V, 16, 8, T>
                   : d % kStripe == 0   ? add_columns<V, 16, 16, T>
                                        : nullptr;
  if (add == nullptr || rows.width % kStripe != 0) return false;
  for (int64_t c = 0; c < rows.width; c += kStripe) {
    add(rows, c, weights + c / d, heads, count, out);
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
  if constexpr (kBytes == 64) {
    if (add_stripes(rows, weights, heads, count, out)) return;
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
    prefetch(rows, e + 8, count);
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
    prefetch(rows, e + 8, count);
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
