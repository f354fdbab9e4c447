#include "dgat/tensor/sparse.h"

#include <algorithm>

#include "dgat/core/error.h"
#include "dgat/tensor/gemm.h"
#include "dropout_mask.h"
#include "kernels/kernels.h"
#include "reduce_rows.h"

namespace dgat::tensor {
namespace {

/// Whether x is too large for what a core has as a cache of its own, more or less.
template <class T>
bool is_far(const Matrix<T>& x) {
  return static_cast<size_t>(x.size()) * sizeof(T) > size_t{1} << 20;
}

/// out = the matrix with the pattern of `csr` and these values, times x.
template <class T>
void product_into(const typename SparseMatrix<T>::Csr& csr, const T* values, const Matrix<T>& x,
                  Matrix<T>& out) {
  const RowPlan& plan = csr.plan;
  Matrix<T> partial(plan.parts, x.cols());
  const auto sparse_rows = kernels<T>().sparse_rows;
  parallel_blocks(plan.blocks(), 1, [&](int64_t block, int64_t, int64_t) {
    const auto end = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block) + 1];
    auto piece = plan.pieces.begin() + plan.block_offsets[static_cast<size_t>(block)];
    while (piece != end) {
      if (piece->part >= 0) {
        sparse_rows({&piece->begin, &piece->end, 1, csr.columns.data(), values}, x.data(), x.cols(),
                    is_far(x), partial.row(piece->part));
        ++piece;
        continue;
      }
      // Whole rows follow one another.
      const auto last = std::find_if(piece, end, [](const RowPiece& p) { return p.part >= 0; });
      const int64_t* offsets = csr.offsets.data() + piece->row;
      sparse_rows({offsets, offsets + 1, last - piece, csr.columns.data(), values}, x.data(),
                  x.cols(), is_far(x), out.row(piece->row));
      piece = last;
    }
  });
  add_parts(plan, partial, out);
}

template <class T>
Matrix<T> product(const typename SparseMatrix<T>::Csr& csr, const T* values, const Matrix<T>& x) {
  Matrix<T> out(csr.rows(), x.cols());
  product_into(csr, values, x, out);
  return out;
}

/// The stored entries in the order of csr() after dropout.
template <class T>
Matrix<T> dropped_values(const SparseMatrix<T>& matrix, const DropoutMask& mask) {
  constexpr int64_t kGrain = 1 << 13;  // a multiple of 64, as the dropout kernels need
  Matrix<T> out(1, matrix.nonzeros());
  parallel_for(out.size(), kGrain, [&](int64_t begin, int64_t end) {
    kernels<T>().dropout(mask, begin, matrix.csr().values.data() + begin, out.data() + begin,
                         end - begin);
  });
  return out;
}

/// Values in the order of csr() in that of transposed_csr(); none stand for those of the matrix.
template <class T>
Matrix<T> transposed_order(const SparseMatrix<T>& matrix, const Matrix<T>& values) {
  Matrix<T> out(values.rows(), values.cols());
  if (values.empty()) return out;
  const std::span<const int64_t> positions = matrix.transposed_positions();
  parallel_for(out.size(), 1 << 13, [&](int64_t begin, int64_t end) {
    for (int64_t e = begin; e < end; ++e) {
      out.data()[e] = values.data()[positions[static_cast<size_t>(e)]];
    }
  });
  return out;
}

/// Adds S^T g to a slot, with other values in the order of transposed_csr() or none.
template <class T>
void accumulate_transposed_product(Tape<T>& tape, int32_t slot, const SparseMatrix<T>& matrix,
                                   const Matrix<T>& values, const Matrix<T>& g) {
  if (slot < 0) return;
  const auto& csr = matrix.transposed_csr();
  const T* numbers = values.empty() ? csr.values.data() : values.data();
  const auto into = tape.target(slot, matrix.cols(), g.cols());
  if (into.fresh) return product_into(csr, numbers, g, into.gradient);
  tape.accumulate(slot, product(csr, numbers, g));
}

template <class T>
void add_to_rows(const Matrix<T>& bias, Matrix<T>& out) {
  const int64_t cols = out.cols();
  expects(bias.size() == cols, "sparse_linear: one bias per column");
  parallel_for(out.rows(), std::max<int64_t>(1, (1 << 15) / std::max<int64_t>(1, cols)),
               [&](int64_t begin, int64_t end) {
                 const T* b = bias.data();
                 for (int64_t i = begin; i < end; ++i) {
                   T* row = out.row(i);
                   for (int64_t c = 0; c < cols; ++c) row[c] += b[c];
                 }
               });
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
std::span<const int64_t> SparseMatrix<T>::transposed_positions() const {
  std::call_once(positions_->made, [this] {
    std::vector<int64_t> next(transposed_.offsets.begin(), transposed_.offsets.end() - 1);
    positions_->values.resize(forward_.columns.size());
    for (size_t e = 0; e < forward_.columns.size(); ++e) {
      const auto column = static_cast<size_t>(forward_.columns[e]);
      positions_->values[static_cast<size_t>(next[column]++)] = static_cast<int64_t>(e);
    }
  });
  return positions_->values;
}

template <class T>
Var<T> spmm(Tape<T>& tape, const SparseMatrix<T>& matrix, const Var<T>& x) {
  expects(matrix.cols() == x.rows(), "spmm: shapes fit");
  return tape.record(product(matrix.csr(), matrix.csr().values.data(), x.value()), {x},
                     [&matrix, slot = x.slot()](Tape<T>& t, const Matrix<T>& g) {
                       accumulate_transposed_product(t, slot, matrix, {}, g);
                     });
}

template <class T>
Var<T> sparse_linear(Tape<T>& tape, const SparseMatrix<T>& features, const Var<T>& weight,
                     const Var<T>& bias, const EntryDropout& dropout) {
  expects(features.cols() == weight.rows(), "sparse_linear: shapes fit");
  Matrix<T> dropped;  // the values that are left, for both passes; empty without dropout
  if (dropout.p > 0) {
    dropped =
        dropped_values(features, dropout_mask(tape.options().seed, dropout.stream, dropout.p));
  }
  const T* values = dropped.empty() ? features.csr().values.data() : dropped.data();
  Matrix<T> out = product(features.csr(), values, weight.value());
  if (bias) add_to_rows(bias.value(), out);
  return tape.record(std::move(out), {weight, bias},
                     [&features, dropped = std::move(dropped), weight_slot = weight.slot(),
                      bias_slot = bias.slot()](Tape<T>& t, const Matrix<T>& g) {
                       if (bias_slot >= 0) {
                         const auto into = t.target(bias_slot, 1, g.cols());
                         column_sums_into(g, into.gradient, !into.fresh);
                       }
                       accumulate_transposed_product(t, weight_slot, features,
                                                     transposed_order(features, dropped), g);
                     });
}

#define DGAT_INSTANTIATE(T)                                                                     \
  template class SparseMatrix<T>;                                                               \
  template Var<T> spmm(Tape<T>&, const SparseMatrix<T>&, const Var<T>&);                        \
  template Var<T> sparse_linear(Tape<T>&, const SparseMatrix<T>&, const Var<T>&, const Var<T>&, \
                                const EntryDropout&)
DGAT_INSTANTIATE(float);
DGAT_INSTANTIATE(double);
#undef DGAT_INSTANTIATE

}  // namespace dgat::tensor
