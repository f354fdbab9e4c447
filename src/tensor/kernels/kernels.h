#pragma once

#include <cstdint>

#include "dgat/tensor/activation.h"

/// Arithmetic of the hot operations on plain arrays: serial, one table per instruction set. The
/// callers cut the work into blocks and own all memory. This header and those it includes hold no
/// inline functions: they are compiled for processors that this one may not be.
namespace dgat::tensor {

/// Which entries a dropout keeps: 16 random bits per position decide.
struct DropoutMask {
  uint64_t seed = 0, stream = 0;
  uint32_t threshold = 0;  ///< dropped when bits < threshold
  double scale = 1;        ///< 65536 / (65536 - threshold)
};

/// The numbers of one Adam step; see adam.h.
struct AdamStep {
  double lr, beta1, beta2, epsilon, correction1, correction2, l2, shrink, gradient_scale;
};

/// Rows of a matrix taken by index: row e is data + index[e] * width.
template <class T>
struct IndexedRows {
  const T* data;
  const int32_t* index;
  int64_t width;  ///< heads * (columns per head)
};

/// Consecutive rows of a sparse matrix: row i has the entries [begins[i], ends[i]).
template <class T>
struct SparseRows {
  const int64_t *begins, *ends;
  int64_t count;
  const int32_t* columns;
  const T* values;
};

/// score(e, h) = receiver[h] + senders_e[h] + bias[h] + sum_c coefficients[c, h] features[e, c];
/// the senders' rows are `heads` wide.
template <class T>
struct AdditiveScores {
  const T* receiver;
  IndexedRows<T> senders;
  int64_t k;  ///< features per arc; 0: neither bias nor features count
  const T *features, *coefficients;
  const T* bias;  ///< or null
  T slope;        ///< of the LeakyReLU where the score is negative
};

/// c (+)= a b, or bias in every row + a b: a [rows, inner] read as a[i * a_row + l * a_column], b
/// [inner, cols] and c [rows, cols] by rows.
template <class T>
struct SmallProduct {
  const T* a;
  int64_t a_row, a_column;
  const T* b;
  int64_t b_stride;
  T* c;
  int64_t c_stride;
  const T* bias;  ///< cols numbers or null; not together with `accumulate`
  int64_t rows, cols, inner;
  bool accumulate;
};

/// Numbers of a matrix that become a tile of bf16 numbers (tile_unit.h).
template <class T>
struct TileSource {
  const T* from;
  int64_t stride;
  int64_t outer, inner;  ///< how many there are, at most 16 and 32; the rest of the tile is 0
  bool inner_in_rows;    ///< the inner dimension runs along the rows of the matrix
  bool left;             ///< a tile of the left operand
};

/// Of a batch norm, one number per column: y = (x - mean) * scale * weight + bias.
template <class T>
struct ColumnNorm {
  const T *mean, *scale, *weight, *bias;
};

template <class T>
struct Kernels {
  void (*activate)(Activation activation, T slope, const T* x, T* y, int64_t n);
  /// g *= activation'(x).
  void (*activate_backward)(Activation activation, T slope, const T* x, T* g, int64_t n);

  // Dropout kernels: `position` of the first entry is a multiple of 64.
  void (*dropout)(const DropoutMask& mask, int64_t position, const T* x, T* y, int64_t n);
  void (*add_dropout)(const DropoutMask& mask, int64_t position, const T* x, const T* y, T* out,
                      int64_t n);
  /// y = GELU(dropout(x)) and slope = dy/dx: the bits and the exponential serve both.
  void (*dropout_gelu)(const DropoutMask& mask, int64_t position, const T* x, T* y, T* slope,
                       int64_t n);
  /// y = dropout(ReLU(x)).
  void (*relu_dropout)(const DropoutMask& mask, int64_t position, const T* x, T* y, int64_t n);
  /// y = dropout(ReLU(norm(x))) for n entries of a matrix with `cols` columns that follow the
  /// first `position` ones. A threshold of 0: no dropout.
  void (*norm_relu_dropout)(const DropoutMask& mask, int64_t position, const T* x,
                            const ColumnNorm<T>& norm, T* y, int64_t n, int64_t cols);
  /// x[i] = -x[i] where the mask drops position + i (any position).
  void (*negate_dropped)(const DropoutMask& mask, int64_t position, T* x, int64_t n);

  /// stats: mean and 1 / sqrt(variance + epsilon) of every row.
  void (*layer_norm)(const T* x, const T* weight, const T* bias, T epsilon, T* out, T* stats,
                     int64_t rows, int64_t cols);
  /// dx (+)= gradient of x; dweight and dbias are added to (cols entries each).
  void (*layer_norm_backward)(const T* x, const T* weight, const T* stats, const T* g, T* dx,
                              bool accumulate, T* dweight, T* dbias, int64_t rows, int64_t cols);

  /// out = a + b, and sums[c] += the sum of out's column c.
  void (*add_rows)(const T* a, const T* b, T* out, T* sums, int64_t rows, int64_t cols);
  /// sums[c] += the sum of (x - mean)^2 in column c.
  void (*add_squares)(const T* x, const T* mean, T* sums, int64_t rows, int64_t cols);
  /// The way back through norm_relu_dropout, y its result: g = g * factor where y > 0, else 0; then
  /// dbias[c] += the sum of g in column c, dweight[c] that of g * (x - mean) * scale.
  void (*norm_relu_backward_sums)(const T* y, const T* x, const ColumnNorm<T>& norm, T factor, T* g,
                                  T* dweight, T* dbias, int64_t rows, int64_t cols);
  /// g = weight * scale * (g - (dbias + (x - mean) * scale * dweight) / count).
  void (*norm_backward)(const T* x, const ColumnNorm<T>& norm, const T* dweight, const T* dbias,
                        T count, T* g, int64_t rows, int64_t cols);

  bool (*all_finite)(const T* x, int64_t n);
  /// y[i] = exp(x[i]).
  void (*exponential)(const T* x, T* y, int64_t n);
  /// One Adam step; see adam.h. `l2` joins the gradient, `shrink` multiplies the value.
  void (*adam)(T* value, const T* gradient, T* first, T* second, int64_t n, const AdamStep& step);

  /// Per head: max = the largest score, scores = exp(scores - max), sum = their sum; count > 0.
  void (*softmax_parts)(T* scores, int64_t heads, int64_t count, T* max, T* sum);
  /// x[e, h] *= factor[h].
  void (*scale_heads)(T* x, const T* factor, int64_t heads, int64_t count);
  /// g[e, h] = |alpha| * ((alpha < 0 ? 0 : g * scale) - mean[h]): through dropout and softmax.
  void (*softmax_backward)(const T* alpha, const T* mean, T scale, int64_t heads, int64_t count,
                           T* g);
  /// out[e, h] += bias[h] + sum_c features[e, c] coefficients[c, h]; bias may be null.
  void (*add_edge_terms)(const T* features, int64_t k, const T* coefficients, const T* bias,
                         int64_t heads, int64_t count, T* out);
  /// out[e, h] = LeakyReLU(score) for `count` arcs of a receiver.
  void (*additive_scores)(const AdditiveScores<T>& scores, int64_t count, T* out);
  /// g[e, h] *= LeakyReLU'(score), and sum[h] += sum_e g[e, h] after that.
  void (*additive_scores_backward)(const AdditiveScores<T>& scores, int64_t count, T* g, T* sum);
  /// out[h, c] += sum_e weights[e, h] * rows_e[h, c].
  void (*weighted_sum)(const IndexedRows<T>& rows, const T* weights, int64_t heads, int64_t count,
                       T* out);
  /// out[i, :] = the sum over the entries of row i of value * x[column, :], added one after
  /// another; x and out are `width` wide. `far`: x is too large for the cache, and rows are asked
  /// for ahead.
  void (*sparse_rows)(const SparseRows<T>& rows, const T* x, int64_t width, bool far, T* out);
  /// out[e, h] = x[h, :] . rows_e[h, :].
  void (*dots)(const T* x, const IndexedRows<T>& rows, int64_t heads, int64_t count, T* out);
  /// out[i, h] = x[i, h, :] . a[h, :] for rows of heads * d numbers.
  void (*head_dots)(const T* x, const T* a, int64_t heads, int64_t d, int64_t rows, T* out);
  /// dx[i, h, :] (+)= g[i, h] a[h, :] and da[h, :] += sum_i g[i, h] x[i, h, :].
  void (*head_dots_backward)(const T* x, const T* a, const T* g, int64_t heads, int64_t d,
                             int64_t rows, bool accumulate, T* dx, T* da);
  /// For operands that fit into the first-level cache or nearly so.
  void (*small_product)(const SmallProduct<T>& product);
  /// to[j * rows + i] = from[i * stride + j] for i < rows, j < cols.
  void (*turn)(const T* from, int64_t stride, int64_t rows, int64_t cols, T* to);
  /// Rounds to nearest, ties to even.
  void (*pack_tile)(const TileSource<T>& source, uint16_t* tile);
  /// sums [16, 16] += left right, as Intel's manual defines TDPBF16PS: the first and the second
  /// numbers of the pairs are summed apart, in order, by fused multiply-adds; then both sums are
  /// added, and the result to what was there. Each operation rounds to nearest even, and numbers
  /// too small for a full mantissa count as zero.
  void (*multiply_tile)(const uint16_t* left, const uint16_t* right, float* sums);
  /// out[e, h] = a[h, :] . LeakyReLU(x + rows_e)[h, :].
  void (*gatv2_scores)(const T* x, const IndexedRows<T>& rows, const T* a, T slope, int64_t heads,
                       int64_t count, T* out);
  /// For every e: dx[h, c] += ds[e, h] a[h, c] LeakyReLU'(x + rows_e)[h, c], and when da is not
  /// null da[h, c] += ds[e, h] LeakyReLU(x + rows_e)[h, c].
  void (*gatv2_backward)(const T* x, const IndexedRows<T>& rows, const T* a, T slope, const T* ds,
                         int64_t heads, int64_t count, T* dx, T* da);
};

/// The table of the level in use.
template <class T>
const Kernels<T>& kernels();

namespace baseline {
template <class T>
const Kernels<T>& table();
}
namespace avx2 {
template <class T>
const Kernels<T>& table();
}
namespace avx512 {
template <class T>
const Kernels<T>& table();
}

}  // namespace dgat::tensor
