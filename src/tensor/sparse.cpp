#include "dgat/tensor/sparse.h"

#include "dgat/core/error.h"
#include "dgat/tensor/gemm.h"
#include "kernels/kernels.h"
#include "reduce_rows.h"

namespace dgat::tensor {
namespace {

template <class T>
Matrix<T> product(const typename SparseMatrix<T>::Csr& csr, const Matrix<T>& x) {
  Matrix<T> out(csr.rows(), x.cols());
  reduce_rows<T>(csr.plan, out, 0, [&](const PieceTask<T>& task) {
    const IndexedRows<T> rows{x.data(), csr.columns.data() + task.piece.begin, x.cols()};
    kernels<T>().weighted_sum(rows, csr.values.data() + task.piece.begin, 1, task.count(),
                              task.sum);
  });
  return out;
}

}  // namespace

template <class T>
SparseMatrix<T>::SparseMatrix(int64_t rows, int64_t cols, std::span<const int64_t> offsets,
                              std::span<const int32_t> columns, std::span<const T> values) {
  expects(static_cast<int64_t>(offsets.size()) == rows + 1 && offsets[0] == 0 &&
              offsets.back() == static_cast<int64_t>(columns.size()) &&
              columns.size() == values.size(),
          "SparseMatrix: CSR arrays fit");
  forward_.offsets.assign(offsets.begin(), offsets.end());
  forward_.columns.assign(columns.begin(), columns.end());
  forward_.values.assign(values.begin(), values.end());
  forward_.plan = plan_rows(forward_.offsets);

  auto& start = transposed_.offsets;
  start.assign(static_cast<size_t>(cols) + 1, 0);
  for (const int32_t column : columns) {
    expects(column >= 0 && column < cols, "SparseMatrix: columns lie in [0, cols)");
    ++start[static_cast<size_t>(column) + 1];
  }
  for (size_t j = 1; j < start.size(); ++j) start[j] += start[j - 1];
  std::vector<int64_t> next(start.begin(), start.end() - 1);
  transposed_.columns.resize(columns.size());
  transposed_.values.resize(columns.size());
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t e = offsets[static_cast<size_t>(i)]; e < offsets[static_cast<size_t>(i) + 1];
         ++e) {
      const auto from = static_cast<size_t>(e);
      const auto to = static_cast<size_t>(next[static_cast<size_t>(columns[from])]++);
      transposed_.columns[to] = static_cast<int32_t>(i);
      transposed_.values[to] = values[from];
    }
  }
  transposed_.plan = plan_rows(start);
}

template <class T>
Var<T> spmm(Tape<T>& tape, const SparseMatrix<T>& matrix, const Var<T>& x) {
  expects(matrix.cols() == x.rows(), "spmm: shapes fit");
  return tape.record(product<T>(matrix.csr(), x.value()), {x},
                     [&matrix, slot = x.slot()](Tape<T>& t, const Matrix<T>& g) {
                       t.accumulate(slot, product<T>(matrix.transposed_csr(), g));
                     });
}

template <class T>
Var<T> sparse_linear(Tape<T>& tape, const SparseMatrix<T>& features, const Var<T>& weight,
                     const Var<T>& bias) {
  expects(features.cols() == weight.rows(), "sparse_linear: shapes fit");
  Matrix<T> out = product<T>(features.csr(), weight.value());
  if (bias) {
    expects(bias.value().size() == out.cols(), "sparse_linear: one bias per column");
    const int64_t cols = out.cols();
    parallel_for(out.rows(), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, cols)),
                 [&](int64_t begin, int64_t end) {
                   const T* b = bias.value().data();
                   for (int64_t i = begin; i < end; ++i) {
                     T* row = out.row(i);
                     for (int64_t c = 0; c < cols; ++c) row[c] += b[c];
                   }
                 });
  }
  return tape.record(std::move(out), {weight, bias},
                     [&features, weight_slot = weight.slot(), bias_slot = bias.slot()](
                         Tape<T>& t, const Matrix<T>& g) {
                       if (bias_slot >= 0) {
                         const auto into = t.target(bias_slot, 1, g.cols());
                         column_sums_into(g, into.gradient, !into.fresh);
                       }
                       t.accumulate(weight_slot, product<T>(features.transposed_csr(), g));
                     });
}

#define DGAT_INSTANTIATE(T)                                              \
  template class SparseMatrix<T>;                                        \
  template Var<T> spmm(Tape<T>&, const SparseMatrix<T>&, const Var<T>&); \
  template Var<T> sparse_linear(Tape<T>&, const SparseMatrix<T>&, const Var<T>&, const Var<T>&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
