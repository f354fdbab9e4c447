// Products and inverses of small square matrices: what closed forms over the columns of a tall
// matrix need. Inside they are double, because sums over all nodes grow and an inverse amplifies.
#include <cmath>
#include <vector>

#include "dgat/core/error.h"
#include "dgat/core/parallel.h"
#include "dgat/tensor/gemm.h"
#include "dgat/tensor/ops.h"
#include "dgat/tensor/split.h"
#include "row_grain.h"

namespace dgat::tensor {
namespace {

/// The upper triangle of x^T x over the rows [begin, end), added to sum (m x m).
template <class T>
void add_gram(const Matrix<T>& x, int64_t begin, int64_t end, double* sum) {
  const int64_t m = x.cols();
  for (int64_t i = begin; i < end; ++i) {
    const T* row = x.row(i);
    for (int64_t a = 0; a < m; ++a) {
      const auto factor = static_cast<double>(row[a]);
      double* out = sum + a * m;
      for (int64_t b = a; b < m; ++b) out[b] += factor * static_cast<double>(row[b]);
    }
  }
}

/// g + g^T.
template <class T>
Matrix<T> twice_symmetric_part(const Matrix<T>& g) {
  Matrix<T> out(g.rows(), g.cols());
  for (int64_t i = 0; i < g.rows(); ++i) {
    for (int64_t j = 0; j < g.cols(); ++j) out(i, j) = g(i, j) + g(j, i);
  }
  return out;
}

/// The inverse of (a + a^T) / 2, from its lower Cholesky factor L: solves L L^T X = I by columns.
template <class T>
Matrix<double> inverse_by_cholesky(const Matrix<T>& a) {
  const int64_t k = a.rows();
  Matrix<double> factor = Matrix<double>::zeros(k, k);
  for (int64_t j = 0; j < k; ++j) {
    for (int64_t i = j; i < k; ++i) {
      double sum = (static_cast<double>(a(i, j)) + static_cast<double>(a(j, i))) / 2;
      for (int64_t c = 0; c < j; ++c) sum -= factor(i, c) * factor(j, c);
      if (i > j) {
        factor(i, j) = sum / factor(j, j);
      } else if (sum > 0 && std::isfinite(sum)) {
        factor(j, j) = std::sqrt(sum);
      } else {
        throw_compute(
            "spd_inverse: the {0} x {0} matrix is not positive definite (pivot {1} is {2})", k, j,
            sum);
      }
    }
  }
  Matrix<double> inverse = Matrix<double>::zeros(k, k);
  std::vector<double> y(static_cast<size_t>(k));
  for (int64_t column = 0; column < k; ++column) {
    for (int64_t i = 0; i < k; ++i) {
      double sum = i == column ? 1 : 0;
      for (int64_t c = 0; c < i; ++c) sum -= factor(i, c) * y[static_cast<size_t>(c)];
      y[static_cast<size_t>(i)] = sum / factor(i, i);
    }
    for (int64_t i = k - 1; i >= 0; --i) {
      double sum = y[static_cast<size_t>(i)];
      for (int64_t c = i + 1; c < k; ++c) sum -= factor(c, i) * inverse(c, column);
      inverse(i, column) = sum / factor(i, i);
    }
  }
  return inverse;
}

}  // namespace

template <class T>
Var<T> gram(Tape<T>& tape, const Var<T>& x) {
  const dist::RowShare& share = x.share();
  const int64_t m = x.cols(), n = share ? share.all() : x.rows();
  const int64_t grain = std::max<int64_t>(1024, row_grain(n, m));
  const auto sums_of_blocks = [&](const Matrix<T>& rows, int64_t count) {
    Matrix<double> sums = Matrix<double>::zeros(count, m * m);
    parallel_blocks(rows.rows(), grain, [&](int64_t block, int64_t begin, int64_t end) {
      add_gram(rows, begin, end, sums.row(block));
    });
    return sums;
  };
  const int64_t blocks = block_count(n, grain);
  Matrix<double> partial;
  if (share) {
    const BlockRows split(share, grain);
    Matrix<T> room;
    partial = all_rows(*share.ranks, split.blocks(),
                       sums_of_blocks(split.in(x.value(), room), split.own_blocks()));
  } else {
    partial = sums_of_blocks(x.value(), blocks);
  }
  Matrix<T> out(m, m);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = i; j < m; ++j) {
      double sum = 0;
      for (int64_t block = 0; block < blocks; ++block) sum += partial(block, i * m + j);
      out(i, j) = out(j, i) = static_cast<T>(sum);
    }
  }
  return tape
      .record(std::move(out), {x},
              [x](Tape<T>& t, const Matrix<T>& g) {
                const auto into = t.target(x.slot(), x.rows(), x.cols());
                multiply_into(x.value(), twice_symmetric_part(g), into.gradient,
                              {.accumulate = !into.fresh, .share = x.share()});
              })
      .whole();
}

template <class T>
Var<T> spd_inverse(Tape<T>& tape, const Var<T>& a) {
  expects(a.rows() == a.cols() && a.rows() > 0, "spd_inverse: a square matrix");
  Matrix<double> inverse = inverse_by_cholesky(a.value());
  Matrix<T> out = Matrix<T>::from(a.rows(), a.cols(), inverse.values());
  return tape.record(std::move(out), {a},
                     [slot = a.slot(), m = std::move(inverse)](Tape<T>& t, const Matrix<T>& g) {
                       const Matrix<double> wide =
                           Matrix<double>::from(g.rows(), g.cols(), g.values());
                       const Matrix<double> sym = twice_symmetric_part(wide);
                       Matrix<double> left(g.rows(), g.cols()), both(g.rows(), g.cols());
                       multiply_into(m, sym, left);
                       multiply_into(left, m, both);
                       for (double& v : both.values()) v *= -0.5;
                       t.accumulate(slot, Matrix<T>::from(g.rows(), g.cols(), both.values()));
                     });
}

#define DGAT_INSTANTIATE(T)                      \
  template Var<T> gram(Tape<T>&, const Var<T>&); \
  template Var<T> spd_inverse(Tape<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
