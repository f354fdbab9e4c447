// Kernels of the batch norm: statistics of columns, and norm, ReLU and dropout in one pass. See
// kernels.h for the contracts. Products are rounded before they are added, so that every level
// gives the same bits.
#pragma once

#include "kernels/elementwise.h"

namespace dgat::tensor::DGAT_LEVEL {

/// v itself, out of the compiler's reach: a product is not joined with a sum that uses it.
template <class V>
inline V rounded(V v) {
#if defined(__FMA__)
  __asm__("" : "+x"(v));
#endif
  return v;
}

/// body(V{}, c) for blocks of columns that start at c: whole vectors first, then one by one.
template <class T, class Body>
inline void for_columns(int64_t begin, int64_t end, Body body) {
  int64_t c = begin;
  for (; c + kLanes<T> <= end; c += kLanes<T>) body(Vector<T>{}, c);
  for (; c < end; ++c) body(T{}, c);
}

template <class T>
void add_rows(const T* a, const T* b, T* out, T* sums, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, a += cols, b += cols, out += cols) {
    for_columns<T>(0, cols, [=](auto zero, int64_t c) {
      using V = decltype(zero);
      const V y = get<V>(a + c) + get<V>(b + c);
      put(out + c, y);
      put(sums + c, get<V>(sums + c) + y);
    });
  }
}

template <class T>
void add_squares(const T* x, const T* mean, T* sums, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols) {
    for_columns<T>(0, cols, [=](auto zero, int64_t c) {
      using V = decltype(zero);
      const V d = get<V>(x + c) - get<V>(mean + c);
      put(sums + c, get<V>(sums + c) + rounded(d * d));
    });
  }
}

/// ReLU of the normalised columns [begin, end).
template <class T>
inline void norm_relu(const T* x, const ColumnNorm<T>& norm, T* y, int64_t begin, int64_t end) {
  for_columns<T>(begin, end, [=](auto zero, int64_t c) {
    using V = decltype(zero);
    const V normal = (get<V>(x + c) - get<V>(norm.mean + c)) * get<V>(norm.scale + c);
    const V v = rounded(normal * get<V>(norm.weight + c)) + get<V>(norm.bias + c);
    put(y + c, v < zero ? zero : v);
  });
}

template <class T>
void norm_relu_dropout(const DropoutMask& mask, int64_t position, const T* x,
                       const ColumnNorm<T>& norm, T* y, int64_t n, int64_t cols) {
  for (int64_t first = 0; first < n; first += kTile) {
    const int64_t end = n - first < kTile ? n : first + kTile;
    for (int64_t i = first; i < end;) {  // to the end of a row at a time
      const int64_t column = (position + i) % cols;
      const int64_t count = end - i < cols - column ? end - i : cols - column;
      norm_relu(x + i - column, norm, y + i - column, column, column + count);
      i += count;
    }
    if (mask.threshold > 0) dropout(mask, position + first, y + first, y + first, end - first);
  }
}

template <class T>
void relu_dropout(const DropoutMask& mask, int64_t position, const T* x, T* y, int64_t n) {
  dropout_of([](T v) { return v < T{0} ? T{0} : v; }, mask, position, x, y, n);
}

template <class T>
void norm_relu_backward_sums(const T* y, const T* x, const ColumnNorm<T>& norm, T factor, T* g,
                             T* dweight, T* dbias, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, y += cols, x += cols, g += cols) {
    for_columns<T>(0, cols, [=](auto zero, int64_t c) {
      using V = decltype(zero);
      const V passed = get<V>(y + c) > zero ? get<V>(g + c) * factor : zero;
      const V normal = (get<V>(x + c) - get<V>(norm.mean + c)) * get<V>(norm.scale + c);
      put(g + c, passed);
      put(dbias + c, get<V>(dbias + c) + passed);
      put(dweight + c, get<V>(dweight + c) + rounded(passed * normal));
    });
  }
}

template <class T>
void norm_backward(const T* x, const ColumnNorm<T>& norm, const T* dweight, const T* dbias, T count,
                   T* g, int64_t rows, int64_t cols) {
  for (int64_t i = 0; i < rows; ++i, x += cols, g += cols) {
    for_columns<T>(0, cols, [=](auto zero, int64_t c) {
      using V = decltype(zero);
      const V scale = get<V>(norm.scale + c);
      const V normal = (get<V>(x + c) - get<V>(norm.mean + c)) * scale;
      const V common = (get<V>(dbias + c) + rounded(normal * get<V>(dweight + c))) / count;
      put(g + c, get<V>(norm.weight + c) * scale * (get<V>(g + c) - common));
    });
  }
}

}  // namespace dgat::tensor::DGAT_LEVEL
