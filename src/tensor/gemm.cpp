#include "dgat/tensor/gemm.h"

#include <algorithm>
#include <type_traits>

#include "bf16_product.h"
#include "blas_functions.h"
#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/blas.h"
#include "dgat/tensor/split.h"
#include "kernels/kernels.h"
#include "operand.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

CBLAS_TRANSPOSE flag(bool turned) {
  return turned ? CblasTrans : CblasNoTrans;
}

/// c = a b + beta c in row-major layout, on this thread.
void gemm(const Operand<float>& a, const Operand<float>& b, int64_t m, int64_t n, int64_t k,
          float beta, float* c, int64_t ldc) {
  check_room_for_blas();
  blas().sgemm(CblasRowMajor, flag(a.turned), flag(b.turned), m, n, k, 1, a.data, a.stride, b.data,
               b.stride, beta, c, ldc);
}
void gemm(const Operand<double>& a, const Operand<double>& b, int64_t m, int64_t n, int64_t k,
          double beta, double* c, int64_t ldc) {
  check_room_for_blas();
  blas().dgemm(CblasRowMajor, flag(a.turned), flag(b.turned), m, n, k, 1, a.data, a.stride, b.data,
               b.stride, beta, c, ldc);
}

constexpr int64_t kColumnGrain = 1 << 15;
constexpr int64_t kMaxTasks = 16;

/// How a product m x n x k is cut: R x S blocks of the output, P pieces of the inner dimension
/// whose results are added in order. A function of the shape only.
struct Cut {
  int64_t rows = 1, cols = 1, parts = 1;
};

/// Tasks a product of this many multiply-adds is worth: the first at 6 microseconds each, later
/// ones at several milliseconds, because every task packs its operands again.
int64_t worthwhile_tasks(double work) {
  if (work < 0x1p19) return 1;
  if (work < 0x1p22) return 2;
  if (work < 0x1p28) return 4;
  return work < 0x1p31 ? kMaxTasks / 2 : kMaxTasks;
}

/// The cheapest way to make that many tasks: what is packed more than once, plus the extra
/// outputs that have to be written and added (measured: about twice as dear per number).
Cut choose_cut(int64_t m, int64_t n, int64_t k) {
  const double dm = static_cast<double>(m), dn = static_cast<double>(n),
               dk = static_cast<double>(k);
  constexpr int64_t kSmallest = 48;  // shorter sides make the inner kernel slow
  Cut best;
  for (int64_t tasks = worthwhile_tasks(dm * dn * dk); tasks > 1; tasks /= 2) {
    double best_cost = -1;
    for (int64_t parts = 1; parts <= tasks; parts *= 2) {
      for (int64_t cols = 1; cols * parts <= tasks; cols *= 2) {
        const int64_t rows = tasks / (parts * cols);
        if ((rows > 1 && m / rows < kSmallest) || (cols > 1 && n / cols < kSmallest) ||
            (parts > 1 && k / parts < kSmallest)) {
          continue;
        }
        const double packed =
            dk * (dm * static_cast<double>(cols) + dn * static_cast<double>(rows));
        const double added = parts > 1 ? 2 * dm * dn * static_cast<double>(parts) : 0;
        if (best_cost < 0 || packed + added < best_cost) {
          best_cost = packed + added;
          best = {rows, cols, parts};
        }
      }
    }
    if (best_cost >= 0) return best;
  }
  return best;
}

/// Length of a piece when `length` is cut into `pieces`, rounded up for the inner kernel.
int64_t piece_length(int64_t length, int64_t pieces) {
  return pieces == 1 ? length : ((length + pieces - 1) / pieces + 15) / 16 * 16;
}

/// out (+)= sum of `parts` matrices stored one after another, in order.
template <class T>
void sum_parts(const T* parts, int64_t count, int64_t size, T* out, bool accumulate) {
  parallel_for(size, kColumnGrain, [&](int64_t begin, int64_t end) {
    int64_t first = 0;
    if (!accumulate) {
      std::copy(parts + begin, parts + end, out + begin);
      first = 1;
    }
    for (int64_t p = first; p < count; ++p) {
      const T* part = parts + p * size;
      for (int64_t i = begin; i < end; ++i) out[i] += part[i];
    }
  });
}

/// Products that a library would spend much of its time copying: at most so many multiply-adds,
/// with a right side of so many numbers.
constexpr int64_t kSmallWork = int64_t{1} << 21, kSmallRight = int64_t{1} << 14;

bool is_small(int64_t m, int64_t n, int64_t k) {
  return k * n <= kSmallRight && m * n * k <= kSmallWork;
}

/// Whether the operands of a product of this shape are rounded.
template <class T>
bool rounds(Precision precision, int64_t m, int64_t n, int64_t k) {
  return std::is_same_v<T, float> && precision == Precision::kBf16 && !is_small(m, n, k) &&
         fits_tiles(m, n, k);
}

/// One piece of a product.
template <class T>
void piece(const Operand<T>& a, const Operand<T>& b, int64_t m, int64_t n, int64_t k,
           bool accumulate, T* c, int64_t ldc, bool rounded) {
  if constexpr (std::is_same_v<T, float>) {
    if (rounded) return bf16_gemm(a, b, m, n, k, accumulate, c, ldc);
  }
  gemm(a, b, m, n, k, accumulate ? T{1} : T{0}, c, ldc);
}

/// Rows of the output that are one task of a small product of this shape.
int64_t small_piece(int64_t m, int64_t n, int64_t k) {
  const int64_t tasks = worthwhile_tasks(static_cast<double>(m * n * k));
  return ((m + tasks - 1) / tasks + 11) / 12 * 12;  // whole tiles of the kernel
}

/// product() for small operands. The right side is made to stand by rows; rows of the output are
/// the tasks, so that no sum is cut.
template <class T>
void product_in_place(const Operand<T>& a, const Operand<T>& b, int64_t k, Matrix<T>& out,
                      bool accumulate, const T* bias, int64_t all_rows) {
  const int64_t m = out.rows(), n = out.cols();
  Matrix<T> turned_right;
  if (b.turned) {
    turned_right = Matrix<T>(k, n);
    kernels<T>().turn(b.data, b.stride, n, k, turned_right.data());
  }
  const bool plain_left = !a.turned;
  parallel_for(m, small_piece(all_rows, n, k), [&](int64_t begin, int64_t end) {
    kernels<T>().small_product({.a = a.at(begin, 0),
                                .a_row = plain_left ? a.stride : 1,
                                .a_column = plain_left ? 1 : a.stride,
                                .b = turned_right.empty() ? b.data : turned_right.data(),
                                .b_stride = turned_right.empty() ? b.stride : n,
                                .c = out.row(begin),
                                .c_stride = n,
                                .bias = bias,
                                .rows = end - begin,
                                .cols = n,
                                .inner = k,
                                .accumulate = accumulate});
  });
}

/// out (+)= a b (+ bias in every row), with k the inner dimension. The rows of `a` and `out` are
/// whole pieces of a product with `all_rows` rows.
template <class T>
void product(const Operand<T>& a, const Operand<T>& b, int64_t k, Matrix<T>& out, bool accumulate,
             const T* bias, int64_t all_rows, Precision precision) {
  const int64_t m = out.rows(), n = out.cols();
  if (out.empty()) return;
  const bool rounded = rounds<T>(precision, all_rows, n, k);
  if constexpr (std::is_same_v<T, float>) {
    if (rounded && !a.turned) return bf16_product(a, b, k, out, accumulate, bias);
  }
  if (is_small(all_rows, n, k)) {
    return product_in_place(a, b, k, out, accumulate, bias, all_rows);
  }
  prepare_blas();
  const Cut cut = choose_cut(all_rows, n, k);
  const int64_t row_length = piece_length(all_rows, cut.rows),
                col_length = piece_length(n, cut.cols), part_length = piece_length(k, cut.parts),
                row_pieces = block_count(m, row_length);
  Matrix<T> partial;
  if (cut.parts > 1) partial = Matrix<T>(cut.parts, m * n);
  parallel_for(row_pieces * cut.cols * cut.parts, 1, [&](int64_t task, int64_t) {
    const int64_t part = task / (row_pieces * cut.cols), block = task % (row_pieces * cut.cols);
    const int64_t i = std::min(m, block / cut.cols * row_length);
    const int64_t j = std::min(n, block % cut.cols * col_length);
    const int64_t l = std::min(k, part * part_length);
    const int64_t rows = std::min(row_length, m - i), cols = std::min(col_length, n - j);
    const int64_t inner = std::min(part_length, k - l);
    if (rows == 0 || cols == 0) return;
    T* c = (cut.parts > 1 ? partial.row(part) : out.data()) + i * n + j;
    const bool first = part == 0 && bias != nullptr;
    if (first) {
      for (int64_t r = 0; r < rows; ++r) std::copy(bias + j, bias + j + cols, c + r * n);
    }
    piece(a.from(i, l), b.from(l, j), rows, cols, inner, first || (accumulate && cut.parts == 1), c,
          n, rounded);
  });
  if (cut.parts > 1) sum_parts(partial.data(), cut.parts, m * n, out.data(), accumulate);
}

/// product() of a matrix whose rows may be split, with those of the output.
template <class T>
void product_of_rows(const Matrix<T>& a, const Operand<T>& b, Matrix<T>& out, const T* bias,
                     const ProductOptions& options) {
  const dist::RowShare& share = options.share;
  const bool accumulate = options.accumulate;
  const int64_t n = out.cols(), k = a.cols(), m = share ? share.all() : out.rows();
  if (m == 0 || n == 0) return;
  if (!share || rounds<T>(options.precision, m, n, k)) {  // which sums every row alone
    return product<T>(plain(a), b, k, out, accumulate, bias, m, options.precision);
  }
  const BlockRows pieces(
      share, is_small(m, n, k) ? small_piece(m, n, k) : piece_length(m, choose_cut(m, n, k).rows));
  Matrix<T> room;
  const Matrix<T>& rows = pieces.in(a, room);
  Matrix<T> result = accumulate ? pieces.in(std::move(out)) : Matrix<T>(pieces.rows(), n);
  product<T>(plain(rows), b, k, result, accumulate, bias, m, options.precision);
  out = pieces.back(std::move(result));
}

/// out (+)= a^T b, the sum over rows that are split over ranks: pieces of the inner dimension are
/// computed where they are and added in order.
template <class T>
void sum_over_ranks(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                    const ProductOptions& options) {
  const dist::RowShare& share = options.share;
  const bool accumulate = options.accumulate;
  const int64_t m = out.rows(), n = out.cols(), k = share.all();
  if (out.empty()) return;
  const int64_t parts = is_small(m, n, k) ? 1 : choose_cut(m, n, k).parts;
  const int64_t length = parts == 1 ? std::max<int64_t>(k, 1) : piece_length(k, parts);
  const BlockRows pieces(share, length);
  Matrix<T> a_room, b_room;
  const Matrix<T>&left = pieces.in(a, a_room), &right = pieces.in(b, b_room);
  if (parts == 1) {  // one rank has all rows
    if (left.rows() > 0) {
      product<T>(turned(left), plain(right), k, out, accumulate, nullptr, m, options.precision);
    }
    dist::RowSplit owner = pieces.blocks();
    const Matrix<T> own = left.rows() > 0 ? out.clone() : Matrix<T>(0, n);
    for (int64_t& offset : owner.offsets) offset *= m;
    out = all_rows(*share.ranks, owner, own);
    return;
  }
  prepare_blas();
  const Cut cut = choose_cut(m, n, k);
  const bool rounded = rounds<T>(options.precision, m, n, k);
  const int64_t row_length = piece_length(m, cut.rows), col_length = piece_length(n, cut.cols);
  Matrix<T> partial(pieces.own_blocks(), m * n);
  parallel_for(partial.rows() * cut.rows * cut.cols, 1, [&](int64_t task, int64_t) {
    const int64_t part = task / (cut.rows * cut.cols), block = task % (cut.rows * cut.cols);
    const int64_t i = std::min(m, block / cut.cols * row_length);
    const int64_t j = std::min(n, block % cut.cols * col_length);
    const int64_t rows = std::min(row_length, m - i), cols = std::min(col_length, n - j);
    const int64_t l = part * length, inner = std::min(length, left.rows() - l);
    if (rows == 0 || cols == 0) return;
    piece(turned(left).from(i, l), plain(right).from(l, j), rows, cols, inner, false,
          partial.row(part) + i * n + j, n, rounded);
  });
  add_rows_in_order(*share.ranks, pieces.blocks(), partial, parts > pieces.blocks().rows(),
                    accumulate, out);
}

}  // namespace

template <class T>
void multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                   const ProductOptions& options) {
  expects(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols(),
          "multiply_into: shapes fit");
  product_of_rows<T>(a, plain(b), out, nullptr, options);
}

template <class T>
void multiply_transposed_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              const ProductOptions& options, const Matrix<T>* bias) {
  expects(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows(),
          "multiply_transposed_into: shapes fit");
  expects(bias == nullptr || (!options.accumulate && bias->size() == out.cols()),
          "multiply_transposed_into: one bias per column");
  product_of_rows<T>(a, turned(b), out, bias != nullptr ? bias->data() : nullptr, options);
}

template <class T>
void transposed_multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              const ProductOptions& options) {
  expects(a.rows() == b.rows() && out.rows() == a.cols() && out.cols() == b.cols(),
          "transposed_multiply_into: shapes fit");
  if (options.share) return sum_over_ranks(a, b, out, options);
  product<T>(turned(a), plain(b), a.rows(), out, options.accumulate, nullptr, out.rows(),
             options.precision);
}

template <class T>
void column_sums_into(const Matrix<T>& a, Matrix<T>& out, bool accumulate,
                      const dist::RowShare& share) {
  const int64_t cols = a.cols(), rows = share ? share.all() : a.rows();
  expects(out.rows() == 1 && out.cols() == cols, "column_sums_into: shapes fit");
  const int64_t grain = row_grain(rows, cols);
  const auto sums_of_blocks = [&](const Matrix<T>& own, int64_t blocks) {
    Matrix<T> partial = Matrix<T>::zeros(blocks, cols);
    parallel_blocks(own.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
      T* sum = partial.row(block);
      for (int64_t i = begin; i < end; ++i) {
        const T* row = own.row(i);
        for (int64_t j = 0; j < cols; ++j) sum[j] += row[j];
      }
    });
    return partial;
  };
  Matrix<T> partial;
  if (share && rows > 0) {
    const BlockRows blocks(share, grain);
    Matrix<T> room;
    partial = all_rows(*share.ranks, blocks.blocks(),
                       sums_of_blocks(blocks.in(a, room), blocks.own_blocks()));
  } else {
    partial = sums_of_blocks(a, std::max<int64_t>(1, block_count(rows, grain)));
  }
  sum_parts(partial.data(), partial.rows(), cols, out.data(), accumulate);
}

#define DGAT_INSTANTIATE(T)                                                              \
  template void multiply_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&,            \
                              const ProductOptions&);                                    \
  template void multiply_transposed_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&, \
                                         const ProductOptions&, const Matrix<T>*);       \
  template void transposed_multiply_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&, \
                                         const ProductOptions&);                         \
  template void column_sums_into(const Matrix<T>&, Matrix<T>&, bool, const dist::RowShare&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
