#include "dgat/tensor/gemm.h"

#include <cblas.h>

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"

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

void blas_on_one_thread() {
  static const bool done = (openblas_set_num_threads(1), true);
  (void)done;
}

constexpr int64_t kTasks = 16;          // enough to balance, few enough to amortise packing
constexpr int64_t kTaskWork = 1 << 21;  // multiply-adds below which a task is not worth a thread
constexpr int64_t kColumnGrain = 1 << 15;

/// Rows per task for a product of `rows` rows with `work` multiply-adds each.
int64_t row_grain(int64_t rows, int64_t work) {
  const int64_t even = (rows + kTasks - 1) / kTasks;
  const int64_t worthwhile = kTaskWork / std::max<int64_t>(1, work) + 1;
  return (std::max(even, worthwhile) + 15) / 16 * 16;
}

template <class T>
void fill_rows(T* out, int64_t rows, int64_t cols, const T* bias) {
  for (int64_t i = 0; i < rows; ++i) std::copy(bias, bias + cols, out + i * cols);
}

template <class T>
void multiply_rows(const Matrix<T>& a, const Matrix<T>& b, CBLAS_TRANSPOSE transposed,
                   Matrix<T>& out, bool accumulate, const T* bias) {
  blas_on_one_thread();
  const int64_t m = out.rows(), n = out.cols(), k = a.cols();
  parallel_for(m, row_grain(m, n * k), [&](int64_t begin, int64_t end) {
    T* c = out.row(begin);
    if (bias != nullptr) fill_rows(c, end - begin, n, bias);
    const T beta = accumulate || bias != nullptr ? T{1} : T{0};
    gemm(CblasNoTrans, transposed, end - begin, n, k, a.row(begin), std::max<int64_t>(1, k),
         b.data(), std::max<int64_t>(1, b.cols()), beta, c, std::max<int64_t>(1, n));
  });
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

}  // namespace

template <class T>
void multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out, bool accumulate) {
  expects(a.cols() == b.rows() && out.rows() == a.rows() && out.cols() == b.cols(),
          "multiply_into: shapes fit");
  multiply_rows<T>(a, b, CblasNoTrans, out, accumulate, nullptr);
}

template <class T>
void multiply_transposed_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate, const Matrix<T>* bias) {
  expects(a.cols() == b.cols() && out.rows() == a.rows() && out.cols() == b.rows(),
          "multiply_transposed_into: shapes fit");
  expects(bias == nullptr || (!accumulate && bias->size() == out.cols()),
          "multiply_transposed_into: one bias per column");
  multiply_rows(a, b, CblasTrans, out, accumulate, bias != nullptr ? bias->data() : nullptr);
}

template <class T>
void transposed_multiply_into(const Matrix<T>& a, const Matrix<T>& b, Matrix<T>& out,
                              bool accumulate) {
  expects(a.rows() == b.rows() && out.rows() == a.cols() && out.cols() == b.cols(),
          "transposed_multiply_into: shapes fit");
  blas_on_one_thread();
  const int64_t m = out.rows(), n = out.cols(), k = a.rows();
  const int64_t grain = row_grain(k, m * n);
  const int64_t parts = std::max<int64_t>(1, block_count(k, grain));
  const auto product = [&](int64_t begin, int64_t end, T* c, T beta) {
    gemm(CblasTrans, CblasNoTrans, m, n, end - begin, a.row(begin), std::max<int64_t>(1, m),
         b.row(begin), std::max<int64_t>(1, n), beta, c, std::max<int64_t>(1, n));
  };
  if (parts == 1) {
    product(0, k, out.data(), accumulate ? T{1} : T{0});
    return;
  }
  Matrix<T> partial(parts, m * n);
  parallel_blocks(k, grain, [&](int64_t block, int64_t begin, int64_t end) {
    product(begin, end, partial.row(block), T{0});
  });
  sum_parts(partial.data(), parts, m * n, out.data(), accumulate);
}

template <class T>
void column_sums_into(const Matrix<T>& a, Matrix<T>& out, bool accumulate) {
  const int64_t cols = a.cols();
  expects(out.rows() == 1 && out.cols() == cols, "column_sums_into: shapes fit");
  const int64_t grain = std::max<int64_t>(1, kColumnGrain / std::max<int64_t>(1, cols));
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
