#include "dgat/tensor/gemm.h"

#include <cblas.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/blas.h"
#include "kernels/kernels.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

/// One product in row-major layout, on this thread.
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k, const float* a,
          int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc) {
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
}
void gemm(CBLAS_TRANSPOSE ta, CBLAS_TRANSPOSE tb, int64_t m, int64_t n, int64_t k, const double* a,
          int64_t lda, const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, beta, c, ldc);
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

template <class T>
struct Operand {
  const T* data;
  int64_t stride;  ///< numbers from one stored row to the next
  CBLAS_TRANSPOSE transposed;
  /// Address of the element (i, j) of the operand as it is used.
  const T* at(int64_t i, int64_t j) const {
    return transposed == CblasNoTrans ? data + i * stride + j : data + j * stride + i;
  }
};
template <class T>
Operand<T> plain(const Matrix<T>& a) {
  return {a.data(), std::max<int64_t>(1, a.cols()), CblasNoTrans};
}
template <class T>
Operand<T> turned(const Matrix<T>& a) {
  return {a.data(), std::max<int64_t>(1, a.cols()), CblasTrans};
}

/// Products that a library would spend much of its time copying: at most so many multiply-adds,
/// with a right side of so many numbers.
constexpr int64_t kSmallWork = int64_t{1} << 21, kSmallRight = int64_t{1} << 14;

bool is_small(int64_t m, int64_t n, int64_t k) {
  return k * n <= kSmallRight && m * n * k <= kSmallWork;
}

/// product() for small operands. The right side is made to stand by rows; rows of the output are
/// the tasks, so that no sum is cut.
template <class T>
void product_in_place(const Operand<T>& a, const Operand<T>& b, int64_t k, Matrix<T>& out,
                      bool accumulate, const T* bias) {
  const int64_t m = out.rows(), n = out.cols();
  Matrix<T> turned_right;
  if (b.transposed == CblasTrans) {
    turned_right = Matrix<T>(k, n);
    kernels<T>().turn(b.data, b.stride, n, k, turned_right.data());
  }
  const bool plain_left = a.transposed == CblasNoTrans;
  const int64_t tasks = worthwhile_tasks(static_cast<double>(m * n * k));
  const int64_t grain = ((m + tasks - 1) / tasks + 11) / 12 * 12;  // whole tiles of the kernel
  parallel_for(m, grain, [&](int64_t begin, int64_t end) {
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

/// out (+)= a b (+ bias in every row), with k the inner dimension.
template <class T>
void product(const Operand<T>& a, const Operand<T>& b, int64_t k, Matrix<T>& out, bool accumulate,
             const T* bias) {
  prepare_blas();
  const int64_t m = out.rows(), n = out.cols();
  if (out.empty()) return;
  if (is_small(m, n, k)) return product_in_place(a, b, k, out, accumulate, bias);
  const Cut cut = choose_cut(m, n, k);
  const int64_t row_length = piece_length(m, cut.rows), col_length = piece_length(n, cut.cols),
                part_length = piece_length(k, cut.parts);
  Matrix<T> partial;
  if (cut.parts > 1) partial = Matrix<T>(cut.parts, m * n);
  parallel_for(cut.rows * cut.cols * cut.parts, 1, [&](int64_t task, int64_t) {
    const int64_t part = task / (cut.rows * cut.cols), block = task % (cut.rows * cut.cols);
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
    const T beta = first || (accumulate && cut.parts == 1) ? T{1} : T{0};
    gemm(a.transposed, b.transposed, rows, cols, inner, a.at(i, l), a.stride, b.at(l, j), b.stride,
         beta, c, n);
  });
  if (cut.parts > 1) sum_parts(partial.data(), cut.parts, m * n, out.data(), accumulate);
}

}  // namespace

template <class T>
void multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out, bool accumulate) {
  expects(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols(),
          "multiply_into: shapes fit");
  product<T>(plain(a), plain(b), a.cols(), out, accumulate, nullptr);
}

template <class T>
void multiply_transposed_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate, const Matrix<T>* bias) {
  expects(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows(),
          "multiply_transposed_into: shapes fit");
  expects(bias == nullptr || (!accumulate && bias->size() == out.cols()),
          "multiply_transposed_into: one bias per column");
  product<T>(plain(a), turned(b), a.cols(), out, accumulate,
             bias != nullptr ? bias->data() : nullptr);
}

template <class T>
void transposed_multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate) {
  expects(a.rows() == b.rows() && out.rows() == a.cols() && out.cols() == b.cols(),
          "transposed_multiply_into: shapes fit");
  product<T>(turned(a), plain(b), a.rows(), out, accumulate, nullptr);
}

template <class T>
void column_sums_into(const Matrix<T>& a, Matrix<T>& out, bool accumulate) {
  const int64_t cols = a.cols();
  expects(out.rows() == 1 && out.cols() == cols, "column_sums_into: shapes fit");
  const int64_t grain = row_grain(a.rows(), cols);
  const int64_t parts = std::max<int64_t>(1, block_count(a.rows(), grain));
  Matrix<T> partial = Matrix<T>::zeros(parts, cols);
  parallel_blocks(a.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
    T* sum = partial.row(block);
    for (int64_t i = begin; i < end; ++i) {
      const T* row = a.row(i);
      for (int64_t j = 0; j < cols; ++j) sum[j] += row[j];
    }
  });
  sum_parts(partial.data(), parts, cols, out.data(), accumulate);
}

#define DGAT_INSTANTIATE(T)                                                                     \
  template void multiply_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&, bool);            \
  template void multiply_transposed_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&, bool,  \
                                         const Matrix<T>*);                                     \
  template void transposed_multiply_into(const Matrix<T>&, const Matrix<T>&, Matrix<T>&, bool); \
  template void column_sums_into(const Matrix<T>&, Matrix<T>&, bool)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
